"""Links from scores or posteriors to logits; every one of them also passes `check_link`."""

import numpy as np
import pytest
from scipy.optimize import minimize

from audioclass.numerics import log_loss, softmax
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Geometry, LabelEvidence
from audioclass.strategies.links import LogLink, TemperatureLink

MANAGER = plugin_manager(installed=False)


def scored(n=800, n_labels=12, seed=0):
    """Scores that are 2 P − 1 of the true posteriors and a little noise, with labels drawn from these."""
    rng = np.random.default_rng(seed)
    P = softmax(2.5 * rng.normal(size=(n, n_labels)))
    y = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_labels - 1)
    scores = 2 * P - 1 + rng.normal(0, 0.05, P.shape)
    return LabelEvidence(np.full(P.shape, 1 / n_labels), scores), y


def test_the_log_link_has_the_shape_of_least_squares_scores():
    evidence, y = scored()
    new, truth = scored(seed=1)

    def loss(link):
        return log_loss(softmax(link.logits(new, link.fit(evidence, y, np.ones(len(y))))), truth)

    assert loss(LogLink()) < loss(TemperatureLink()) - 0.05


def test_factor_and_shift_are_of_maximum_likelihood():
    evidence, y = scored()
    fitted = LogLink().fit(evidence, y, np.ones(len(y)))

    def loss(theta):
        return log_loss(softmax(np.exp(theta[0]) * np.log(np.maximum(evidence.scores + 1, 0) + np.exp(theta[1]))), y)

    best = minimize(loss, [1.0, -2.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10}).fun
    assert loss(np.log([fitted["factor"], fitted["shift"]])) == pytest.approx(best, abs=1e-6)


def test_a_log_link_worked_out_by_hand():
    evidence = LabelEvidence(np.array([[0.5, 0.5]]), np.array([[1.0, -3.0]]))
    z = LogLink().logits(evidence, {"factor": 2.0, "shift": 0.5})
    np.testing.assert_allclose(z, [[2 * np.log(2.5), 2 * np.log(0.5)]])
    z = LogLink().logits(LabelEvidence(np.array([[0.75, 0.25]])), {"factor": 2.0, "shift": 0.25})
    np.testing.assert_allclose(z, [[0.0, 2 * np.log(0.5)]])


def test_a_temperature_of_posteriors_is_of_their_logarithms():
    z = TemperatureLink().logits(LabelEvidence(np.array([[0.8, 0.2]])), {"temperature": 2.0})
    np.testing.assert_allclose(z, np.log([[0.8, 0.2]]) / 2)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_numbers_of_a_file_must_be_positive(value):
    evidence = LabelEvidence(np.array([[0.8, 0.2]]))
    with pytest.raises(ValueError, match="must be positive and finite"):
        LogLink().logits(evidence, {"factor": value, "shift": 0.1})
    with pytest.raises(ValueError, match="must be positive and finite"):
        TemperatureLink().logits(evidence, {"temperature": value})


def planned(name, n_labels, **parameters):
    strategy = MANAGER.make("strategy", name, parameters)
    places = np.array([0.0, 1.0, 5.0, 7.0])[:n_labels]
    geometry = Geometry(np.ones(n_labels), (places[:, None] - places) ** 2, np.ones(n_labels))
    return strategy, strategy.plan([*"abcd"][:n_labels], geometry, None, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["one_vs_rest", "one_vs_rest_temperature", "hybrid_dendrogram"])
@pytest.mark.parametrize("n_labels", [2, 4])
def test_scores_of_labels_are_those_of_their_machines(name, n_labels):
    strategy, plan = planned(name, n_labels)
    scores = np.random.default_rng(0).normal(size=(3, len(plan.dichotomies)))
    own = strategy.label_scores(plan, scores)
    for column, dichotomy in enumerate(plan.dichotomies):
        for side, sign in ((dichotomy.positive, 1), (dichotomy.negative, -1)):
            if len(side) == 1:
                np.testing.assert_array_equal(own[:, side[0]], sign * scores[:, column])
    assert own.shape == (3, n_labels)


def test_scores_of_groups_are_those_of_inner_nodes():
    strategy, plan = planned("hybrid_dendrogram", 4)
    scores = np.random.default_rng(0).normal(size=(3, len(plan.dichotomies)))
    inner = [i for i, each in enumerate(plan.dichotomies) if min(len(each.positive), len(each.negative)) > 1]
    columns = strategy.group_scores(plan, scores)
    assert columns.shape == (3, len(inner))
    np.testing.assert_allclose(np.sort(np.abs(columns)), np.sort(np.abs(scores[:, inner])))
    weighted, plan = planned("hybrid_dendrogram", 4, form="weighted")
    assert weighted.label_scores(plan, scores) is None
    assert weighted.group_scores(plan, scores) is None

"""Properties of posteriors for every strategy, however many labels there are and whatever machines answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from audioclass.contracts import FitsCombination, Prunes, TellsLabelsIndependently
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Geometry

MANAGER = plugin_manager(installed=False)
EVERY = [entry.name for entry in MANAGER.entries() if entry.kind == "strategy"]
WAYS = {
    **{name: {} for name in EVERY},
    **{f"hybrid_dendrogram {merge}": {"merge": merge} for merge in ("none", "height", "separability")},
    **{f"hybrid_dendrogram weighted {merge}": {"form": "weighted", "merge": merge} for merge in ("held_out", "height")},
    "hybrid_dendrogram half weighted": {"form": "weighted", "tree": "half", "wide": "softmax"},
    **{f"one_vs_one {way}": {"coupling": way} for way in ("hastie_tibshirani", "price", "product", "star_mean")},
    "output_code l1": {"decoding": "l1"},
}
DECIDED = [way for way in WAYS if not getattr(MANAGER.make("strategy", way.split()[0], WAYS[way]), "is_random", False)]


def made(way):
    return MANAGER.make("strategy", way.split()[0], WAYS[way])


def geometry(points, counts):
    return Geometry(counts, squareform(pdist(points)) ** 2, np.ones(len(points)))


def settled(strategy, plan, probabilities, scores, y, counts):
    """What the estimator does: prune, then fit the combination, then combine."""
    if isinstance(strategy, Prunes):
        kept = strategy.prune(plan, probabilities, scores, y, counts)
        columns = plan.places(kept)
        plan, probabilities, scores = kept, probabilities[:, columns], scores[:, columns]
    fits = isinstance(strategy, FitsCombination)
    fitted = strategy.fit_combination(plan, probabilities, scores, y, counts) if fits else {}
    return strategy.combine(plan, probabilities, scores, counts, fitted)


@pytest.mark.filterwarnings("ignore:temperature")  # answers by chance tell nothing of the labels
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=6)
@given(n_labels=st.sampled_from([2, 3, 4, 7, 12, 25, 60]), seed=st.integers(0, 1000))
def test_rows_are_posteriors_whatever_the_machines_answer(way, n_labels, seed):
    rng, strategy = np.random.default_rng(seed), made(way)
    counts = rng.integers(1, 30, n_labels)
    plan = strategy.plan(
        [f"l{i:02}" for i in range(n_labels)], geometry(rng.normal(size=(n_labels, 3)), counts), None, rng
    )
    y = np.arange(n_labels + 3) % n_labels
    r = rng.random((len(y), len(plan.dichotomies))).round(1)  # exact 0 and 1 among them
    P = settled(strategy, plan, r, 4 * r - 2, y, counts)
    assert P.shape == (len(y), n_labels)
    assert (P >= 0).all()
    sums = P.max(axis=1, initial=1) if isinstance(strategy, TellsLabelsIndependently) else P.sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-9)


def perfect(plan, P):
    """What machines answer that know the posteriors P, and their log-odds, bent so that no combination is exact."""
    sides = [(P[:, list(d.positive)].sum(axis=1), P[:, list(d.negative)].sum(axis=1)) for d in plan.dichotomies]
    r = np.stack([a / (a + b) for a, b in sides], axis=1)
    scores = 0.7 * np.log(r / (1 - r))
    return 1 / (1 + np.exp(-scores)), scores


@pytest.mark.parametrize("way", DECIDED)
@settings(max_examples=5)
@given(order=st.permutations(range(7)), seed=st.integers(0, 100))
def test_permuting_labels_permutes_columns_and_nothing_else(way, order, seed):
    rng, strategy = np.random.default_rng(seed), made(way)
    names, points, counts = [f"name {i}" for i in range(7)], rng.normal(size=(7, 3)), rng.integers(2, 30, 7)
    truth = rng.dirichlet(np.full(7, 0.5), 60) + 1e-3
    truth /= truth.sum(axis=1, keepdims=True)
    y = truth.argmax(axis=1)
    answers = []
    for own in (list(range(7)), list(order)):
        plan = strategy.plan([names[k] for k in own], geometry(points[own], counts[own]), None, None)
        P = truth[:, own]
        answers.append(settled(strategy, plan, *perfect(plan, P), np.argsort(own)[y], counts[own]))
    np.testing.assert_allclose(answers[1], answers[0][:, list(order)], atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_renaming_labels_changes_nothing(way):
    strategy, points, counts = made(way), np.random.default_rng(0).normal(size=(6, 3)), np.arange(3, 9)
    plans = [
        strategy.plan(labels, geometry(points, counts), None, np.random.default_rng(1))
        for labels in ([f"label {i}" for i in range(6)], list("abcdéñ"))
    ]
    assert plans[0] == plans[1]

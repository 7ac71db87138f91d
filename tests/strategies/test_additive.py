from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from audioclass.numerics import log_loss
from audioclass.problems import Dichotomy, Plan
from audioclass.strategies.additive import (
    RIDGE,
    Additive,
    LabelTerms,
    _loss_at,
    fit_weights,
    groups,
    leaf_scores,
    lowest_from_zero_up,
)
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.strategies.weighted import NodeScores, oppose
from audioclass.trees.branches import Branch, random_tree


def tree_from(nested):
    """A tree from labels and lists."""
    return Branch.leaf(nested) if isinstance(nested, int) else Branch.group([tree_from(part) for part in nested])


SIX = tree_from([[[0, 1], [2, 3]], [4, 5]])


def plan_for(tree):
    return Plan(len(tree.labels), Additive().dichotomies(tree))


def scored(plan, n=300, noise=1.0, seed=0):
    """Noisy scores of about ±1 from every machine, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(plan.n_labels, size=n)
    sides = [
        [(label in d.positive) * 1.0 - (label in d.negative) for d in plan.dichotomies]
        for label in range(plan.n_labels)
    ]
    scores = np.array(sides)[y] + noise * rng.normal(size=(n, len(plan.dichotomies)))
    return NodeScores(plan, scores, scores), y


def part_values(n=200, n_labels=4, n_weights=3, seed=0):
    """Values that tell something under every weight for every label, the last of them the wrong way round."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_labels, size=n)
    told = np.array([1.0, 0.5, -0.5])[:n_weights]
    values = told * np.eye(n_labels)[y][:, :, None] + rng.normal(size=(n, n_labels, n_weights))
    return [LabelTerms(values[:, label], np.arange(n_weights)) for label in range(n_labels)], y


# --- machines


def test_every_node_has_a_machine_against_the_rest():
    assert Additive().dichotomies(SIX) == (
        Dichotomy((0, 1, 2, 3), (4, 5)),  # and the other child of the root
        Dichotomy((0, 1), (2, 3, 4, 5)),
        Dichotomy((0,), (1, 2, 3, 4, 5)),
        Dichotomy((0, 2, 3, 4, 5), (1,)),
        Dichotomy((0, 1, 4, 5), (2, 3)),
        Dichotomy((0, 1, 3, 4, 5), (2,)),
        Dichotomy((0, 1, 2, 4, 5), (3,)),
        Dichotomy((0, 1, 2, 3, 5), (4,)),
        Dichotomy((0, 1, 2, 3, 4), (5,)),
    )


@given(st.integers(3, 60), st.integers(0, 50))
def test_a_binary_tree_has_twice_as_many_machines_as_labels_but_three(n_labels, seed):
    tree = random_tree(n_labels, np.random.default_rng(seed))
    assert len(Additive().dichotomies(tree)) <= 2 * n_labels - 3


def test_two_groups_that_are_the_rest_of_each_other_have_one_weight():
    node_scores, _ = scored(plan_for(SIX))
    assert groups(SIX, node_scores) == [(0, 1, 2, 3), (0, 1), (2, 3)]


def test_groups_without_a_machine_in_the_plan_have_no_weight():
    plan = plan_for(SIX)
    node_scores, y = scored(Plan(6, tuple(d for d in plan.dichotomies if d != oppose((2, 3), (0, 1, 4, 5))[0])))
    assert groups(SIX, node_scores) == [(0, 1, 2, 3), (0, 1)]
    assert len(Additive().fit(SIX, node_scores, y)["groups"]) == 2


def test_two_trees_over_the_same_labels_may_stand_together():
    rows, columns = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    tree = tree_from([rows, columns])
    node_scores, y = scored(plan_for(tree), noise=0.5)
    assert groups(tree, node_scores) == [(0, 1), (0, 2)]
    P = Additive().posteriors(tree, node_scores, Additive().fit(tree, node_scores, y))
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    assert np.mean(P.argmax(axis=1) == y) > 0.95


# --- posteriors


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_without_groups_it_is_one_vs_rest_with_a_temperature(noise):
    tree = tree_from([0, 1, 2, 3, 4])
    node_scores, y = scored(plan_for(tree), noise=noise)
    fitted = Additive(0.05).fit(tree, node_scores, y)
    T = fit_temperature(leaf_scores(node_scores), y)
    assert fitted["groups"] == []
    assert fitted["leaves"] == pytest.approx(1 / T)
    P = Additive().posteriors(tree, node_scores, {"leaves": 1 / T, "groups": []})
    np.testing.assert_allclose(P, apply_temperature(leaf_scores(node_scores), T), atol=1e-12)


def test_scores_add_up_by_hand():
    tree = tree_from([[0, 1], 2, 3])
    plan = plan_for(tree)
    machines = [Dichotomy((0, 1), (2, 3)), *(oppose((k,), set(range(4)) - {k})[0] for k in range(4))]
    scores = np.empty((1, 5))
    scores[0, [plan.dichotomies.index(d) for d in machines]] = 0.5, 1.0, -0.2, -0.3, -0.4
    expected = np.exp([2 * 1.0 + 3 * 0.5, 2 * 0.2 + 3 * 0.5, 2 * 0.3, 2 * 0.4])  # 1, 2 and 3 are negative sides
    P = Additive().posteriors(tree, NodeScores(plan, scores, scores), {"leaves": 2.0, "groups": [3.0]})
    np.testing.assert_allclose(P, [expected / expected.sum()])


def test_two_labels_are_one_machine():
    tree = tree_from([0, 1])
    node_scores = NodeScores(plan_for(tree), np.empty((1, 1)), np.array([[0.4]]))
    P = Additive().posteriors(tree, node_scores, {"leaves": 1.5, "groups": []})
    np.testing.assert_allclose(P[0, 0], 1 / (1 + np.exp(-2 * 1.5 * 0.4)))


@pytest.mark.parametrize("seed", range(3))
def test_groups_lower_the_log_loss_of_the_leaves(seed):
    node_scores, y = scored(plan_for(SIX), seed=seed)
    fitted = Additive(0.05).fit(SIX, node_scores, y)
    T = fit_temperature(leaf_scores(node_scores), y)
    leaves_only = {"leaves": 1 / T, "groups": [0.0, 0.0, 0.0]}
    losses = [log_loss(Additive().posteriors(SIX, node_scores, fit), y) for fit in (fitted, leaves_only)]
    assert losses[0] < losses[1] - 0.01


def test_a_higher_price_leaves_lighter_groups():
    node_scores, y = scored(plan_for(SIX))
    totals = [sum(Additive(price).fit(SIX, node_scores, y)["groups"]) for price in (0.0, 0.02, 0.1, 0.5, 10.0)]
    assert all(first > second for first, second in pairwise(totals))
    assert totals[-1] == 0


def test_scores_that_are_always_right_have_finite_weights():
    node_scores, y = scored(plan_for(SIX), 30, noise=0.0)
    fitted = Additive().fit(SIX, node_scores, y)
    assert np.isfinite([fitted["leaves"], *fitted["groups"]]).all()
    assert max(fitted["leaves"], *fitted["groups"]) < 30


@settings(max_examples=20)
@given(st.floats(1e-3, 1e3), st.integers(0, 20))
def test_a_factor_on_the_scores_divides_the_weights(c, seed):
    node_scores, y = scored(plan_for(SIX), 60, seed=seed)
    scaled = NodeScores(node_scores.plan, node_scores.probabilities, c * node_scores.scores)
    first, second = Additive(0.05).fit(SIX, node_scores, y), Additive(0.05).fit(SIX, scaled, y)
    np.testing.assert_allclose(c * second["leaves"], first["leaves"], rtol=1e-6)
    np.testing.assert_allclose(c * np.array(second["groups"]), first["groups"], rtol=1e-6, atol=1e-7)


# --- weights


@pytest.mark.parametrize("price", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(2))
def test_another_minimiser_finds_the_same_weights(seed, price):
    parts, y = part_values(seed=seed)

    def loss(weights):
        P = apply_temperature(np.stack([part.values @ weights for part in parts], axis=1), 1.0)
        return len(y) * log_loss(P, y) + RIDGE * ((weights - [1, 0, 0]) ** 2).sum() / 2 + price * weights[1:].sum()

    found = scipy.optimize.minimize(loss, np.ones(3), bounds=[(0, None)] * 3, method="SLSQP", tol=1e-12)
    weights = fit_weights(parts, y, price)
    np.testing.assert_allclose(weights, found.x, atol=1e-4)
    assert weights[2] == 0  # what misleads is not listened to


@given(st.integers(0, 100))
def test_derivatives_agree_with_differences(seed):
    parts, y = part_values(20, seed=seed)
    weights, prices = np.random.default_rng(seed).random(3), np.array([0, 1.0, 2.0])
    _, gradient, hessian = _loss_at(weights, prices, parts, y)
    above, below = ([_loss_at(weights + h * e, prices, parts, y) for e in np.eye(3)] for h in (1e-5, -1e-5))
    pairs = list(zip(above, below, strict=True))
    np.testing.assert_allclose(gradient, [(a[0] - b[0]) / 2e-5 for a, b in pairs], atol=1e-5)
    np.testing.assert_allclose(hessian, [(a[1] - b[1]) / 2e-5 for a, b in pairs], atol=1e-5)


def test_scikit_learn_finds_the_same_two_weights_for_two_labels():
    parts, y = part_values(3000, 2, 2)
    expected = LogisticRegression(C=1e6, fit_intercept=False, tol=1e-10).fit(parts[1].values - parts[0].values, y)
    np.testing.assert_allclose(
        fit_weights(parts, y, 0.0), expected.coef_[0], rtol=5e-3
    )  # a ridge of one example in 3000


@given(st.integers(1, 8), st.integers(0, 1000))
def test_scipy_finds_the_same_lowest_point_from_zero_up(n, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n + 2, n)), rng.normal(size=n + 2)
    np.testing.assert_allclose(lowest_from_zero_up(A.T @ A, -A.T @ b), scipy.optimize.nnls(A, b)[0], atol=1e-8)

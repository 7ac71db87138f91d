import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import UsageError
from audioclass.problems import Plan
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.strategies.nested_dichotomies import NestedDichotomies
from audioclass.testing import check_strategy


def planned(strategy, n_labels, seed=0):
    return strategy.plan([f"label {i}" for i in range(n_labels)], None, None, np.random.default_rng(seed))


def consistent(plan, P):
    """What perfect machines answer where the posteriors are P."""
    sides = [(P[:, d.positive].sum(axis=1), P[:, d.negative].sum(axis=1)) for d in plan.dichotomies]
    return np.stack([a / (a + b) for a, b in sides], axis=1)


@pytest.mark.parametrize(
    "strategy", [NestedDichotomies(), NestedDichotomies(trees=1), NestedDichotomies(trees=3, balanced=True)]
)
def test_it_keeps_its_contract(strategy):
    check_strategy(strategy)


@given(st.integers(2, 60), st.integers(0, 100), st.booleans())
def test_rows_sum_to_one(n_labels, seed, balanced):
    strategy = NestedDichotomies(trees=2, balanced=balanced)
    plan = planned(strategy, n_labels, seed)
    r = np.random.default_rng(seed).random((4, len(plan.dichotomies))).round(1)
    P = strategy.combine(plan, r, r, None, {})
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


@given(st.integers(2, 12), st.integers(0, 100))
def test_consistent_machines_give_back_their_posteriors(n_labels, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(n_labels), 5) + 1e-6
    P /= P.sum(axis=1, keepdims=True)
    strategy = NestedDichotomies()
    plan = planned(strategy, n_labels, seed)
    r = consistent(plan, P)
    np.testing.assert_allclose(strategy.combine(plan, r, r, None, {}), P, atol=1e-12)


def test_machines_are_shared():
    plan = planned(NestedDichotomies(trees=50), 3)
    assert len(plan.structure["trees"]) == 50
    assert len(plan.dichotomies) == 6  # three pairs and three labels against the rest
    assert len(planned(NestedDichotomies(), 2).dichotomies) == 1


def test_posteriors_are_the_mean_over_trees():
    strategy, tree = NestedDichotomies(trees=4), HybridDendrogram(form="weighted")
    plan = planned(strategy, 6)
    r = np.random.default_rng(1).random((7, len(plan.dichotomies)))
    plans = [Plan(6, plan.dichotomies, {"tree": one}) for one in plan.structure["trees"]]
    P = np.mean([tree.combine(one, r, r, None, {}) for one in plans], axis=0)
    np.testing.assert_allclose(strategy.combine(plan, r, r, None, {}), P, atol=1e-12)


def test_another_seed_draws_other_trees():
    assert planned(NestedDichotomies(), 8, 0) != planned(NestedDichotomies(), 8, 1)


def test_at_least_one_tree_is_drawn():
    with pytest.raises(UsageError, match="trees=0 must be at least 1"):
        NestedDichotomies(trees=0)

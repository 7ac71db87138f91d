from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import UsageError
from audioclass.problems import Dichotomy
from audioclass.strategies.dag import Dag, register_strategies
from audioclass.strategies.one_vs_one import count_votes
from audioclass.strategies.weighted import SOLVERS, NodeScores, Weighted
from audioclass.testing import check_strategy
from audioclass.trees.branches import Branch

OUTCOMES = np.array(list(product([-1.0, 1.0], repeat=6)))  # of the pairs 01 02 03 12 13 23


def planned(n_labels):
    return Dag().plan([f"{i:02}" for i in range(n_labels)], None, None, None)


def posteriors(plan, r):
    return Dag().combine(plan, r, r, np.ones(plan.n_labels), {})


def test_it_keeps_its_contract():
    check_strategy(Dag())


def test_it_is_offered():
    assert register_strategies() == [Dag]


@given(st.integers(2, 60), st.integers(0, 1000))
def test_rows_sum_to_one(n_labels, seed):
    r = np.random.default_rng(seed).random((3, n_labels * (n_labels - 1) // 2))
    P = posteriors(planned(n_labels), r)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-14)


def test_binary_fractions_sum_to_one_exactly():
    r = np.random.default_rng(0).integers(0, 17, (500, 6)) / 16
    assert (posteriors(planned(4), r).sum(axis=1) == 1).all()


def test_four_labels_are_sums_over_paths():
    r = np.random.default_rng(0).random((50, 6))
    r12, r13, r14, r23, r24, r34 = r.T
    P = posteriors(planned(4), r)
    np.testing.assert_allclose(P[:, 0], r14 * r13 * r12)
    np.testing.assert_allclose(P[:, 1], r14 * r13 * (1 - r12) + (r14 * (1 - r13) + (1 - r14) * r24) * r23)
    np.testing.assert_allclose(P[:, 2], (r14 * (1 - r13) + (1 - r14) * r24) * (1 - r23) + (1 - r14) * (1 - r24) * r34)
    np.testing.assert_allclose(P[:, 3], (1 - r14) * (1 - r24) * (1 - r34))


def test_two_labels_are_their_one_pair():
    np.testing.assert_allclose(posteriors(planned(2), np.array([[0.3]])), [[0.3, 0.7]])


def test_certain_pairs_give_the_decision():
    P = posteriors(planned(4), (OUTCOMES + 1) / 2)
    np.testing.assert_array_equal(P, np.eye(4)[Dag().decide(planned(4), P, OUTCOMES)])


def test_a_label_that_beats_all_others_is_the_answer():
    votes = count_votes(OUTCOMES, 4)
    unbeaten = votes.max(axis=1) == 3
    decided = Dag().decide(planned(4), None, OUTCOMES)
    np.testing.assert_array_equal(decided[unbeaten], votes[unbeaten].argmax(axis=1))


def test_a_score_of_zero_strikes_the_first():
    assert Dag().decide(planned(3), None, np.zeros((1, 3))).tolist() == [2]


@pytest.mark.parametrize(("order", "answer"), [("abc", "b"), ("bca", "c"), ("cab", "a")])
def test_in_a_cycle_the_order_decides(order, answer):
    dag = Dag(tuple(order))
    plan = dag.plan("abc", None, None, None)
    beats = {(0, 1), (1, 2), (2, 0)}
    scores = [[1.0 if (d.positive[0], d.negative[0]) in beats else -1.0 for d in plan.dichotomies]]
    assert "abc"[dag.decide(plan, None, np.array(scores))[0]] == answer


def test_the_list_is_sorted_by_name():
    plan = Dag().plan(["c", "a", "b"], None, None, None)
    assert plan.structure == {"order": [1, 2, 0]}
    assert plan.dichotomies == (Dichotomy((1,), (2,)), Dichotomy((1,), (0,)), Dichotomy((2,), (0,)))


def test_an_order_of_other_labels_is_refused():
    with pytest.raises(UsageError, match="dag: order a, b, d must hold each of a, b, c once"):
        Dag(("a", "b", "d")).plan("abc", None, None, None)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_it_is_a_tree_in_which_labels_stand_in_several_groups(n_labels):
    plan = Dag().plan([f"l{i}" for i in range(n_labels)], None, None, None)
    r = np.random.default_rng(0).random((10, len(plan.dichotomies)))
    tree, form = lists_without_an_end(0, n_labels - 1), Weighted(SOLVERS["one_vs_one"]("wu_lin_weng"))
    assert set(form.dichotomies(tree)) == set(plan.dichotomies)
    P = form.posteriors(tree, NodeScores(plan, r, r), {})
    np.testing.assert_allclose(P, Dag().combine(plan, r, r, None, {}), atol=1e-12)


def lists_without_an_end(first, last):
    """The list from first to last, then without its last and without its first."""
    if first == last:
        return Branch.leaf(first)
    return Branch.group([lists_without_an_end(first, last - 1), lists_without_an_end(first + 1, last)])


def test_it_does_not_give_back_posteriors():
    truth = np.array([[0.5, 0.3, 0.2]])
    plan = Dag().plan(list("abc"), None, None, None)
    r = np.array([[truth[0, d.positive[0]] / truth[0, [*d.positive, *d.negative]].sum() for d in plan.dichotomies]])
    assert np.abs(Dag().combine(plan, r, r, None, {}) - truth).max() > 0.01

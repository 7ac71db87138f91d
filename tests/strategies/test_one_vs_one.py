from itertools import product

import numpy as np
import pytest

from audioclass.errors import UsageError
from audioclass.problems import Dichotomy
from audioclass.strategies.coupling import COUPLINGS
from audioclass.strategies.one_vs_one import OneVsOne, OneVsOneVote, count_votes, register_strategies
from audioclass.testing import check_strategy

TOURNAMENTS = np.array(list(product([-1.0, 1.0], repeat=6)))  # every outcome of the pairs of four labels


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_it_keeps_its_contract(coupling):
    check_strategy(OneVsOne(coupling))


def test_the_vote_keeps_its_contract():
    check_strategy(OneVsOneVote())


def test_both_are_offered():
    assert register_strategies() == [OneVsOne, OneVsOneVote]


def test_every_pair_has_a_machine():
    plan = OneVsOne().plan(["a", "b", "c"], None, None, None)
    assert plan.dichotomies == (Dichotomy((0,), (1,)), Dichotomy((0,), (2,)), Dichotomy((1,), (2,)))


def test_an_unknown_coupling_is_refused():
    with pytest.raises(UsageError, match="unknown coupling 'price_'; did you mean 'price'"):
        OneVsOne("price_")


def test_every_pair_gives_one_vote():
    assert (count_votes(TOURNAMENTS, 4).sum(axis=1) == 6).all()


def test_a_label_that_wins_all_its_pairs_is_alone():
    votes = count_votes(TOURNAMENTS, 4)
    unbeaten = votes.max(axis=1) == 3
    assert ((votes[unbeaten] == 3).sum(axis=1) == 1).all()


def test_half_of_the_outcomes_of_four_labels_tie_and_all_those_hold_a_cycle():
    votes = count_votes(TOURNAMENTS, 4)
    tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    transitive = (np.sort(votes, axis=1) == [0, 1, 2, 3]).all(axis=1)
    assert tied.sum() == 32
    assert not (tied & transitive).any()


def test_a_score_of_zero_is_no_vote():
    np.testing.assert_array_equal(count_votes(np.array([[0.0, 2.0, -1.0]]), 3), [[1, 0, 1]])


def vote(probabilities, scores, n_labels=3):
    strategy = OneVsOneVote()
    plan = strategy.plan("abcd"[:n_labels], None, None, None)
    return strategy.combine(plan, np.array(probabilities), np.array(scores), np.ones(n_labels), {})


def test_votes_are_shares():
    P = vote([[0.9, 0.8, 0.7]], [[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(P, [[2 / 3, 1 / 3, 0]], atol=1e-5)


def test_a_tie_goes_to_the_larger_sum_of_probabilities():
    assert vote([[0.6, 0.1, 0.6]], [[1.0, -1.0, 1.0]]).argmax() == 2  # a beats b, b beats c, c beats a
    assert vote([[0.6, 0.4, 0.9]], [[1.0, -1.0, 1.0]]).argmax() == 1


def test_a_full_tie_goes_to_the_first_label():
    assert vote([[0.5, 0.5, 0.5]], [[0.0, 0.0, 0.0]]).argmax() == 0


def test_a_vote_outweighs_any_probability():
    assert vote([[0.51, 0.51, 0.999]], [[0.1, 0.1, 5.0]]).argmax() == 0

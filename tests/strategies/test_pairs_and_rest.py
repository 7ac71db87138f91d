import numpy as np

from audioclass.problems import Dichotomy
from audioclass.strategies.coupling import couple_hastie_tibshirani, pair_matrix, pair_weights
from audioclass.strategies.one_vs_rest import share_probabilities
from audioclass.strategies.pairs_and_rest import PairsAndRest, register_strategies
from audioclass.testing import check_strategy


def planned(n_labels):
    return PairsAndRest().plan("abcdefgh"[:n_labels], None, None, None)


def decide(plan, scores):
    return PairsAndRest().decide(plan, None, scores)


def test_it_keeps_its_contract():
    check_strategy(PairsAndRest())


def test_it_is_offered():
    assert register_strategies() == [PairsAndRest]


def test_machines_against_the_rest_come_before_pairs():
    plan = planned(4)
    assert len(plan.dichotomies) == 4 + 6
    assert plan.dichotomies[3:5] == (Dichotomy((3,), (0, 1, 2)), Dichotomy((0,), (1,)))


def test_two_labels_are_decided_by_their_pair():
    assert planned(2).dichotomies == (Dichotomy((0,), (1,)),)
    assert decide(planned(2), np.array([[0.5], [-0.5], [0.0]])).tolist() == [0, 1, 0]


def test_the_answer_is_among_the_two_best_against_the_rest():
    scores = np.random.default_rng(0).normal(size=(300, 15))
    best = np.argsort(-scores[:, :5], axis=1)[:, :2]
    assert (decide(planned(5), scores)[:, None] == best).any(axis=1).all()


def test_a_pair_that_agrees_changes_nothing():
    rest = np.random.default_rng(0).normal(size=(300, 5))
    k, l = np.triu_indices(5, 1)  # noqa: E741
    agreeing, contrary = np.hstack([rest, rest[:, k] - rest[:, l]]), np.hstack([rest, rest[:, l] - rest[:, k]])
    np.testing.assert_array_equal(decide(planned(5), agreeing), rest.argmax(axis=1))
    np.testing.assert_array_equal(decide(planned(5), contrary), np.argsort(rest, axis=1)[:, -2])


def test_a_pair_at_zero_takes_the_larger_and_equal_scores_the_first():
    scores = np.array([[0.1, 0.9, 0.5, 0, 0, 0], [0.5, 0.5, 0.5, 0, 0, 0]])
    assert decide(planned(3), scores).tolist() == [1, 0]


def test_posteriors_are_the_average_of_both():
    answers, counts = np.random.default_rng(0).uniform(0.05, 0.95, (20, 6)), np.array([2, 5, 9])
    P = PairsAndRest().combine(planned(3), answers, answers, counts, {})
    coupled = couple_hastie_tibshirani(pair_matrix(answers[:, 3:], 3), pair_weights(counts))
    np.testing.assert_allclose(P, (share_probabilities(answers[:, :3]) + coupled) / 2)

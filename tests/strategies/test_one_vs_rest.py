import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audioclass.problems import Dichotomy
from audioclass.strategies.one_vs_rest import (
    OneVsRest,
    OneVsRestTemperature,
    label_scores,
    register_strategies,
    share_probabilities,
)
from audioclass.testing import check_strategy

probabilities = st.integers(1, 60).flatmap(lambda q: arrays(np.float64, (3, q), elements=st.floats(0, 1)))


@pytest.mark.parametrize("strategy", register_strategies())
def test_it_keeps_its_contract(strategy):
    check_strategy(strategy())


def test_each_label_stands_against_all_others():
    plan = OneVsRest().plan("abc", None, None, None)
    assert plan.dichotomies == (Dichotomy((0,), (1, 2)), Dichotomy((1,), (0, 2)), Dichotomy((2,), (0, 1)))


@pytest.mark.parametrize("strategy", register_strategies())
def test_two_labels_need_one_machine(strategy):
    assert strategy().plan("ab", None, None, None).dichotomies == (Dichotomy((0,), (1,)),)


@given(probabilities)
def test_rows_are_posteriors(given_probabilities):
    P = share_probabilities(given_probabilities)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_the_largest_probability_stays_the_largest():
    P = np.random.default_rng(0).random((50, 7))
    np.testing.assert_array_equal(share_probabilities(P).argmax(axis=1), P.argmax(axis=1))


def test_labels_that_are_all_impossible_are_equal():
    np.testing.assert_array_equal(
        share_probabilities(np.array([[0.0, 0, 0, 0], [0, 0, 0.5, 0]])), [[0.25, 0.25, 0.25, 0.25], [0, 0, 1, 0]]
    )


def test_two_labels_share_the_probability_of_their_machine():
    np.testing.assert_allclose(share_probabilities(np.array([[0.3], [0.0]])), [[0.3, 0.7], [0, 1]])


def test_two_labels_have_opposite_scores():
    np.testing.assert_array_equal(label_scores(np.array([[2.0], [-1.0]])), [[2, -2], [-1, 1]])


def test_the_temperature_undoes_a_factor_on_the_scores():
    strategy, rng = OneVsRestTemperature(), np.random.default_rng(0)
    plan = strategy.plan("abc", None, None, None)
    scores = rng.normal(size=(60, 3))
    y = (scores + rng.normal(size=scores.shape)).argmax(axis=1)
    plain, large = ({**strategy.fit_combination(plan, None, c * scores, y, None)} for c in (1, 10))
    P = strategy.combine(plan, None, scores, None, plain)
    np.testing.assert_allclose(strategy.combine(plan, None, 10 * scores, None, large), P, atol=1e-8)
    assert large["temperature"] == pytest.approx(10 * plain["temperature"])


def test_at_temperature_one_posteriors_are_the_softmax():
    strategy = OneVsRestTemperature()
    plan = strategy.plan("ab", None, None, None)
    P = strategy.combine(plan, None, np.array([[0.5]]), None, {"temperature": 1.0})
    np.testing.assert_allclose(P, [[1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))]])

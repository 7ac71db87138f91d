import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special
from threadpoolctl import threadpool_info

from audioclass.numerics import (
    SMALLEST_PROBABILITY,
    bounded_minimum,
    log_loss,
    log_losses,
    one_thread,
    platt_targets,
    rising_root,
    sigmoid,
    softmax,
)

RNG = np.random.default_rng(0)


@one_thread()
def counts():
    return {pool["num_threads"] for pool in threadpool_info()}


def test_within_it_there_is_one_thread():
    assert np.dot(np.ones(3), np.ones(3)) == 3  # its library is loaded
    assert counts() == {1}


@given(st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=6))
def test_scipy_agrees_on_softmax_and_sigmoid(values):
    z = np.array(values)
    np.testing.assert_allclose(softmax(z), special.softmax(z), atol=1e-15)
    np.testing.assert_allclose(softmax(z, T=3.0), special.softmax(z / 3), atol=1e-12)
    np.testing.assert_allclose(sigmoid(z), special.expit(z), rtol=1e-14)


def test_softmax_takes_scores_of_any_size_along_the_last_axis():
    P = softmax(np.array([[[1e300, -1e300], [0.0, 0.0]]]))
    assert P.tolist() == [[[1.0, 0.0], [0.5, 0.5]]]


def test_scikit_learn_agrees_on_log_loss():
    P, y, weights = softmax(RNG.normal(size=(40, 3))), RNG.integers(3, size=40), RNG.uniform(0.1, 2, 40)
    assert log_loss(P, y, weights) == pytest.approx(sklearn.metrics.log_loss(y, P, sample_weight=weights))


def test_log_loss_by_hand():
    assert log_loss(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1])) == pytest.approx(-np.log(0.5 * 0.75) / 2)


def test_an_impossible_truth_costs_the_floor_and_a_certain_one_nothing():
    P = np.array([[1.0, 0.0]])
    assert log_losses(P, np.array([1]))[0] == pytest.approx(-np.log(SMALLEST_PROBABILITY))
    assert str(log_loss(P, np.array([0]))) == "0.0"


def test_platts_targets_by_hand():
    assert platt_targets(2.0, 8.0) == (0.75, 0.1)


def test_scipy_agrees_on_a_root_and_on_a_minimum():
    root = optimize.brentq(lambda x: x**3 - 5, 1e-6, 1e6)
    assert rising_root(lambda x: (x**3 - 5, 3 * x**2), 1e-6, 1e6) == pytest.approx(root)
    lowest = optimize.minimize_scalar(lambda x: (x - 1.25) ** 2 + 3, bounds=(0, 30), method="bounded").x
    assert bounded_minimum(lambda x: (x - 1.25) ** 2 + 3, 0, 30) == pytest.approx(lowest, abs=1e-6)


@pytest.mark.parametrize(("low", "high", "end"), [(2.0, 3.0, 2.0), (0.25, 0.5, 0.5)])
def test_a_root_outside_the_interval_gives_the_nearer_end(low, high, end):
    assert rising_root(lambda x: (x - 1, 1.0), low, high) == pytest.approx(end)

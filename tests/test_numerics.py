import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from audioclass.numerics import (
    LEAD,
    SMALLEST_PROBABILITY,
    bounded_minimum,
    led_by,
    log_loss,
    log_losses,
    platt_targets,
    rising_root,
    sigmoid,
    softmax,
)

RNG = np.random.default_rng(0)


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


# --- posteriors that agree with a decision


def rows_and_leaders(seed, n_labels, n=12):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n_labels, rng.choice([0.2, 1.0, 5.0])), n), rng.integers(n_labels, size=n)


@given(st.integers(0, 10**6), st.integers(2, 9))
def test_a_decision_leads_the_posteriors_that_agree_with_it(seed, n_labels):
    P, leaders = rows_and_leaders(seed, n_labels)
    led = led_by(P, leaders)
    np.testing.assert_array_equal(led.argmax(axis=1), leaders)
    np.testing.assert_allclose(led.sum(axis=1), 1, atol=1e-14)
    assert (led >= 0).all()
    agrees = P.argmax(axis=1) == leaders
    np.testing.assert_array_equal(led[agrees], P[agrees])
    assert led_by(led, leaders) is led
    changed = np.sort(led[~agrees])
    assert (changed[:, -1] - changed[:, -2] >= LEAD / 2).all()  # so that rounding cannot turn them around


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_no_posteriors_in_which_the_decision_leads_are_nearer(seed, n_labels):
    P, leaders = rows_and_leaders(seed, n_labels, 1)
    [row], [leader] = P, leaders
    if row.argmax() == leader:
        return
    ahead = np.delete(np.eye(n_labels)[leader] - np.eye(n_labels), leader, axis=0)
    nearest = optimize.minimize(
        lambda q: ((q - row) ** 2).sum(),
        np.eye(n_labels)[leader],
        jac=lambda q: 2 * (q - row),
        bounds=[(0, 1)] * n_labels,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(n_labels)},
            {"type": "ineq", "fun": lambda q: ahead @ q - LEAD, "jac": lambda q: ahead},
        ],
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(led_by(P, leaders)[0], nearest.x, atol=1e-5)


def test_a_row_does_not_depend_on_those_beside_it():
    P, leaders = rows_and_leaders(3, 7, 200)
    alone = [led_by(P[i : i + 1], leaders[i : i + 1])[0] for i in range(200)]
    np.testing.assert_array_equal(led_by(P, leaders), alone)


def test_agreeing_with_a_decision_by_hand():
    P = np.array([[0.5, 0.3, 0.15, 0.05]] * 3 + [[0.25] * 4])
    led = led_by(P, np.array([0, 2, 3, 1]))
    expected = [[0.5, 0.3, 0.15, 0.05], [0.325, 0.3, 0.325, 0.05], [0.85 / 3, 0.85 / 3, 0.15, 0.85 / 3], [0.25] * 4]
    np.testing.assert_allclose(led, expected, atol=2e-6)
    assert led_by(np.ones((3, 1)), np.zeros(3, int)).tolist() == [[1.0]] * 3
    assert led_by(np.empty((0, 3)), np.empty(0, int)).shape == (0, 3)


@pytest.mark.parametrize("leaders", [[0], [0.0, 1.0], [0, 2], [-1, 0]], ids=str)
def test_a_decision_is_the_index_of_a_label_for_each_row(leaders):
    with pytest.raises(ValueError, match="leaders .* must be (2 )?label indices"):
        led_by(np.eye(2), np.array(leaders))

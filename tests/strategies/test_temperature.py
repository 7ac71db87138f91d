import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from audioclass.numerics import log_loss
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.temperature import _Curve


def scored(n=200, n_labels=4, seed=0):
    """Scores of which the true temperature is ½, label indices and weights."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_labels))
    P = apply_temperature(scores, 0.5)
    y = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return scores, y, rng.uniform(0.2, 3, n)


@pytest.mark.parametrize("seed", range(5))
def test_a_scalar_minimiser_agrees(seed):
    scores, y, weights = scored(seed=seed)

    def loss(log_t):
        return log_loss(apply_temperature(scores, np.exp(log_t)), y, weights)

    found = minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-8})
    assert fit_temperature(scores, y, weights) == pytest.approx(np.exp(found.x), rel=1e-5)  # the minimiser's own


@pytest.mark.parametrize("n_labels", [2, 10])
def test_the_true_temperature_is_found(n_labels):
    assert fit_temperature(*scored(20_000, n_labels)) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_the_derivative_is_zero_at_the_optimum(seed):
    scores, y, weights = scored(seed=seed)
    curve = _Curve.of(scores, y, weights)
    assert curve.at(1 / fit_temperature(scores, y, weights))[1] == pytest.approx(0, abs=1e-12)


@given(st.floats(0.01, 5), st.integers(0, 50))
def test_derivatives_agree_with_differences(beta, seed):
    scores, y, weights = scored(30, seed=seed)
    curve = _Curve.of(scores, y, weights)
    loss, first, second = curve.at(beta)
    above, below = (curve.at(beta + step) for step in (1e-5, -1e-5))
    assert loss == pytest.approx(log_loss(apply_temperature(scores, 1 / beta), y, weights), abs=1e-12)
    assert first == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-8)
    assert second == pytest.approx((above[1] - below[1]) / 2e-5, abs=1e-8)


@given(st.floats(1e-6, 1e6), st.integers(0, 50))
def test_a_factor_on_the_scores_is_one_on_the_temperature(c, seed):
    scores, y, weights = scored(60, seed=seed)
    plain, scaled = fit_temperature(scores, y, weights), fit_temperature(c * scores, y, weights)
    assert scaled == pytest.approx(c * plain, rel=1e-9)
    P, Q = apply_temperature(scores, plain), apply_temperature(c * scores, scaled)
    np.testing.assert_allclose(P, Q, atol=1e-8)


def test_a_number_added_to_a_row_changes_nothing():
    scores, y, weights = scored()
    shifted = scores + np.linspace(-1e3, 1e3, len(y))[:, None]
    assert fit_temperature(shifted, y, weights) == pytest.approx(fit_temperature(scores, y, weights), rel=1e-9)


def test_weights_are_counts():
    scores, y, _ = scored()
    counts = np.arange(len(y)) % 3
    repeated = fit_temperature(np.repeat(scores, counts, axis=0), np.repeat(y, counts))
    assert fit_temperature(scores, y, counts) == pytest.approx(repeated, rel=1e-9)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_scores_that_are_always_right_are_as_sure_as_the_rule_of_succession(size):
    y = np.arange(30) % 3
    T = fit_temperature(size * np.eye(3)[y], y)
    assert log_loss(apply_temperature(size * np.eye(3)[y], T), y) == pytest.approx(np.log(33 / 31), rel=1e-9)


def test_scores_that_are_always_wrong_get_the_hottest_temperature_and_a_warning():
    y = np.arange(30) % 3
    with pytest.warns(UserWarning, match="temperature: scores are no better than chance; T="):
        T = fit_temperature(-np.eye(3)[y], y)
    np.testing.assert_allclose(apply_temperature(-np.eye(3)[y], T), 1 / 3, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_scores_that_say_nothing_have_temperature_one(value):
    assert fit_temperature(np.full((5, 3), value), np.array([0, 1, 2, 0, 1])) == 1


def test_one_label_is_certain():
    assert fit_temperature(np.arange(3.0)[:, None], np.zeros(3, dtype=int)) == 1
    assert apply_temperature(np.arange(3.0)[:, None], 1.0).tolist() == [[1], [1], [1]]


def test_scores_of_any_size_give_rows_that_sum_to_one():
    P = apply_temperature(np.array([[1e300, -1e300], [1e6, 1e6 - 1], [-700, -701]]), 1.0)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(P[1:, 0], 1 / (1 + np.exp(-1)))


@pytest.mark.parametrize(
    ("scores", "y", "weights", "match"),
    [
        (np.empty((0, 2)), np.empty(0, dtype=int), None, "shape \\(0, 2\\), must be examples by labels"),
        (np.ones(3), np.zeros(3, dtype=int), None, "shape \\(3,\\), must be examples by labels"),
        (np.full((2, 2), np.nan), np.array([0, 1]), None, "NaN or infinite values"),
        (np.ones((2, 2)), np.array([0, 2]), None, "y holds \\[0 2\\], must hold label indices below 2"),
        (np.ones((2, 2)), np.array([0.0, 1.0]), None, "must hold label indices"),
        (np.ones((2, 2)), np.array([0]), None, "y has shape \\(1,\\) and weights \\(1,\\) for 2 rows"),
        (np.ones((2, 2)), np.array([0, 1]), np.zeros(2), "weights must be finite, at least 0 and not all 0"),
    ],
)
@pytest.mark.parametrize("function", [fit_temperature, log_loss])
def test_wrong_arguments_are_refused(function, scores, y, weights, match):
    with pytest.raises(ValueError, match=match):
        function(scores, y, weights)


@pytest.mark.parametrize("T", [0.0, -1.0, np.nan, np.inf])
def test_a_temperature_must_be_positive(T):
    with pytest.raises(ValueError, match="must be positive and finite"):
        apply_temperature(np.ones((1, 2)), T)

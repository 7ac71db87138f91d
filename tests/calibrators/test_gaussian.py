import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from audioclass.calibrators.gaussian import GaussianModel, register_calibrators
from audioclass.testing import check_calibrator

GAUSSIAN = GaussianModel()


def test_it_keeps_the_contract():
    (cls,) = register_calibrators()
    check_calibrator(cls())


def test_slope_worked_out_by_hand():
    # Means 2 and −1; squares 1 + 1 and 1 + 1 over 4 − 2 make a variance of 2.
    fitted = GAUSSIAN.fit(np.array([1.0, 3.0, -2.0, 0.0]), np.array([1, 1, -1, -1]), np.ones(4))
    assert fitted == {"slope": pytest.approx(-3 / 2)}


@given(st.integers(0, 200), st.floats(1e-3, 1e3))
def test_it_is_one_half_at_zero_and_mirrored_around_it(seed, size):
    rng = np.random.default_rng(seed)
    y = np.repeat([-1, 1], 20)
    fitted = GAUSSIAN.fit(size * (2 * y + rng.normal(size=40)), y, rng.uniform(0.5, 2, 40))
    grid = size * rng.normal(size=30)
    assert GAUSSIAN.probabilities(np.zeros(1), fitted)[0] == 0.5
    P = GAUSSIAN.probabilities(grid, fitted) + GAUSSIAN.probabilities(-grid, fitted)
    np.testing.assert_allclose(P, 1, atol=1e-15)


def test_bayes_rule_on_the_true_densities_agrees():
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 100_000)
    fitted = GAUSSIAN.fit(0.8 * y + 1.5 * rng.normal(size=len(y)), y, np.ones(len(y)))
    grid = np.linspace(-4, 4, 17)
    above, below = norm.pdf(grid, 0.8, 1.5), norm.pdf(grid, -0.8, 1.5)
    np.testing.assert_allclose(GAUSSIAN.probabilities(grid, fitted), above / (above + below), atol=0.01)


def test_a_factor_on_the_scores_divides_the_slope():
    scores, y = np.array([1.0, 3.0, -2.0, 0.5]), np.array([1, 1, -1, -1])
    plain, scaled = (GAUSSIAN.fit(c * scores, y, np.ones(4))["slope"] for c in (1, 1e6))
    assert scaled * 1e6 == pytest.approx(plain)


@pytest.mark.parametrize("n", [1, 10], ids=["two examples", "no variance"])
def test_without_a_variance_it_is_a_hard_step(n):
    y = np.repeat([-1, 1], n)
    fitted = GAUSSIAN.fit(0.3 * y, y, np.ones(2 * n))
    P = GAUSSIAN.probabilities(np.array([-1e6, -1e-9, 0, 1e-9, 1e6]), fitted)
    assert P.tolist() == [0, 0, 0.5, 1, 1]


@pytest.mark.parametrize("value", [0.7, 1e9 + 0.1])
def test_constant_scores_say_nothing(value):
    y = np.repeat([-1, 1], [7, 13])
    fitted = GAUSSIAN.fit(np.full(20, value), y, np.linspace(0.1, 0.9, 20))
    assert GAUSSIAN.probabilities(np.array([-1.0, value]), fitted).tolist() == [0.5, 0.5]


def test_one_side_only_is_refused():
    with pytest.raises(ValueError, match="scores of weight 3 at \\+1 and 0 at -1, must have some of both"):
        GAUSSIAN.fit(np.arange(3.0), np.ones(3), np.ones(3))

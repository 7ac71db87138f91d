import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.criteria import radius
from audioclass.criteria.radius import delta, error_factor, smallest_ball
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram


def points(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@settings(max_examples=40)
@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from(["linear", 0.2, 1.0, 5.0]))
def test_examples_of_the_centre_lie_on_the_sphere_and_the_others_inside(n, d, seed, kernel):
    K = gram(Linear() if kernel == "linear" else Gaussian(kernel), points(n, d, seed))
    found = smallest_ball(K)
    distances = K.diagonal() - 2 * K @ found.beta + found.beta @ K @ found.beta
    size = max(found.squared_radius, 1e-12)
    assert found.beta.min() >= 0
    assert found.beta.sum() == pytest.approx(1)
    assert distances.max() <= found.squared_radius + 1e-6 * size
    np.testing.assert_allclose(distances[found.beta > 1e-6], found.squared_radius, atol=1e-6 * size)


def test_ball_of_three_points_worked_out_by_hand():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5]])  # the third lies inside the circle of the other two
    found = smallest_ball(X @ X.T)
    assert found.squared_radius == pytest.approx(1)
    np.testing.assert_allclose(found.beta, [0.5, 0.5, 0], atol=1e-9)


def test_ball_of_one_point_is_that_point():
    assert smallest_ball(np.array([[4.0]])).squared_radius == pytest.approx(0, abs=1e-9)


@given(st.integers(2, 25), st.integers(0, 10**6), st.floats(0.2, 5))
@settings(max_examples=30)
def test_the_estimate_is_between_once_and_twice_the_ball(n, seed, sigma):
    K = gram(Gaussian(sigma), points(n, 3, seed))
    R2 = smallest_ball(K).squared_radius
    assert R2 * (1 - 1e-6) - 1e-12 <= delta(K) <= 2 * R2 * (1 + 1e-6) + 1e-12


def test_estimates_scale_with_the_kernel():
    K = gram(Gaussian(), points())
    assert delta(3 * K) == pytest.approx(3 * delta(K))
    assert smallest_ball(3 * K).squared_radius == pytest.approx(3 * smallest_ball(K).squared_radius)


def test_a_search_that_does_not_end_is_reported(monkeypatch):
    monkeypatch.setattr(radius, "MOST_EXCHANGES", 1)
    with pytest.raises(ValueError, match="no smallest ball within 1 exchanges"):
        smallest_ball(gram(Linear(), points()))


def test_error_factor_is_by_the_mean_of_distances_not_of_squares():
    assert error_factor(np.array([1.0, 9.0])) == pytest.approx(1 / 4)
    with pytest.raises(ValueError, match="every example is at 0"):
        error_factor(np.zeros(3))

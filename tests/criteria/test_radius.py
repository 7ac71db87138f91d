import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def proven_gap(K, ball):
    """How far R² is from the truth at most, in units of the squared distances to the mean.

    The farthest example from the centre bounds R² from above, β'diag K − β'Kβ from below: no solver is needed to tell.
    """
    K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    lower = ball.beta @ K.diagonal() - ball.beta @ K @ ball.beta
    upper = (K.diagonal() - 2 * K @ ball.beta + ball.beta @ K @ ball.beta).max()
    assert ball.beta.min() >= 0
    assert ball.beta.sum() == pytest.approx(1)
    return max(upper - lower, abs(lower - ball.squared_radius)) / max(K.diagonal().max(), np.finfo(float).tiny)


def test_ball_of_a_linear_kernel_on_many_points_of_few_dimensions():
    K = gram(Linear(), points(200, 10, seed=7))
    ball = smallest_ball(K)
    assert ball.squared_radius == pytest.approx(19.8386, abs=1e-4)
    assert proven_gap(K, ball) < 1e-10


def random_matrix(i):
    """Linear, polynomial and Gaussian Gram matrices of 1 to 60 points, of many ranks, sizes and with copies."""
    rng = np.random.default_rng(i)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, d))
    X = [X, X[rng.integers(0, n, n)], np.round(X), X / np.linalg.norm(X, axis=1, keepdims=True), X + 10][i % 5]
    S = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    K = [X @ X.T, np.exp(-S / 10 ** rng.uniform(-2, 4)), (1 + X @ X.T) ** 2][i % 3]
    return K * 10 ** rng.uniform(-6, 6)


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_a_thousand_matrices_have_their_ball(first):
    gaps = [proven_gap(K, smallest_ball(K)) for K in map(random_matrix, range(first, first + 250))]
    assert max(gaps) < 1e-9


def smallest_of_all_spheres(X):
    """The largest of the smallest spheres through 2 to 4 of the points of space, each by least squares; brute force."""
    largest = 0.0
    for size in (2, 3, 4):
        for S in map(list, itertools.combinations(range(len(X)), size)):
            U = X[S[1:]] - X[S[0]]
            shares = np.linalg.lstsq(U @ U.T, (U**2).sum(axis=1) / 2, rcond=None)[0]
            if shares.min() >= 0 and shares.sum() <= 1:
                largest = max(largest, float(((shares @ U) ** 2).sum()))
    return largest


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_ball_that_brute_force_tells(seed):
    X = points(9, 3, seed)
    assert smallest_ball(X @ X.T).squared_radius == pytest.approx(smallest_of_all_spheres(X), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-160, 1e-12, 1e-6, 1e6, 1e12, 1e150])
def test_no_size_of_the_kernel_spoils_it(scale):
    X = points(50, 3)
    expected = smallest_ball(X @ X.T).squared_radius * scale**2
    assert smallest_ball((X * scale) @ (X * scale).T).squared_radius == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("K", [np.zeros((4, 4)), np.full((3, 3), 5.0)], ids=["zero", "copies"])
def test_examples_at_one_place_have_a_ball_of_no_size(K):
    ball = smallest_ball(K)
    assert ball.squared_radius == 0
    assert ball.beta.sum() == pytest.approx(1)


def test_points_of_one_sphere_are_more_than_enough():
    angles = np.linspace(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    ball = smallest_ball(X @ X.T)
    assert ball.squared_radius == pytest.approx(1, rel=1e-12)
    assert (ball.beta > 0).sum() <= 3


def test_what_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="K holds NaN or infinite values, it has no smallest ball"):
        smallest_ball(np.array([[1.0, np.nan], [np.nan, 1.0]]))


def test_error_factor_is_by_the_mean_of_distances_not_of_squares():
    assert error_factor(np.array([1.0, 9.0])) == pytest.approx(1 / 4)
    with pytest.raises(ValueError, match="every example is at 0"):
        error_factor(np.zeros(3))

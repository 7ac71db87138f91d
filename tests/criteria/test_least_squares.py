import numpy as np
import pytest

from audioclass.criteria.least_squares import CentredInverse, HeldOut
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
from audioclass.trainers.least_squares import LeastSquares

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=30) > 0, 1, -1)
K = gram(Gaussian(), X)
WEIGHTS = RNG.uniform(0.5, 2, 30)
RIDGE = 1 / (3.0 * WEIGHTS)
GROUPS = RNG.integers(0, 7, 30)


@pytest.mark.parametrize("groups", [np.arange(30), GROUPS], ids=["examples", "groups"])
def test_residuals_are_those_of_training_without_each_group(groups):
    residuals = HeldOut.of(CentredInverse.of(K, RIDGE), groups).residuals(Y)
    for group in np.unique(groups):
        kept = groups != group
        task = Task(Y[kept], 3.0, WEIGHTS[kept], RNG, K=K[np.ix_(kept, kept)])
        scores = LeastSquares().fit(task).scores(K[np.ix_(~kept, kept)])
        np.testing.assert_allclose(Y[~kept] - residuals[~kept], scores, rtol=1e-8, atol=1e-10)


def test_the_trainer_agrees():
    task = Task(Y, 3.0, WEIGHTS, RNG, K=K)
    _, expected = LeastSquares().fit_and_hold_out(task, Y, GROUPS)
    held_out = HeldOut.of(CentredInverse.of(K, RIDGE), GROUPS)
    np.testing.assert_allclose(Y - held_out.residuals(Y), expected, rtol=1e-8)


@pytest.mark.parametrize("groups", [np.arange(30), GROUPS], ids=["examples", "groups"])
def test_the_pull_is_the_derivative_along_any_change_of_the_kernel(groups):
    change = RNG.normal(size=(30, 30))
    change = change + change.T
    slope = RNG.normal(size=30)

    def loss(t):
        return slope @ HeldOut.of(CentredInverse.of(K + t * change, RIDGE), groups).residuals(Y)

    Q = HeldOut.of(CentredInverse.of(K, RIDGE), groups).pull(Y, slope)
    assert np.vdot(Q, change) == pytest.approx((loss(1e-6) - loss(-1e-6)) / 2e-6, rel=1e-5)


def test_the_inverse_is_that_of_the_bordered_matrix():
    bordered = np.block([[K + np.diag(RIDGE), np.ones((30, 1))], [np.ones((1, 30)), np.zeros((1, 1))]])
    M = np.linalg.inv(bordered)[:30, :30]
    inverse = CentredInverse.of(K, RIDGE)
    np.testing.assert_allclose(inverse.whole, M, atol=1e-10)
    np.testing.assert_allclose(inverse.diagonal, M.diagonal())
    np.testing.assert_allclose(inverse.dot(Y), M @ Y, atol=1e-10)


def test_names_of_groups_may_be_texts():
    M = CentredInverse.of(K, RIDGE)
    names = np.array([f"speaker {group}" for group in GROUPS])
    np.testing.assert_allclose(HeldOut.of(M, names).residuals(Y), HeldOut.of(M, GROUPS).residuals(Y))


def test_one_group_of_all_is_refused():
    with pytest.raises(ValueError, match="one group holds every example"):
        HeldOut.of(CentredInverse.of(K, RIDGE), np.zeros(30))


def test_a_matrix_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="not positive definite"):
        CentredInverse.of(-np.eye(3), np.full(3, 0.1))

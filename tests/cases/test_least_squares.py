import numpy as np
import pytest

from audioclass.cases.least_squares import HeldOut, centred_inverse
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
    residuals = HeldOut.of(centred_inverse(K, RIDGE), groups).residuals(Y)
    for group in np.unique(groups):
        kept = groups != group
        task = Task(Y[kept], 3.0, WEIGHTS[kept], RNG, K=K[np.ix_(kept, kept)])
        scores = LeastSquares().fit(task).scores(K[np.ix_(~kept, kept)])
        np.testing.assert_allclose(Y[~kept] - residuals[~kept], scores, rtol=1e-8, atol=1e-10)


def test_the_trainer_agrees():
    task = Task(Y, 3.0, WEIGHTS, RNG, K=K)
    expected = LeastSquares().held_out_scores(task, Y[:, None].astype(float), GROUPS)[:, 0]
    held_out = HeldOut.of(centred_inverse(K, RIDGE), GROUPS)
    np.testing.assert_allclose(Y - held_out.residuals(Y), expected, rtol=1e-8)


@pytest.mark.parametrize("groups", [np.arange(30), GROUPS], ids=["examples", "groups"])
def test_the_pull_is_the_derivative_along_any_change_of_the_kernel(groups):
    change = RNG.normal(size=(30, 30))
    change = change + change.T
    slope = RNG.normal(size=30)

    def loss(t):
        return slope @ HeldOut.of(centred_inverse(K + t * change, RIDGE), groups).residuals(Y)

    Q = HeldOut.of(centred_inverse(K, RIDGE), groups).pull(Y, slope)
    assert np.vdot(Q, change) == pytest.approx((loss(1e-6) - loss(-1e-6)) / 2e-6, rel=1e-5)


def test_names_of_groups_may_be_texts():
    M = centred_inverse(K, RIDGE)
    names = np.array([f"speaker {group}" for group in GROUPS])
    np.testing.assert_allclose(HeldOut.of(M, names).residuals(Y), HeldOut.of(M, GROUPS).residuals(Y))


def test_one_group_of_all_is_refused():
    with pytest.raises(ValueError, match="one group holds every example"):
        HeldOut.of(centred_inverse(K, RIDGE), np.zeros(30))


def test_a_matrix_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="not positive definite"):
        centred_inverse(-np.eye(3), np.full(3, 0.1))

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.svm import SVC

from audioclass.criteria.dual import Dual
from audioclass.criteria.leave_one_out import leave_one_out_errors, leave_one_out_scores
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.svm import SVM

EXACT = SVM(tolerance=1e-8)


def problem(n=40, seed=0, sigma=1.0, C=1.0, noise=0.8, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1, -1)
    return SelectionProblem(gram(Gaussian(sigma), X), y, C, learner=EXACT, **more)


def brute_force(problem):
    lost = []
    for p in range(len(problem.y)):
        rest = np.arange(len(problem.y)) != p
        if len(np.unique(problem.y[rest])) < 2:
            lost.append(True)
            continue
        K = problem.K[np.ix_(rest, rest)]
        task = Task(problem.y[rest], problem.C, problem.task_weights[rest], np.random.default_rng(0), K=K)
        lost.append(problem.y[p] * EXACT.fit(task).scores(problem.K[p : p + 1, rest])[0] < 0)
    return np.array(lost)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 4.0])
def test_it_equals_training_again_without_each(seed, C, sigma):
    judged = problem(seed=seed, C=C, sigma=sigma)
    np.testing.assert_array_equal(leave_one_out_errors(judged), brute_force(judged))


def test_weights_are_respected():
    judged = problem(weights=np.random.default_rng(5).uniform(0.2, 3, 40))
    np.testing.assert_array_equal(leave_one_out_errors(judged), brute_force(judged))


def test_equal_sides_and_tiny_C_lose_every_example():
    y = np.tile([1, -1], 10)
    judged = SelectionProblem(gram(Gaussian(), np.random.default_rng(0).normal(size=(20, 2))), y, 1e-6, learner=EXACT)
    np.testing.assert_allclose(judged.alpha, 1e-6)
    assert leave_one_out_errors(judged).all()


def test_the_only_example_of_a_side_is_lost():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    judged = SelectionProblem(gram(Gaussian(), X), np.array([1, 1, 1, -1]), 10.0, learner=EXACT)
    assert leave_one_out_errors(judged)[3]


@dataclass(frozen=True)
class Counting(SVM):
    """The usual machine, with the sizes of its tasks."""

    fits: ClassVar[list] = []

    def fit(self, task):
        self.fits.append(len(task.y))
        return super().fit(task)


def test_one_machine_is_trained():
    judged = problem(n=60, C=1.0)
    judged = SelectionProblem(judged.K, judged.y, judged.C, learner=Counting())
    judged.lost  # noqa: B018
    judged.lost  # noqa: B018
    assert Counting.fits == [60]


def test_balanced_sides_have_their_own_boxes():
    judged = problem(noise=0.3, balanced=True)
    judged.K.flags.writeable = False
    assert len(np.unique(judged.task_weights)) == 2
    np.testing.assert_array_equal(leave_one_out_errors(judged), brute_force(judged))


def test_one_free_vector_that_is_left_out_leaves_the_middle_of_an_interval():
    X = np.array([[-1.0], [1.0], [3.0]])
    judged = SelectionProblem(X @ X.T, np.array([-1, 1, 1]), 10.0, learner=EXACT)
    np.testing.assert_array_equal(leave_one_out_errors(judged), brute_force(judged))


def left_out_by_libsvm(A, y, box, p):
    """f(x_p) of the machine that LIBSVM trains without p; α that rounding leaves beside its bound is put there.

    LIBSVM takes such a vector for free and its e for the bias, even where it is the only one.
    """
    rest = np.arange(len(y)) != p
    if len(set(y[rest])) < 2:
        return -y[p]
    A_rest, y_rest, bound = A[np.ix_(rest, rest)], y[rest], box[rest]
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-5).fit(A_rest, y_rest, sample_weight=bound)
    beta = np.zeros(len(y_rest))
    beta[svc.support_] = svc.dual_coef_[0]
    alpha, e = np.abs(beta), y_rest - A_rest @ beta
    is_low, is_high = alpha < 1e-9 * bound, alpha > (1 - 1e-9) * bound
    is_free = ~is_low & ~is_high
    at_least, at_most = np.where(y_rest > 0, is_low, is_high), np.where(y_rest > 0, is_high, is_low)
    b = e[is_free].mean() if is_free.any() else (e[at_least].max() + e[at_most].min()) / 2
    return A[p, rest] @ beta + b


def by_libsvm(A, y, box):
    return np.array([left_out_by_libsvm(A, y, box, p) for p in range(len(y))])


def started(trainer, K, y, C, weights):
    """β of the machine with all examples."""
    machine = trainer.fit(Task(y, C, weights, np.random.default_rng(0), K=K))
    beta = np.zeros(len(y))
    beta[machine.support] = machine.coefficients
    return beta


def random_set(i):
    """4 to 16 examples: sides by a feature, equal, unbalanced by one, copies or points of a lattice; three kernels."""
    rng = np.random.default_rng(i)
    n = int(rng.integers(4, 16))
    n += (i % 5 == 2) * (1 - n % 2)
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    X = X[rng.integers(0, n, n)] if i % 5 == 3 else np.round(X) if i % 5 == 4 else X
    by_feature, by_half = X[:, 0] + 0.8 * rng.normal(size=n) > 0, np.arange(n) < (n + 1) // 2
    y = np.where(by_half if i % 5 in (1, 2) else by_feature, 1, -1)
    y[0] = -y[1:].max() if abs(y.sum()) == n else y[0]
    K = [X @ X.T, gram(Gaussian(10 ** rng.uniform(-0.5, 0.5)), X), (1 + X @ X.T / 4) ** 2][i % 3]
    weights = rng.uniform(0.3, 2, n) if i % 4 == 0 else np.ones(n)
    return K, y, float(rng.choice([0.01, 0.1, 0.3, 1.0, 10.0])), weights


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_scores_left_out_are_those_of_libsvm_trained_without_each(first):
    for i in range(first, first + 50):
        K, y, C, weights = random_set(i)
        scores = leave_one_out_scores(Dual.of(K, y, C, weights), started(SVM(), K, y, C, weights))
        np.testing.assert_allclose(scores, by_libsvm(K, y, C * weights), atol=2e-4, err_msg=f"set {i}")


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_squared_slacks_left_out_are_those_of_libsvm_on_a_ridge(first):
    for i in range(first, first + 20):
        K, y, C, weights = random_set(i)
        scores = leave_one_out_scores(Dual.of(K, y, C, weights, "squared_hinge"), started(L2SVM(), K, y, C, weights))
        expected = by_libsvm(K + np.diag(1 / (C * weights)), y, np.full(len(y), 1e6))
        np.testing.assert_allclose(scores, expected, atol=2e-4 * np.abs(expected).max(), err_msg=f"set {i}")


@pytest.mark.parametrize("seed", range(10))
def test_hard_margins_left_out_are_the_limit_of_large_C(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(6, 16)), 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    weights = np.ones(len(y))
    K = X @ X.T if seed % 2 else gram(Gaussian(1.0), X)
    scores = leave_one_out_scores(Dual.of(K, y, 1.0, weights, "hard_margin"), started(HardMargin(), K, y, 1.0, weights))
    np.testing.assert_allclose(scores, by_libsvm(K, y, np.full(len(y), 1e6)), atol=1e-4)


def test_a_machine_left_out_without_a_free_vector_worked_out_by_hand():
    x, y = np.array([-1.0, 0.7, -0.9]), np.array([1, 1, -1])
    judged = SelectionProblem(np.outer(x, x), y, 0.3, learner=SVM())
    scores = leave_one_out_scores(Dual.of(judged.K, y, 0.3, np.ones(3)), judged.alpha * y)
    np.testing.assert_allclose(scores, [-0.432, -0.0495, 1.0])
    assert leave_one_out_errors(judged).all()


def test_sides_unbalanced_by_one_lose_more_than_the_bound_of_joachims_says():
    X, y = np.random.default_rng(1).normal(size=(81, 1)), np.where(np.arange(81) < 41, 1, -1)
    judged = SelectionProblem(gram(Gaussian(1.0), X), y, 0.1, learner=SVM())
    assert leave_one_out_errors(judged).mean() == pytest.approx(0.753, abs=1e-3)  # 0.494 without those of 2αR²+ξ < 1


def test_a_barely_free_vector_does_not_set_the_bias():
    X, y = np.random.default_rng(1).normal(size=(41, 2)), np.where(np.arange(41) < 21, 1, -1)
    K, weights = gram(Gaussian(1.0), X), np.ones(41)
    scores = leave_one_out_scores(Dual.of(K, y, 0.3, weights), started(SVM(1e-8), K, y, 0.3, weights))
    assert scores[4] == pytest.approx(0.10803, abs=1e-5)  # −0.25400 by a vector at the bound but for 1e-7
    np.testing.assert_allclose(scores, by_libsvm(K, y, 0.3 * weights), atol=1e-5)


def test_examples_of_weight_0_are_scored_but_not_trained_on():
    K, y, C, weights = random_set(0)
    weights[[1, 4]] = 0
    counts = weights > 0
    scores = leave_one_out_scores(Dual.of(K, y, C, weights), started(SVM(), K, y, C, weights))
    inside = leave_one_out_scores(
        Dual.of(K[np.ix_(counts, counts)], y[counts], C, weights[counts]), started(SVM(), K, y, C, weights)[counts]
    )
    np.testing.assert_allclose(scores[counts], inside, atol=1e-9)
    exact = SVM(tolerance=1e-8).fit(Task(y, C, weights, np.random.default_rng(0), K=K))
    np.testing.assert_allclose(scores[~counts], exact.scores(K)[~counts], atol=1e-6)

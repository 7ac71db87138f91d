from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from audioclass.criteria.leave_one_out import has_free, leave_one_out_errors
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
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
    assert not has_free(judged)
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

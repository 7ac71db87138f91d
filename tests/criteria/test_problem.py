from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.landmarks import Landmarks
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.svm import SVM

X = np.random.default_rng(0).normal(size=(16, 2))
Y = np.where(X[:, 0] > 0, 1, -1)
K = gram(Gaussian(), X)


@dataclass(frozen=True)
class Counting:
    """The usual machine, with the tasks it was given."""

    tasks: list = field(default_factory=list)
    name = "counting"
    wants = "gram"

    def fit(self, task):
        self.tasks.append(task)
        return SVM().fit(task)


def test_the_machine_is_trained_once_and_only_when_asked_for():
    learner = Counting()
    problem = SelectionProblem(K, Y, learner=learner)
    assert learner.tasks == []
    problem.machine, problem.scores, problem.alpha, problem.slacks  # noqa: B018
    assert len(learner.tasks) == 1


def test_the_machine_has_the_weights_of_training():
    weights, learner = np.arange(1.0, 17), Counting()
    SelectionProblem(K, Y, 2.0, weights=weights, learner=learner).machine  # noqa: B018
    SelectionProblem(K, Y, 2.0, weights=weights, learner=learner, balanced=True).machine  # noqa: B018
    plain, balanced = learner.tasks
    np.testing.assert_array_equal(plain.weights, weights)
    assert balanced.weights[Y > 0].sum() == pytest.approx(8)
    assert balanced.weights[Y < 0].sum() == pytest.approx(8)
    np.testing.assert_allclose(balanced.weights[Y > 0] / balanced.weights[Y > 0][0], weights[Y > 0] / weights[Y > 0][0])


def test_a_part_of_a_problem_is_balanced_by_itself():
    problem = SelectionProblem(K, Y, learner=SVM(), balanced=True)
    rows = np.flatnonzero(np.arange(16) != np.argmax(Y > 0))
    part = problem.restricted(rows)
    sides = [part.task_weights[part.y == side].sum() for side in (1, -1)]
    np.testing.assert_allclose(sides, 7.5)


def test_balance_is_of_each_dichotomy_though_they_share_their_work():
    others = np.where(np.arange(16) % 5 == 0, 1, -1)
    shared = SelectionProblem(K, Y, 2.0, balanced=True)
    alone = SelectionProblem(K, others, 2.0, balanced=True)
    _ = shared.held_out_scores
    np.testing.assert_array_equal(shared.against(others).held_out_scores, alone.held_out_scores)
    assert shared.against(others).ball is shared.ball


def test_labels_are_balanced_too():
    labels = np.array([3, 7, 7, 9] * 4)
    problem = SelectionProblem(K, labels, balanced=True)
    assert not problem.is_dichotomy
    np.testing.assert_allclose([problem.task_weights[labels == label].sum() for label in (3, 7, 9)], 16 / 3)


def test_entries_are_enough_for_a_trainer_that_wants_them():
    problem = SelectionProblem(K, Y, learner=Landmarks())
    exact = LeastSquares().fit(Task(Y, 1.0, np.ones(16), np.random.default_rng(0), K=K))
    np.testing.assert_allclose(problem.scores, exact.scores(K), atol=1e-4)


def test_what_does_not_depend_on_the_sides_is_shared():
    problem = SelectionProblem(K, Y)
    other = problem.against(-Y)
    assert other.held_out_groups is problem.held_out_groups
    assert other.ball is problem.ball
    assert replace(problem, C=2.0).held_out_groups is not problem.held_out_groups


def test_a_restricted_case_is_that_of_its_rows():
    rows = np.arange(0, 16, 2)
    problem = SelectionProblem(K, Y, 2.0, weights=np.arange(1.0, 17), learner=SVM()).restricted(rows)
    np.testing.assert_array_equal(problem.K, K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(problem.weights, rows + 1)
    assert problem.machine.support.max() < len(rows)


def test_squared_slacks_make_the_norm_the_sum_of_multipliers():
    problem = SelectionProblem(K, Y, 2.0, learner=L2SVM())
    signed = problem.alpha * Y
    assert signed @ (K + np.eye(16) / 2.0) @ signed == pytest.approx(problem.alpha.sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((K[:3], Y), r"K has shape \(3, 16\) for 16 examples"),
        ((K, np.ones(16)), "both sides"),
        ((K, Y, 0.0), "C=0.0 must be positive"),
        ((K, Y, np.inf), "C=inf must be positive and finite"),
    ],
)
def test_wrong_cases_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelectionProblem(*arguments)


@dataclass(frozen=True)
class OfFeatures:
    """A trainer that no Gram matrix is enough for."""

    name = "of_features"
    wants = "features"


@pytest.mark.parametrize(("learner", "given"), [(None, "no trainer"), (OfFeatures(), "of_features, which wants")])
def test_a_case_without_a_trainer_says_so(learner, given):
    with pytest.raises(ValueError, match=f"needs a machine on the Gram matrix, the problem was given {given}"):
        SelectionProblem(K, Y, learner=learner).machine  # noqa: B018

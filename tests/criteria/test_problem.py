from dataclasses import replace

import numpy as np
import pytest

from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.svm import SVM

X = np.random.default_rng(0).normal(size=(16, 2))
Y = np.where(X[:, 0] > 0, 1, -1)
K = gram(Gaussian(), X)


def counted(fit):
    calls = []

    def fitting(task):
        calls.append(task)
        return fit(task)

    return fitting, calls


def test_the_machine_is_trained_once_and_only_when_asked_for():
    fit, calls = counted(SVM().fit)
    problem = SelectionProblem(K, Y, svm=fit)
    assert calls == []
    problem.machine, problem.scores, problem.alpha, problem.slacks  # noqa: B018
    assert len(calls) == 1


def test_what_does_not_depend_on_the_sides_is_shared():
    problem = SelectionProblem(K, Y)
    other = problem.against(-Y)
    assert other.held_out_groups is problem.held_out_groups
    assert other.ball is problem.ball
    assert replace(problem, C=2.0).held_out_groups is not problem.held_out_groups


def test_a_restricted_case_is_that_of_its_rows():
    rows = np.arange(0, 16, 2)
    problem = SelectionProblem(K, Y, 2.0, weights=np.arange(1.0, 17), svm=SVM().fit).restricted(rows)
    np.testing.assert_array_equal(problem.K, K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(problem.weights, rows + 1)
    assert problem.machine.support.max() < len(rows)


def test_squared_slacks_make_the_norm_the_sum_of_multipliers():
    problem = SelectionProblem(K, Y, 2.0, l2_svm=L2SVM().fit)
    signed = problem.l2_alpha * Y
    assert signed @ (K + np.eye(16) / 2.0) @ signed == pytest.approx(problem.l2_alpha.sum())


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


@pytest.mark.parametrize(("wanted", "name"), [("machine", "svm"), ("l2_alpha", "l2_svm")])
def test_a_case_without_a_trainer_says_so(wanted, name):
    with pytest.raises(ValueError, match=f"given no {name} to fit it with"):
        getattr(SelectionProblem(K, Y), wanted)

"""Errors of the machine that will be trained on what it has not seen: a part, folds, each example (11.1, 11.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence, Loss
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class ValidationError:
    """Share of errors on the first fold of the problem, by a machine trained on the others."""

    name: ClassVar[str] = "validation_error"
    takes_labels: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C", "folds"})

    def value(self, problem: SelectionProblem) -> float:
        """NaN where the others lack a side or a label."""
        return _fold_error(problem, int(np.min(_folds(problem))))


@component
class KFoldError:
    """Mean over folds of the share of errors, each fold by a machine trained on the others."""

    name: ClassVar[str] = "k_fold_error"
    takes_labels: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C", "folds"})

    def value(self, problem: SelectionProblem) -> float:
        """Folds whose complement lacks a side or a label are passed over; NaN where all are."""
        errors = np.array([_fold_error(problem, fold) for fold in np.unique(_folds(problem))])
        known = errors[~np.isnan(errors)]
        return float(known.mean()) if len(known) else float("nan")


@component
class ExactLeaveOneOut:
    """Share of examples on the wrong side of the support vector machine trained without them."""

    name: ClassVar[str] = "exact_leave_one_out"
    judges: ClassVar[frozenset[Loss]] = frozenset({"hinge", "squared_hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})

    def value(self, problem: SelectionProblem) -> float:
        """Equal to training n times; only support vectors are, each from the machine with all."""
        return float(problem.lost.mean())


def _folds(problem: SelectionProblem) -> np.ndarray:
    if problem.folds is None:
        raise ValueError("the criterion needs folds, the problem was given none")
    return problem.folds


def _fold_error(problem: SelectionProblem, fold: int) -> float:
    inside = np.asarray(_folds(problem) == fold)
    if len(np.unique(problem.y[~inside])) < len(np.unique(problem.y)):
        return float("nan")
    scores = problem.restricted(~inside).machine.scores(problem.K[np.ix_(inside, ~inside)])
    return float(errors_of(scores, problem, inside).mean())


def errors_of(scores: np.ndarray, problem: SelectionProblem, rows: np.ndarray) -> np.ndarray:
    """(n,) which of some rows of a problem the scores put on the wrong side, or give a wrong label."""
    if problem.is_dichotomy:
        return np.asarray(problem.y[rows] * scores < 0)
    return np.asarray(scores.argmax(axis=1) != problem.labels[rows])


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Validation, folds, leave-one-out."""
    return [ValidationError, KFoldError, ExactLeaveOneOut]

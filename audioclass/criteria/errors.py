"""Errors of support vector machines on what they have not seen: a held-out part, folds, every example (11.1, 11.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class ValidationError:
    """Share of errors on the first fold of the case, by a machine trained on the others."""

    name: ClassVar[str] = "validation_error"
    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def value(self, case: SelectionProblem) -> float:
        """NaN where the others hold one side alone."""
        return _fold_error(case, int(np.min(_folds(case))))


@component
class KFoldError:
    """Mean over folds of the share of errors, each fold by a machine trained on the others."""

    name: ClassVar[str] = "k_fold_error"
    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def value(self, case: SelectionProblem) -> float:
        """Folds whose complement holds one side alone are passed over; NaN where all are."""
        errors = np.array([_fold_error(case, fold) for fold in np.unique(_folds(case))])
        known = errors[~np.isnan(errors)]
        return float(known.mean()) if len(known) else float("nan")


@component
class ExactLeaveOneOut:
    """Share of examples on the wrong side of the support vector machine trained without them."""

    name: ClassVar[str] = "exact_leave_one_out"
    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def value(self, case: SelectionProblem) -> float:
        """Equal to training n times; only support vectors that could be lost are trained without."""
        return float(case.lost.mean())


def _folds(case: SelectionProblem) -> np.ndarray:
    if case.folds is None:
        raise ValueError("the criterion needs folds, the problem was given none")
    return case.folds


def _fold_error(case: SelectionProblem, fold: int) -> float:
    inside = np.asarray(_folds(case) == fold)
    if inside.all() or (case.y[~inside] == case.y[~inside][0]).all():
        return float("nan")
    scores = case.restricted(~inside).machine.scores(case.K[np.ix_(inside, ~inside)])
    return float(np.mean(case.y[inside] * scores < 0))


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Validation, folds, leave-one-out."""
    return [ValidationError, KFoldError, ExactLeaveOneOut]

"""Sweeps of C and of sigma: what errors, bounds and criteria say along the way (specification 17)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audioclass.contracts import Criterion, JudgesLosses, Kernel, Trainer
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian_scaled import window_of
from audioclass.kernels.statistics import gram_and_gradients
from audioclass.parameters import make, parameter_values
from audioclass.run import Progress
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.svm import SVM
from audioclass.training.folds import fold_count, grouped_folds
from audioclass.training.objective import joachims_error_factor
from audioclass_lab.ledger import Ledger

Row = dict[str, Any]
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Sides:
    """Prepared examples of two sides, and a name of what they are for the ledger."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    digest: str

    def problem(self, kernel: Kernel, C: float, learner: Trainer | None = None) -> SelectionProblem:
        """What a criterion scores under this kernel and C; the machine is the usual one unless another is given."""
        K, gradients = gram_and_gradients(kernel, self.X)
        codes = np.unique(self.groups, return_inverse=True)[1]
        folds = grouped_folds(self.y, codes, max(2, fold_count(self.y, codes, N_FOLDS)))
        numbers = {name: float(v) for name, v in parameter_values(kernel).items() if isinstance(v, (int, float))}
        return SelectionProblem(
            K,
            self.y,
            C,
            gradients=gradients,
            parameters=numbers,
            window=window_of(kernel, self.X.shape[1]),
            groups=codes,
            folds=folds,
            learner=learner or SVM(),
        )


def sweep_error_factor(
    sides: Sides, kernel: Kernel, Cs: Sequence[float], ledger: Ledger, progress: Progress
) -> tuple[list[Row], Row]:
    """A row for each C, and a summary: Joachims' value with its own row, and the C of the least leave-one-out error.

    An error is None where the machine did not converge.
    """
    joachims = joachims_error_factor(kernel, sides.X)
    _ = (
        sides.problem(kernel, 1.0).restricted(_one_of_each(sides.y)).machine
    )  # what the first machine loads is not its time
    rows = []
    for done, C in enumerate([*Cs, joachims], start=1):
        point = {"sweep": "C", "data": sides.digest, "kernel": _said(kernel), "C": float(C)}
        rows.append({"C": float(C), **ledger.once(point, partial(_trained_at, sides, kernel, C))})
        progress("values of C", done, len(Cs) + 1)
    *swept, at_joachims = rows
    slowest = max(row["seconds"] for row in rows) or 1.0
    swept = [row | {"relative_time": row["seconds"] / slowest} for row in swept]
    scored = [row for row in swept if row["leave_one_out"] is not None]
    best = min(scored, key=lambda row: row["leave_one_out"], default=None)
    summary = {"joachims": joachims, "joachims_leave_one_out": at_joachims["leave_one_out"]}
    return swept, summary | {"best": best and best["C"], "best_leave_one_out": best and best["leave_one_out"]}


def _one_of_each(y: np.ndarray) -> np.ndarray:
    return np.array([np.argmax(y > 0), np.argmax(y < 0)])


def _trained(problem: SelectionProblem) -> Row:
    """Training error, exact leave-one-out error, share of support vectors and seconds of one machine."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            errors = float(np.mean(problem.y * problem.scores < 0))
            seconds = time.process_time() - start
            lost = float(problem.lost.mean())
        except RuntimeWarning:
            seconds = time.process_time() - start
            return {"training_error": None, "leave_one_out": None, "support_vectors": None, "seconds": seconds}
    return {
        "training_error": errors,
        "leave_one_out": lost,
        "support_vectors": float(np.mean(problem.alpha > 0)),
        "seconds": seconds,
    }


@dataclass(frozen=True)
class SigmaSweep:
    """Values of every criterion at every sigma, NaN as None, and what each would choose.

    `rows` hold sigma, C and a value for each criterion; `chosen` the criterion, its seconds, sigma and the exact
    leave-one-out error there.
    """

    rows: list[Row]
    chosen: list[Row]


def sweep_sigma(
    sides: Sides,
    kernel: Kernel,
    sigmas: Sequence[float],
    criteria: Sequence[Criterion],
    C: float | None,
    ledger: Ledger,
    progress: Progress,
) -> SigmaSweep:
    """Sweep a kernel that has a `sigma`; C is fixed, or Joachims' value of each sigma where it is None.

    A criterion that does not judge machines with linear slacks, such as radius-margin, is given one that it judges;
    the leave-one-out errors of what is chosen are those of the machine with linear slacks for all.
    """
    run = _Run(sides, kernel, C, ledger)
    rows = []
    seconds = dict.fromkeys([criterion.name for criterion in criteria], 0.0)
    for done, sigma in enumerate(map(float, sigmas), start=1):
        row: Row = {"sigma": sigma, "C": run.C_at(sigma)}
        for criterion in criteria:
            scored = run.value(criterion, sigma)
            row[criterion.name] = scored["value"]
            seconds[criterion.name] += scored["seconds"]
        rows.append(row)
        progress("values of sigma", done, len(sigmas))
    chosen = []
    for criterion in criteria:
        best = _best(criterion, rows)
        error = None if best is None else run.leave_one_out(best)
        spent = seconds[criterion.name]
        chosen.append({"criterion": criterion.name, "seconds": spent, "sigma": best, "leave_one_out": error})
        progress("leave-one-out errors", len(chosen), len(criteria))
    return SigmaSweep(rows, chosen)


@dataclass(frozen=True, eq=False)
class _Run:
    sides: Sides
    kernel: Kernel
    C: float | None
    ledger: Ledger

    def C_at(self, sigma: float) -> float:  # noqa: N802
        """C is C."""
        return joachims_error_factor(self._kernel_at(sigma), self.sides.X) if self.C is None else self.C

    def _kernel_at(self, sigma: float) -> Kernel:
        kernel: Kernel = make(type(self.kernel), parameter_values(self.kernel) | {"sigma": sigma})
        return kernel

    def value(self, criterion: Criterion, sigma: float) -> Row:
        """The value with the CPU seconds it took, once."""
        point = {"sweep": "sigma", **self._at(sigma), "criterion": criterion.name, "with": parameter_values(criterion)}
        return dict(self.ledger.once(point, lambda: _scored(criterion, self._case(sigma, judged_by(criterion)))))

    def leave_one_out(self, sigma: float) -> float | None:
        """The exact error at a sigma, once."""
        point = {"sweep": "leave one out", **self._at(sigma)}
        error: float | None = self.ledger.once(point, lambda: _trained(self._case(sigma)))["leave_one_out"]
        return error

    def _at(self, sigma: float) -> Row:
        return {"data": self.sides.digest, "kernel": _said(self.kernel), "sigma": sigma, "C": self.C_at(sigma)}

    def _case(self, sigma: float, learner: Trainer | None = None) -> SelectionProblem:
        return self.sides.problem(self._kernel_at(sigma), self.C_at(sigma), learner)


def judged_by(criterion: Criterion) -> Trainer | None:
    """A trainer whose machines the criterion judges, where that is not the usual machine with linear slacks."""
    judges = criterion.judges if isinstance(criterion, JudgesLosses) else {"hinge"}
    if "hinge" in judges:
        return None
    return L2SVM() if "squared_hinge" in judges else LeastSquares() if "squared" in judges else HardMargin()


def _trained_at(sides: Sides, kernel: Kernel, C: float) -> Row:
    return _trained(sides.problem(kernel, C))


def _scored(criterion: Criterion, problem: SelectionProblem) -> Row:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            value = float(criterion.value(problem))
        except (ValueError, ArithmeticError, RuntimeWarning):
            value = math.nan
    return {"value": value if math.isfinite(value) else None, "seconds": time.process_time() - start}


def _best(criterion: Criterion, rows: Sequence[Row]) -> float | None:
    """The sigma that the criterion likes best, the first of equals; None where every value is NaN."""
    sign = 1 if criterion.better == "lower" else -1
    scored = [row for row in rows if row[criterion.name] is not None]
    return min(scored, key=lambda row: sign * row[criterion.name])["sigma"] if scored else None


def _said(kernel: Kernel) -> dict[str, Any]:
    return {"name": kernel.name} | parameter_values(kernel)

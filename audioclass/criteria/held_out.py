"""Groups or single examples held out of least-squares machines, in closed form, with derivatives.

One factorisation of K + Λ gives the score of every example by the machine that never saw its group, for every
dichotomy over the same examples. Where examples come in groups, leaving out one example alone leaks.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.least_squares import HeldOut
from audioclass.criteria.logistic import best_log_loss, smoothed_targets
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


class _OneOut:
    """Each example by itself is held out."""

    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        return problem.held_out_examples


class _GroupOut:
    """Whole groups are held out."""

    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C", "groups"})

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        return problem.held_out_groups


class _HeldOutCriterion:
    """What is common to all: whom to leave out comes from the class beside it."""

    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        raise NotImplementedError


class _Error(_HeldOutCriterion):
    """Share of held-out examples on the wrong side, by weight; a step function, so no derivative."""

    def value(self, problem: SelectionProblem) -> float:
        """In [0, 1]."""
        scores = problem.y - self._machines(problem).residuals(problem.y)
        return float(problem.weights @ (problem.y * scores < 0) / problem.weights.sum())


class _SmoothLoss(_HeldOutCriterion):
    """A mean loss of held-out scores that can be climbed; `_loss` gives it with its slope by each score."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        raise NotImplementedError

    def value(self, problem: SelectionProblem) -> float:
        """The mean loss, by weight."""
        return self._loss(problem.y - self._machines(problem).residuals(problem.y), problem)[0]

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter and by C."""
        machines = self._machines(problem)
        _, slope = self._loss(problem.y - machines.residuals(problem.y), problem)
        Q = machines.pull(problem.y, -slope)
        moves = {name: float(np.vdot(Q, G)) for name, G in problem.gradients.items()}
        return moves | {"C": float(-(Q.diagonal() @ problem.ridge) / problem.C)}


class _SquaredError(_SmoothLoss):
    """(y − score)²."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        weights = problem.weights / problem.weights.sum()
        return float(weights @ (problem.y - scores) ** 2), 2 * weights * (scores - problem.y)


class _LogLoss(_SmoothLoss):
    """Log-loss after the best rising logistic map, as calibration will draw one."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        return best_log_loss(scores, smoothed_targets(problem.y), problem.weights)


@component
class LeaveOneOutError(_OneOut, _Error):
    """Share of examples that the least-squares machine without them puts on the wrong side."""

    name: ClassVar[str] = "leave_one_out_error"


@component
class LeaveOneOutSquaredError(_OneOut, _SquaredError):
    """Mean squared error of examples by the least-squares machine without them."""

    name: ClassVar[str] = "leave_one_out_squared_error"


@component
class LeaveOneOutLogLoss(_OneOut, _LogLoss):
    """Calibrated log-loss of examples by the least-squares machine without them."""

    name: ClassVar[str] = "leave_one_out_log_loss"


@component
class LeaveGroupOutError(_GroupOut, _Error):
    """Share of examples that the least-squares machine without their group puts on the wrong side."""

    name: ClassVar[str] = "leave_group_out_error"


@component
class LeaveGroupOutSquaredError(_GroupOut, _SquaredError):
    """Mean squared error of examples by the least-squares machine without their group."""

    name: ClassVar[str] = "leave_group_out_squared_error"


@component
class LeaveGroupOutLogLoss(_GroupOut, _LogLoss):
    """Calibrated log-loss of examples by the least-squares machine without their group."""

    name: ClassVar[str] = "leave_group_out_log_loss"


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Error, squared error and log-loss, of examples and of groups held out."""
    return [
        LeaveOneOutError,
        LeaveOneOutSquaredError,
        LeaveOneOutLogLoss,
        LeaveGroupOutError,
        LeaveGroupOutSquaredError,
        LeaveGroupOutLogLoss,
    ]

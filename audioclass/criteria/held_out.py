"""Groups, or single examples, held out of the machine that will be trained: error, squared error and log-loss.

Scores of held-out groups come by the method that training will use. For least squares that is a closed form: one
factorisation of K + Λ gives the score of every example by the machine that never saw its group, for every dichotomy
over the same examples, and derivatives. Where examples come in groups, leaving out one example alone leaks.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence, DirectStrategy, FitsDirectCombination, Fitted, Loss
from audioclass.criteria.errors import errors_of
from audioclass.criteria.least_squares import HeldOut
from audioclass.criteria.logistic import best_log_loss, smoothed_targets
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.numerics import log_loss, softmax
from audioclass.parameters import component
from audioclass.temperature import best_temperature


class _OneOut:
    """Each example by itself is held out of the least-squares machine."""

    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})
    judges: ClassVar[frozenset[Loss]] = frozenset({"squared"})

    def _scores(self, problem: SelectionProblem) -> np.ndarray:
        return np.asarray(problem.y - problem.held_out_examples.residuals(problem.y))

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        return problem.held_out_examples


class _GroupOut:
    """Whole groups are held out, by the method of training."""

    name: ClassVar[str]
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C", "groups"})
    climbs: ClassVar[frozenset[Loss]] = frozenset({"squared"})

    def _scores(self, problem: SelectionProblem) -> np.ndarray:
        return problem.held_out_scores

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        if problem.hold_out is not None:
            trained = "another machine" if problem.learner is None else problem.learner.name
            raise ValueError(f"{self.name} has derivatives for least squares in closed form only, not for {trained}")
        return problem.held_out_groups


class _HeldOutCriterion:
    """What is common to all: whom to leave out comes from the class beside it."""

    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def _scores(self, problem: SelectionProblem) -> np.ndarray:
        raise NotImplementedError

    def _machines(self, problem: SelectionProblem) -> HeldOut:
        raise NotImplementedError

    def _known(self, problem: SelectionProblem) -> tuple[np.ndarray, SelectionProblem]:
        """The held-out scores, and the problem of those examples that could be held out."""
        scores = self._scores(problem)
        known = np.isfinite(scores).reshape(len(scores), -1).all(axis=1)
        if known.all():
            return scores, problem
        if len(np.unique(problem.y[known])) < len(np.unique(problem.y)):
            raise ValueError("no example of a side could be held out")
        return scores[known], problem.restricted(known)


class _Error(_HeldOutCriterion):
    """Share of held-out examples on the wrong side, by weight; a step function, so no derivative."""

    def value(self, problem: SelectionProblem) -> float:
        """In [0, 1]."""
        scores, known = self._known(problem)
        return float(known.weights @ errors_of(scores, known, np.arange(len(known.y))) / known.weights.sum())


class _SmoothLoss(_HeldOutCriterion):
    """A mean loss of held-out scores that can be climbed; `_loss` gives it with its slope by each score."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        raise NotImplementedError

    def value(self, problem: SelectionProblem) -> float:
        """The mean loss, by weight."""
        return self._loss(*self._known(problem))[0]

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter and by C."""
        machines, targets = self._machines(problem), problem.targets
        _, slope = self._loss(targets - machines.residuals(targets), problem)
        columns = zip(targets.reshape(len(slope), -1).T, slope.reshape(len(slope), -1).T, strict=True)
        Q = np.sum([machines.pull(column, -its_slope) for column, its_slope in columns], axis=0)
        moves = {name: float(np.vdot(Q, G)) for name, G in problem.gradients.items()}
        return moves | {"C": float(-(Q.diagonal() @ problem.ridge) / problem.C)}


class _SquaredError(_SmoothLoss):
    """(y − score)²."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        weights = problem.weights / problem.weights.sum()
        return float(weights @ (problem.y - scores) ** 2), 2 * weights * (scores - problem.y)


class _LogLoss(_SmoothLoss):
    """Log-loss after the best rising logistic map, as calibration will draw one; of labels at the best temperature."""

    def _loss(self, scores: np.ndarray, problem: SelectionProblem) -> tuple[float, np.ndarray]:
        if isinstance(problem.learner, DirectStrategy):
            return _log_loss_of_labels(scores, problem, problem.learner), np.full(scores.shape, np.nan)
        if not problem.is_dichotomy:
            return _tempered_log_loss(scores, problem.labels, problem.weights)
        return best_log_loss(scores, smoothed_targets(problem.y), problem.weights)


def _tempered_log_loss(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Of the softmax of scores (n, n_labels) at the best temperature, which needs no derivative, and its slope."""
    T, share = best_temperature(scores, labels, weights)[0], weights / weights.sum()
    P = softmax(scores, T)
    return log_loss(P, labels, weights), (P - np.eye(P.shape[1])[labels]) * (share / T)[:, None]


def _log_loss_of_labels(scores: np.ndarray, problem: SelectionProblem, strategy: DirectStrategy) -> float:
    """Of the strategy's posteriors, combined by what it learns from the same held-out scores, as training does."""
    fitted: Fitted = {}
    if isinstance(strategy, FitsDirectCombination):
        fitted = strategy.fit_combination(scores, problem.labels)
    return log_loss(strategy.combine(scores, fitted), problem.labels, problem.weights)


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
    """Share of examples that the machine without their group puts on the wrong side, or gives a wrong label."""

    name: ClassVar[str] = "leave_group_out_error"
    takes_labels: ClassVar[bool] = True


@component
class LeaveGroupOutSquaredError(_GroupOut, _SquaredError):
    """Mean squared error of examples by the least-squares machine without their group."""

    name: ClassVar[str] = "leave_group_out_squared_error"
    judges: ClassVar[frozenset[Loss]] = frozenset({"squared"})


@component
class LeaveGroupOutLogLoss(_GroupOut, _LogLoss):
    """Calibrated log-loss of examples by the machine, or by those of all labels together, without their group."""

    name: ClassVar[str] = "leave_group_out_log_loss"
    takes_labels: ClassVar[bool] = True
    joins: ClassVar[frozenset[Loss]] = frozenset({"squared"})


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

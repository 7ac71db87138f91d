"""Exact leave-one-out scores of a support vector machine: every support vector is trained without, warm (11.2).

An example that supports nothing leaves the optimum as it is, and the bias too where some vector is free; without one
the bias is the middle of an interval that any example may bound. For a support vector the optimum without it is sought
from the one with it: what it carried goes to the free vectors as the span combines them, which is the optimum where
none leaves its box, and what they cannot take to those most like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from audioclass.criteria.dual import Dual, Optimum
from audioclass.criteria.spans import bordered_inverse

if TYPE_CHECKING:
    from audioclass.criteria.problem import SelectionProblem


def leave_one_out_errors(problem: SelectionProblem) -> np.ndarray:
    """(n,) whether the machine without each example puts it on the wrong side; K must be positive semi-definite.

    Each keeps the C and the weight that it has among all.
    """
    return np.asarray(problem.y * leave_one_out_scores(problem.dual, problem.y * problem.alpha) < 0)


def leave_one_out_scores(dual: Dual, beta: np.ndarray) -> np.ndarray:
    """(n,): f(x_p) by the machine without each example p; `beta` are about those of the machine with all of them.

    Where all others are of one side, the machine says that side: ∓1.
    """
    left_out = _LeftOut(dual, dual.optimum(_feasible(dual, beta)))
    return np.array([left_out.score(p) for p in range(len(dual.y))])


class _LeftOut:
    """Machines without one example, from the one with all."""

    def __init__(self, dual: Dual, whole: Optimum) -> None:
        self.dual, self.whole = dual, whole
        self._inverse = bordered_inverse(dual.A[np.ix_(whole.free, whole.free)]) if len(whole.free) else None

    def score(self, p: int) -> float:
        """f(x_p) of the machine without p."""
        y, counts = self.dual.y, self.dual.high > self.dual.low
        if not (counts & (y == y[p]) & (np.arange(len(y)) != p)).any():
            return float(-y[p])
        left = self._optimum(p)
        return float(y[p] - left.e[p] + left.b)

    def _optimum(self, p: int) -> Optimum:
        whole = self.whole
        if whole.beta[p] == 0 and len(whole.free):
            return whole
        dual = self.dual.without(p)
        if whole.beta[p] == 0:
            return dual.at(whole.beta, whole.e)
        beta, carried = whole.beta.copy(), whole.beta[p]
        beta[p] = 0.0
        given = np.clip(carried * self._combination(p), dual.low - beta, dual.high - beta)
        given += _handed_over(carried - given.sum(), dual, beta + given, np.argsort(-dual.A[p], kind="stable"))
        takers = np.flatnonzero(given)
        return dual.optimum(beta + given, whole.e + carried * dual.A[p] - given[takers] @ dual.A[takers])

    def _combination(self, p: int) -> np.ndarray:
        """(n,) of sum 1: how the other free vectors combine to come nearest to x_p; all 0 where there is none."""
        shares, free = np.zeros(len(self.dual.y)), self.whole.free
        if self._inverse is None or free.tolist() == [p]:
            return shares
        [inside] = np.nonzero(free == p)
        if len(inside):
            column = self._inverse[:-1, inside[0]]
            shares[free] = -column / column[inside[0]]
            shares[p] = 0.0
        else:
            shares[free] = (self._inverse @ np.append(self.dual.A[free, p], 1.0))[:-1]
        return shares


def _handed_over(carried: float, dual: Dual, beta: np.ndarray, first: np.ndarray) -> np.ndarray:
    """What each takes of it within its bounds, those that come `first` before the others, so that Σβ stays 0."""
    room = np.maximum(dual.high - beta if carried > 0 else beta - dual.low, 0)
    taken = np.minimum(np.cumsum(room[first]), abs(carried))
    given = np.zeros(len(room))
    given[first] = np.sign(carried) * np.diff(taken, prepend=0.0)
    return given


def _feasible(dual: Dual, beta: np.ndarray) -> np.ndarray:
    """β within their bounds and of sum 0, from where a tolerance took them."""
    beta = np.clip(beta, dual.low, dual.high)
    return np.asarray(beta + _handed_over(-float(beta.sum()), dual, beta, np.argsort(-np.abs(beta), kind="stable")))

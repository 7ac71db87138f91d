"""Exact leave-one-out errors of a support vector machine, training again as seldom and as little as can be (11.2).

Where some vector is free: an example that supports nothing is scored as before without it; one on the wrong side stays
there; one with 2α R_Δ² + ξ < 1 stays on the right side. For the others the optimum without them is sought from the
one with them: what an example carried goes to the free vectors as the span combines them, which is the optimum where
none leaves its box, and what they cannot take to those most like it; then pairs are moved until all is settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from audioclass.criteria.radius import delta
from audioclass.criteria.spans import FREE, bordered_inverse

if TYPE_CHECKING:
    from audioclass.criteria.problem import SelectionProblem

SOLVED = 2e-3  # twice the tolerance that machines are trained to
STAGES = (1e-2, 1e-3, 1e-4, 1e-6)  # violations of optimality to settle to, the next where the score is near 0
CLEAR = 20  # times the violation: a score this far from 0 keeps its side
MOST_MOVES = 100_000
FLAT = 1e-12  # the least curvature along a pair


def leave_one_out_errors(problem: SelectionProblem) -> np.ndarray:
    """(n,) whether the machine without each example puts it on the wrong side; K must be positive semi-definite."""
    dual = _Dual(problem)
    if not has_free(problem):  # the bias is the middle of an interval that any example may bound
        return np.array([_is_lost(dual, p) for p in range(len(problem.y))])
    lost = problem.y * problem.scores < 0
    reach = 2 * problem.alpha * delta(problem.K) + problem.slacks
    for p in np.flatnonzero(~lost & (problem.alpha > 0) & (reach >= 1 - SOLVED)):
        lost[p] = _is_lost(dual, int(p))
    return np.asarray(lost)


def has_free(problem: SelectionProblem) -> bool:
    """Whether a support vector lies strictly inside its box."""
    bound = problem.C * problem.task_weights
    return bool(((problem.alpha > FREE * bound) & (problem.alpha < (1 - FREE) * bound)).any())


def _is_lost(dual: _Dual, p: int) -> bool:
    """Whether the machine without example p errs on it; what is left of a single side always does."""
    rest = np.delete(dual.y, p)
    return bool((rest == rest[0]).all() or dual.y[p] * dual.score_without(p) < 0)


class _Dual:
    """Signed multipliers β = y α within [low, high], Σβ = 0, and e = y − Kβ, which the bias equals at free ones."""

    def __init__(self, problem: SelectionProblem) -> None:
        self.K, self.y = np.asarray(problem.K, np.float64), problem.y
        box = problem.C * problem.task_weights
        self.low, self.high = np.where(self.y > 0, 0.0, -box), np.where(self.y > 0, box, 0.0)
        self.beta = np.clip(problem.alpha * self.y, self.low, self.high)
        self.e = self.y - self.K @ self.beta
        span = self.high - self.low
        is_free = (self.beta > self.low + FREE * span) & (self.beta < self.high - FREE * span)
        self.free = np.flatnonzero(is_free)
        self._inverse = bordered_inverse(self.K[np.ix_(self.free, self.free)]) if is_free.any() else None

    def combination(self, p: int) -> np.ndarray:
        """(n,) of sum 1: how the other free vectors combine to come nearest to x_p; all 0 where there is none."""
        shares = np.zeros(len(self.y))
        if self._inverse is None or self.free.tolist() == [p]:
            return shares
        [inside] = np.nonzero(self.free == p)
        if len(inside):
            column = self._inverse[:-1, inside[0]]
            shares[self.free] = -column / column[inside[0]]
            shares[p] = 0.0
        else:
            shares[self.free] = (self._inverse @ np.append(self.K[self.free, p], 1.0))[:-1]
        return shares

    def score_without(self, p: int) -> float:
        """f(x_p) of the machine trained without p; its sign is right, its size as exact as that needs."""
        solver = _Solver(self, p)
        for tolerance in STAGES:
            solver.settle(tolerance)
            score = float(self.y[p] - solver.e[p] + solver.bias())
            if abs(score) > CLEAR * tolerance:
                break
        return score


class _Solver:
    """The dual without one example: pairs (i, j) move by t and −t along the steepest gain."""

    def __init__(self, dual: _Dual, p: int) -> None:
        self.K, self.beta = dual.K, dual.beta.copy()
        self.low, self.high = dual.low.copy(), dual.high.copy()
        carried, self.beta[p] = self.beta[p], 0.0
        self.low[p] = self.high[p] = 0.0
        given = np.clip(carried * dual.combination(p), self.low - self.beta, self.high - self.beta)
        self.beta += given
        rest = self._hand_over(carried - given.sum(), p)
        self.beta += rest
        self.e = dual.e + carried * dual.K[p] - (given + rest) @ dual.K
        self.norms = self.K.diagonal()

    def _hand_over(self, carried: float, p: int) -> np.ndarray:
        """What each of the others takes of it, those most like p first, so that Σβ stays 0."""
        room = self.high - self.beta if carried > 0 else self.beta - self.low
        order = np.argsort(-self.K[p], kind="stable")
        taken = np.minimum(np.cumsum(room[order]), abs(carried))
        given = np.zeros(len(room))
        given[order] = np.sign(carried) * np.diff(taken, prepend=0.0)
        return given

    def settle(self, tolerance: float) -> None:
        """Move pairs until no violation exceeds the tolerance (second-order working sets, as LIBSVM's)."""
        for _ in range(MOST_MOVES):
            rising = np.where(self.beta < self.high, self.e, -np.inf)
            falling = np.where(self.beta > self.low, self.e, np.inf)
            i = int(rising.argmax())
            gap = rising[i] - falling
            if not gap.max() > tolerance:
                return
            curvature = np.maximum(self.norms[i] + self.norms - 2 * self.K[i], FLAT)
            j = int(np.where(gap > 0, gap * gap / curvature, -np.inf).argmax())
            self._move(i, j, gap[j] / curvature[j])

    def _move(self, i: int, j: int, t: float) -> None:
        t = min(t, self.high[i] - self.beta[i], self.beta[j] - self.low[j])
        self.beta[i] = min(self.beta[i] + t, self.high[i])
        self.beta[j] = max(self.beta[j] - t, self.low[j])
        self.e -= t * (self.K[i] - self.K[j])

    def bias(self) -> float:
        """The mean of e at free vectors, else the middle of what the others leave open (specification 3.1)."""
        span = self.high - self.low
        is_free = (self.beta > self.low + FREE * span) & (self.beta < self.high - FREE * span)
        if is_free.any():
            return float(self.e[is_free].mean())
        at_least = self.e[self.beta < self.high].max()
        return float((at_least + self.e[self.beta > self.low].min()) / 2)

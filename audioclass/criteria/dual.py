"""The dual of a support vector machine, solved exactly from any start (specification 3.1, 3.2).

max y'β − ½β'Aβ over Σβ = 0 and low ≤ β ≤ high, where β = yα. With linear slacks A = K and |β_i| ≤ C s_i; with squared
slacks A = K + Λ and no bound; without slacks A = K and no bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from audioclass.contracts import Loss
from audioclass.criteria.affine import differences, factor_or_none

BOUNDED: dict[Loss, bool] = {"hinge": True, "squared_hinge": False, "hard_margin": False}  # whether α is
SETTLED = 1e-9  # violation of optimality, in units of the margin
AT_BOUND = 1e-9  # of the box, or of the largest β: who is this close to a bound is there and does not set the bias
DEPENDENT = 1e-12  # of the largest A_ii: an example this near to an affine combination of others is one
ROUNDING = float(np.finfo(np.float64).eps)
FLAT = 1e-12  # of the same: the least curvature along a pair


def is_bounded(loss: Loss) -> bool:
    """Whether C bounds α; a ValueError for a loss without support vectors."""
    if loss not in BOUNDED:
        raise ValueError(f"loss {loss!r} has no support vectors, must be one of {', '.join(BOUNDED)}")
    return BOUNDED[loss]


def ridge_of(C: float, weights: np.ndarray, loss: Loss) -> np.ndarray:
    """Λ_ii = 1/(C s_i), what squared slacks add to the diagonal of K; 0 for other losses."""
    squared = (weights > 0) & (loss == "squared_hinge")
    return np.divide(1.0, C * weights, out=np.zeros(len(weights)), where=squared)


def with_ridge(K: np.ndarray, C: float, weights: np.ndarray, loss: Loss) -> np.ndarray:
    """A: K + Λ for squared slacks, K itself for other losses."""
    return np.asarray(K + np.diag(ridge_of(C, weights, loss))) if loss == "squared_hinge" else K


@dataclass(frozen=True, eq=False)
class Optimum:
    """β, the bias b and e = y − Aβ; b is e at the `free`, else the middle of what the others leave open (3.1)."""

    beta: np.ndarray
    e: np.ndarray
    free: np.ndarray
    b: float


@dataclass(frozen=True, eq=False)
class Dual:
    """A, y in ±1 and the bounds of each β."""

    A: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, y: np.ndarray, C: float, weights: np.ndarray, loss: Loss = "hinge") -> Dual:
        """That of a machine of this loss, C multiplied by the weights; examples of weight 0 carry nothing."""
        box = C * weights if is_bounded(loss) else np.where(weights > 0, np.inf, 0.0)
        A = with_ridge(np.asarray(K, np.float64), C, weights, loss)
        return cls(A, y, np.where(y > 0, 0, -box), np.where(y > 0, box, 0))

    def without(self, p: int) -> Dual:
        """The dual in which example p carries nothing."""
        low, high = self.low.copy(), self.high.copy()
        low[p] = high[p] = 0.0
        return Dual(self.A, self.y, low, high)

    def optimum(self, start: np.ndarray, e: np.ndarray | None = None) -> Optimum:
        """The optimum from β within their bounds and of sum 0, with e where it is at hand; a ValueError without one."""
        active = _ActiveSet(self, start, self.y - self.A @ start if e is None else e)
        active.end()
        return self.at(active.beta, active.e)

    def at(self, beta: np.ndarray, e: np.ndarray) -> Optimum:
        """Who is barely inside its box is at the bound: rounding alone put it there."""
        margin = AT_BOUND * np.minimum(self.high - self.low, np.abs(beta).max())
        can_rise, can_fall = beta < self.high - margin, beta > self.low + margin
        free = np.flatnonzero(can_rise & can_fall)
        if len(free):
            return Optimum(beta, e, free, float(e[free].mean()))
        counts = self.high > self.low
        return Optimum(beta, e, free, float((e[can_rise & counts].max() + e[can_fall & counts].min()) / 2))


class _ActiveSet:
    """β on its way to the optimum: a pair that violates it moves, then all inside their box until they agree on a bias.

    The objective rises with each such step and is the greatest for those that are at a bound: no set of these comes
    again, and there are finitely many.
    """

    def __init__(self, dual: Dual, start: np.ndarray, e: np.ndarray) -> None:
        self.A, self.low, self.high = dual.A, dual.low, dual.high
        self.beta, self.e = start.copy(), e.copy()
        self.norms = self.A.diagonal()
        self.size = float(np.abs(self.norms).max())

    def end(self) -> None:
        """Where rounding brings a set back, no step can be told from rounding any more."""
        seen: set[bytes] = set()
        while True:
            self._agree()
            state = (self.beta > self.low).tobytes() + (self.beta < self.high).tobytes()
            if state in seen or not self._move_pair():
                return
            seen.add(state)

    def _move_pair(self) -> bool:
        """Move the pair that gains most with the worst violation; whether there was one."""
        rising = np.where(self.beta < self.high, self.e, -np.inf)
        falling = np.where(self.beta > self.low, self.e, np.inf)
        i = int(rising.argmax())
        gaps = rising[i] - falling
        if not gaps.max() > SETTLED:
            return False
        curvatures = np.maximum(self.norms[i] + self.norms - 2 * self.A[i], FLAT * self.size)
        j = int(np.where(gaps > 0, gaps * gaps / curvatures, -np.inf).argmax())
        self._move(np.array([i, j]), np.array([1.0, -1.0]), float(gaps[j] / curvatures[j]))
        return True

    def _agree(self) -> None:
        """Move those inside their box to where their e are equal; who comes to a bound on the way stays there."""
        while True:
            F = np.flatnonzero((self.beta > self.low) & (self.beta < self.high))
            if len(F) < 2 or np.ptp(self.e[F]) < SETTLED / 10:
                return
            if self._move(F, *self._direction(F)):
                return

    def _direction(self, F: np.ndarray) -> tuple[np.ndarray, float]:
        """Where to move β of some and how far at most: to equal e, or where they depend along what changes no score."""
        G = differences(self.A[np.ix_(F, F)])
        L = factor_or_none(G, DEPENDENT * self.size)
        if L is not None:
            others = cho_solve((L, True), self.e[F[1:]] - self.e[F[0]], check_finite=False)
            return np.append(-others.sum(), others), 1.0
        curvatures, vectors = np.linalg.eigh(G)
        direction = np.append(-vectors[:, 0].sum(), vectors[:, 0])
        slope = float(direction @ self.e[F])
        if slope < 0 or (slope < SETTLED and not np.isfinite(self._room(F, direction)).any()):
            direction, slope = -direction, -slope
        curvature = float(curvatures[0])
        return direction, slope / curvature if curvature > ROUNDING * len(F) * self.size and slope > 0 else np.inf

    def _room(self, F: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """How far along the direction the bound of each is."""
        room = np.where(direction > 0, self.high[F] - self.beta[F], self.beta[F] - self.low[F])
        return np.asarray(np.divide(room, np.abs(direction), out=np.full(len(F), np.inf), where=direction != 0))

    def _move(self, F: np.ndarray, direction: np.ndarray, length: float) -> bool:
        """Move β along a direction, at most by the length; whether no bound came before."""
        room = self._room(F, direction)
        first = int(room.argmin())
        step = min(float(room[first]), length)
        if not np.isfinite(step):
            raise ValueError("no margin separates y = +1 from y = -1 with this kernel; use a soft margin")
        self.beta[F] = np.clip(self.beta[F] + step * direction, self.low[F], self.high[F])
        self.e -= step * (direction @ self.A[F])
        if room[first] > length:
            return True
        i = F[first]
        self.beta[i] = self.high[i] if direction[first] > 0 else self.low[i]
        return False

"""How far examples reach in kernel space: the smallest ball, and a cheaper estimate of it (specification 13.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from audioclass.criteria.affine import differences, factor_or_none

GAP = 1e-11  # of the largest squared distance to the mean: how far outside the sphere an example may lie
DEPENDENT = GAP / 2  # of the same: an example this near to an affine combination of others is one
GUESSES = 8  # exchanges of whole blocks before examples are exchanged one by one


@dataclass(frozen=True, eq=False)
class Ball:
    """The smallest ball around the examples: its centre is Σ β_i Φ(x_i), β ≥ 0 and Σβ = 1."""

    squared_radius: float
    beta: np.ndarray


def smallest_ball(K: np.ndarray) -> Ball:
    """R² = max Σβ_i K_ii − β'Kβ over β ≥ 0, Σβ = 1; exact but for rounding, for any number of copies and any rank.

    A centre that is as far from all examples it is made of is moved towards the one that is farthest outside, and
    examples whose β falls to 0 on the way are let go. Σβ_i K_ii − β'Kβ rises with each such step, so no set of examples
    comes again, and there are finitely many (Wolfe 1976; Fischer, Gärtner and Kutz 2003). It ends for any symmetric K;
    where that is not positive semi-definite there is no ball, and R² is a local optimum.
    """
    if not np.isfinite(K).all():
        raise ValueError("K holds NaN or infinite values, it has no smallest ball")
    A = _centred(np.asarray(K, np.float64))
    size, rounding = float(A.diagonal().max()), 8 * np.finfo(np.float64).eps * float(np.abs(K).max())
    if size <= rounding:  # all examples are one
        return Ball(0.0, np.full(len(K), 1 / len(K)))
    beta = _BallSupport(A, max(GAP * size, rounding)).ended()
    return Ball(float(beta @ A.diagonal() - beta @ A @ beta), beta)


class _BallSupport:
    """β on a support of affinely independent examples, from guess to optimum."""

    def __init__(self, A: np.ndarray, gap: float) -> None:
        self.A, self.norms, self.gap = A, A.diagonal(), gap
        self.nearest = DEPENDENT / GAP * gap
        self.support = self._guess()
        self.beta = np.zeros(len(A))
        self.beta[self.support] = 1 / len(self.support)

    def ended(self) -> np.ndarray:
        """β of the smallest ball. Rounding alone can bring a support back, the best β so far is then as good as any."""
        seen: set[frozenset[int]] = set()
        least, best = np.inf, self.beta
        while frozenset(self.support) not in seen:
            seen.add(frozenset(self.support))
            self._level()
            distances = self.norms - 2 * (self.A @ self.beta)  # squared, to the centre, less the same for all
            outside = int(distances.argmax())
            excess = float(distances[outside] - self.beta @ distances)
            if excess < least:
                least, best = excess, self.beta.copy()
            if excess <= self.gap:
                break
            self.support.append(outside)
        return best

    def _level(self) -> None:
        """Move β to where all of its examples are equally far from the centre, less those that it loses on the way."""
        while True:
            S, beta = self.support, self.beta[self.support]
            target = _equidistant(self.A[np.ix_(S, S)], self.nearest)
            direction = self._along_nothing() if target is None else target - beta
            falls = direction < 0
            steps = np.full(len(S), np.inf)
            steps[falls] = beta[falls] / -direction[falls]
            first = int(steps.argmin())
            if target is not None and steps[first] >= 1:
                self.beta[S] = target
                return
            self.beta[S] = np.maximum(beta + steps[first] * direction, 0)
            self.beta[S[first]] = 0.0
            del S[first]

    def _along_nothing(self) -> np.ndarray:
        """How to move β, of dependent examples, without moving the centre: to those that are farther from it."""
        S = self.support
        u = np.linalg.eigh(differences(self.A[np.ix_(S, S)]))[1][:, 0]
        direction = np.append(-u.sum(), u)
        distances = self.norms[S] - 2 * (self.A[S] @ self.beta)
        return direction if direction @ distances >= 0 else -direction

    def _guess(self) -> list[int]:
        """Examples that may well lie on the sphere, all β above 0; the farthest from the mean where many depend."""
        support = np.ones(len(self.A), bool)
        for remaining in range(GUESSES, -1, -1):
            S = np.flatnonzero(support)
            solved = _equidistant(self.A[np.ix_(S, S)], self.nearest)
            if solved is None:
                return [int(self.norms.argmax())]
            beta = np.zeros(len(self.A))
            beta[S] = solved
            distances = self.norms - 2 * (self.A @ beta)
            wrong = np.where(support, beta <= 0, distances - beta @ distances > self.gap)
            if not wrong.any():
                break
            support = support ^ wrong if remaining else support & ~wrong
        return [int(i) for i in np.flatnonzero(support)]


def _equidistant(A: np.ndarray, nearest: float) -> np.ndarray | None:
    """β of the point among all affine combinations that is equally far from all; None where an example is one itself.

    With u the differences to the first example, their Gram matrix G and λ the others' part of β: 2Gλ = diag G.
    """
    if len(A) == 1:
        return np.ones(1)
    G = differences(A)
    L = factor_or_none(G, nearest)
    if L is None:
        return None
    others = cho_solve((L, True), G.diagonal() / 2, check_finite=False)
    return np.append(1 - others.sum(), others)


def _centred(K: np.ndarray) -> np.ndarray:
    """Seen from the mean of the examples: the same distances, and smaller numbers."""
    means = K.mean(axis=0)
    return np.asarray(K - means - K.mean(axis=1, keepdims=True) + means.mean())


def delta(K: np.ndarray) -> float:
    """Joachims' R_Δ² = max (K_ii − K_ij); from R² to 2R² where k(x, x) = 1."""
    return float((K.diagonal() - K.min(axis=0)).max())


def squared_distances_to(diagonal: np.ndarray, to_point: np.ndarray, at_point: float) -> np.ndarray:
    """‖Φ(x_i) − Φ(z)‖² from k(x_i, x_i), k(x_i, z) and k(z, z)."""
    return np.asarray(np.maximum(diagonal - 2 * to_point + at_point, 0))


def error_factor(squared_distances: np.ndarray) -> float:
    """Joachims' C = 1/(mean distance)², the distances being those to Φ(0) (specification 13.2)."""
    mean = float(np.sqrt(squared_distances).mean())
    if not mean > 0:
        raise ValueError("every example is at 0 in kernel space, Joachims' C would be infinite")
    return 1 / mean**2

"""How far examples reach in kernel space: the smallest ball, and a cheaper estimate of it (specification 13.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_EXCHANGES = 500
JITTER = 1e-9  # of the largest k(x, x): makes a singular Gram matrix solvable, moves R² by no more
PATIENCE = 5  # exchanges of whole blocks without progress before one example at a time is exchanged


@dataclass(frozen=True, eq=False)
class Ball:
    """The smallest ball around the examples: its centre is Σ β_i Φ(x_i), β ≥ 0 and Σβ = 1."""

    squared_radius: float
    beta: np.ndarray


def smallest_ball(K: np.ndarray) -> Ball:
    """R² = max Σβ_i K_ii − β'Kβ over β ≥ 0, Σβ = 1; exact but for rounding.

    The examples on the sphere are guessed, β is solved for them, and those of β < 0 are exchanged for those outside:
    all at once while that makes progress, else one at a time, which always ends.
    """
    norms = np.asarray(K.diagonal(), np.float64)
    A = K + JITTER * max(float(np.abs(norms).max()), np.finfo(float).tiny) * np.eye(len(K))
    on_sphere = np.ones(len(K), bool)
    fewest, patience = len(K) + 1, PATIENCE
    for _ in range(MOST_EXCHANGES):
        beta, level = _solved(A, norms, on_sphere)
        excess = norms - 2 * (A @ beta) - level  # squared distance to the centre, less that of the sphere
        wrong = np.where(on_sphere, beta < 0, excess > 1e-10 * max(abs(level), norms.max()))
        n_wrong = int(wrong.sum())
        if not n_wrong:
            return Ball(float(beta @ norms - beta @ K @ beta), beta)
        fewest, patience = (n_wrong, PATIENCE) if n_wrong < fewest else (fewest, patience - 1)
        on_sphere = on_sphere ^ wrong if patience > 0 else _exchange_last(on_sphere, wrong)
    raise ValueError(f"no smallest ball within {MOST_EXCHANGES} exchanges; K is not positive semi-definite")


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


def _solved(A: np.ndarray, norms: np.ndarray, on_sphere: np.ndarray) -> tuple[np.ndarray, float]:
    """β on the given examples with equal distances to the centre, and ν with norms − 2Aβ = ν there."""
    F = np.flatnonzero(on_sphere)
    halves, ones = np.linalg.solve(A[np.ix_(F, F)], np.column_stack([norms[F] / 2, np.ones(len(F))])).T
    level = 2 * (halves.sum() - 1) / ones.sum()
    beta = np.zeros(len(A))
    beta[F] = halves - level / 2 * ones
    return beta, float(level)


def _exchange_last(on_sphere: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    changed = on_sphere.copy()
    last = np.flatnonzero(wrong)[-1]
    changed[last] = not changed[last]
    return changed

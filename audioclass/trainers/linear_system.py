"""Kernel ridge with a bias: (K + Λ) a + b 1 = Y and 1'a = 0, Λ a positive diagonal.

With A = (K + Λ)⁻¹: b = 1'AY / 1'A1 and a = A (Y − b 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigvalsh


def factor(K: np.ndarray, ridge: np.ndarray | float) -> np.ndarray:
    """Lower Cholesky factor of K + Λ, a ValueError where that is not positive definite to working precision."""
    n = len(K)
    shifted = np.array(K, dtype=np.float64, order="F")
    shifted[np.diag_indices(n)] += ridge
    rounding = n * np.finfo(np.float64).eps * np.abs(shifted.diagonal()).max()
    try:
        L = cholesky(shifted, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        L = None
    if L is None or (L.diagonal() ** 2).min() <= rounding:
        raise not_positive(float(eigvalsh(shifted, subset_by_index=(0, 0))[0]))
    return np.asarray(L)


def not_positive(smallest: float) -> ValueError:
    """The error for K + Λ with this smallest eigenvalue."""
    return ValueError(
        f"K with its ridge has the eigenvalue {smallest:.3g}, must be clearly positive; "
        "repair K, or lower C for a larger ridge"
    )


def inverse_by(L: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Multiplication by (LL')⁻¹."""
    return lambda Y: cho_solve((L, True), Y, check_finite=False)


def solve_with_bias(
    inverse: Callable[[np.ndarray], np.ndarray], Y: np.ndarray
) -> tuple[np.ndarray, np.ndarray | np.float64]:
    """a and b for one right-hand side (n,) or many (n, m); `inverse` multiplies by A."""
    u, AY = inverse(np.ones(len(Y))), inverse(np.asarray(Y, dtype=np.float64))
    b = AY.sum(axis=0) / u.sum()
    return AY - np.multiply.outer(u, b), b

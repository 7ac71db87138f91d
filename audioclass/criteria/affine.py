"""Examples seen from one of them: whether they are affinely independent in kernel space, and by what factor."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky


def differences(A: np.ndarray) -> np.ndarray:
    """(Φ(x_i) − Φ(x_0))'(Φ(x_j) − Φ(x_0)) of all examples but the first, from their Gram matrix."""
    return np.asarray(A[1:, 1:] - A[1:, :1] - A[:1, 1:] + A[0, 0])


def factor_or_none(G: np.ndarray, least: float) -> np.ndarray | None:
    """The lower Cholesky factor; None where an example lies within √least of affine combinations of those before it."""
    try:
        L = cholesky(G, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(L) if (L.diagonal() ** 2).min() > least else None

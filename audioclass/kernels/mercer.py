"""Is a Gram matrix positive semi-definite (specification 2.4)?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MercerCheck:
    """The smallest eigenvalue, and whether the matrix is symmetric and that eigenvalue not truly negative."""

    holds: bool
    smallest: float


def check_mercer(K: np.ndarray, tolerance: float = 1e-10) -> MercerCheck:
    """Symmetric to tolerance·max|K| and λ_min ≥ −tolerance·max|λ|; O(n³)."""
    K = _square(K)
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)
    is_symmetric = np.abs(K - K.T).max() <= tolerance * np.abs(K).max()
    smallest = float(eigenvalues[0])
    return MercerCheck(bool(is_symmetric and smallest >= -tolerance * np.abs(eigenvalues).max()), smallest)


def _square(K: np.ndarray) -> np.ndarray:
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"K has shape {K.shape}, must be square and not empty")
    if not np.isfinite(K).all():
        raise ValueError("K holds NaN or infinite values")
    return K

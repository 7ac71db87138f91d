"""Is a Gram matrix positive semi-definite, and three explicit ways to make it so (specification 2.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audioclass.errors import unknown_name


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


REPAIRS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "clip": lambda eigenvalues: np.maximum(eigenvalues, 0),
    "flip": np.abs,
    "shift": lambda eigenvalues: eigenvalues + max(-eigenvalues[0], 0),
}


def repair_gram(K: np.ndarray, how: str) -> np.ndarray:
    """A positive semi-definite matrix near K, never made in silence.

    Negative eigenvalues become 0 (`clip`) or their size (`flip`), or all rise by the size of the smallest (`shift`).
    """
    if how not in REPAIRS:
        raise unknown_name("repair", how, REPAIRS)
    K = _square(K)
    eigenvalues, vectors = np.linalg.eigh((K + K.T) / 2)
    return np.asarray((vectors * REPAIRS[how](eigenvalues)) @ vectors.T)


def _square(K: np.ndarray) -> np.ndarray:
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"K has shape {K.shape}, must be square and not empty")
    if not np.isfinite(K).all():
        raise ValueError("K holds NaN or infinite values")
    return K

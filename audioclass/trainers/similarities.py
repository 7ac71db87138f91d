"""Similarities of examples to landmarks, a block at a time, and the coordinates in which they are white."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh

from audioclass.problems import Entries

ROWS = 2048  # of similarities at a time
KEPT = 2**28  # similarities that are computed once and kept; beyond it, as often as they are read
RIDGE = 1e-6  # of the largest eigenvalue of K_zz


class Similarities:
    """k(x, z) of the rows to the landmarks, a block of rows at a time; kept in single precision where they fit."""

    def __init__(self, entries: Entries, rows: np.ndarray, landmarks: np.ndarray) -> None:
        self._entries, self._rows, self._landmarks = entries, rows, landmarks
        self._kept: np.ndarray | None = None
        if len(rows) * len(landmarks) <= KEPT:
            self._kept = np.concatenate([k.astype(np.float32) for _, k in self.blocks(np.arange(len(rows)))])

    def among_landmarks(self) -> np.ndarray:
        """(m, m), K_zz."""
        return np.asarray(self._entries(self._landmarks, self._landmarks), np.float64)

    def blocks(self, chosen: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Similarities of the chosen rows in float64, with where they stand among them."""
        for start in range(0, len(chosen), ROWS):
            block = slice(start, start + ROWS)
            if self._kept is None:
                k = self._entries(self._rows[chosen[block]], self._landmarks)
            else:
                k = self._kept[chosen[block]]
            yield block, np.asarray(k, np.float64)

    def dot(self, weights: np.ndarray) -> np.ndarray:
        """Σ_j weights_j k(x, z_j) of every row."""
        everything = np.arange(len(self._rows))
        return np.concatenate([k @ weights for _, k in self.blocks(everything)])


def whitening(K: np.ndarray) -> np.ndarray:
    """(K + ridge I)^(−1/2) in the directions of its eigenvectors."""
    eigenvalues, vectors = eigh(K)
    return vectors / np.sqrt(np.maximum(eigenvalues, 0) + RIDGE * eigenvalues[-1])

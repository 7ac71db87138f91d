"""Kernel centring: the Gram matrix as if examples were centred in kernel space (specification 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Centring:
    """The means of a training Gram matrix; new rows are centred by these, never by their own."""

    column_means: np.ndarray
    mean: float

    @classmethod
    def of(cls, K: np.ndarray) -> Centring:
        """From the (n, n) Gram matrix of the training examples."""
        return cls(K.mean(axis=0), float(K.mean()))

    def centre(self, K: np.ndarray) -> np.ndarray:
        """Rows (m, n) against the training examples: K(t,j) − mean_i K(i,j) − mean_i K(t,i) + mean K."""
        return np.asarray(K - self.column_means - K.mean(axis=1, keepdims=True) + self.mean)


def centre_gram(K: np.ndarray) -> np.ndarray:
    """HKH with H = I − 11'/n: rows and columns sum to 0."""
    return Centring.of(K).centre(K)

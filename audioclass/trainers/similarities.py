"""Similarities of examples to landmarks, a block at a time, and least squares where they are made white."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from audioclass.problems import Entries, Task
from audioclass.trainers.linear_system import factor

ROWS = 2048  # of similarities at a time
KEPT = 2**28  # similarities that are computed once and kept; beyond it, as often as they are read
RIDGE = 1e-6  # of the norm of K_zz


def entries_of(task: Task) -> Entries:
    """The entries that the task gives."""
    if task.entries is None:
        raise ValueError("the task holds a whole matrix, this trainer wants entries of the Gram matrix")
    return task.entries


def spread_order(n: int) -> np.ndarray:
    """0…n−1 in an order whose first few, however many, lie evenly: numbers with the order of their bits reversed."""
    bits = max(n - 1, 0).bit_length()
    numbers, order = np.arange(2**bits), np.zeros(2**bits, int)
    for bit in range(bits):
        order |= (numbers >> bit & 1) << (bits - 1 - bit)
    return order[order < n]


class Similarities:
    """k(x, z) of the rows to the landmarks, a block of rows at a time; kept in single precision where they fit."""

    def __init__(self, entries: Entries, rows: np.ndarray, landmarks: np.ndarray) -> None:
        self._entries, self._rows, self._landmarks = entries, rows, landmarks
        self._kept: np.ndarray | None = None
        if len(rows) * len(landmarks) <= KEPT:
            self._kept = np.concatenate([k.astype(np.float32) for _, k in self.blocks(np.arange(len(rows)))])

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

    def moments(self, chosen: np.ndarray, costs: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ c φφ' and Σ c φy' over the chosen rows, φ = (k(x, z), 1); `costs` and `Y` are theirs."""
        size, roots = len(self._landmarks) + 1, np.sqrt(costs)
        second, first = np.zeros((size, size)), np.zeros((size, *Y.shape[1:]))
        for block, k in self.blocks(chosen):
            phi = roots[block, None] * np.column_stack([k, np.ones(len(k))])
            second += phi.T @ phi
            first += phi.T @ (roots[block].reshape(-1, *[1] * (Y.ndim - 1)) * Y[block])
        return second, first

    def whitening(self) -> np.ndarray:
        """(m + 1, m + 1): V with VV' = (K_zz + ridge I)⁻¹, and 1 for the bias."""
        W = np.pad(_inverse_root(np.asarray(self._entries(self._landmarks, self._landmarks), np.float64)), (0, 1))
        W[-1, -1] = 1.0
        return W


def _inverse_root(K: np.ndarray) -> np.ndarray:
    """V with VV' = (K + ridge I)⁻¹ from its Cholesky factor; where it has none, K loses its negative eigenvalues."""
    ridge = RIDGE * np.linalg.norm(K)
    try:
        L = cholesky(K + ridge * np.eye(len(K)), lower=True)
    except np.linalg.LinAlgError:
        eigenvalues, vectors = eigh(K)
        return np.asarray(vectors / np.sqrt(np.maximum(eigenvalues, 0) + ridge))
    return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True, trans="T"))


def factor_whitened(second: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Lower Cholesky factor of the normal equations in white coordinates, with the penalty of w and none of b."""
    return factor(W.T @ second @ W, np.append(np.ones(len(W) - 1), 0.0))

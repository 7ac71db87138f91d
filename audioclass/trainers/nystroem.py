"""Nyström machine for many examples: similarities to landmarks, squared slacks, time linear in n.

k(x, z) to m landmarks z, whitened by (K_zz + ridge)^(−1/2) into φ(x); then
min ½‖w‖² + (C/2) Σ s_i max(0, 1 − y_i (w'φ(x_i) + b))². With every example a landmark it is `l2_svm` on that kernel.
The landmarks are examples, so the machine is a kernel machine like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from audioclass.contracts import Trainer
from audioclass.hookspecs import hookimpl
from audioclass.parameters import check_parameters, parameter
from audioclass.problems import Entries, Machine, Task
from audioclass.trainers.examples import counted
from audioclass.trainers.linear_system import factor, inverse_by
from audioclass.trainers.squared_hinge import Solution, minimise

ROWS = 2048  # of similarities at a time
KEPT = 2**28  # similarities that are computed once and kept; beyond it, as often as they are read
RIDGE = 1e-6  # of the largest eigenvalue of K_zz
ENOUGH = 1e-7  # of the objective: a step that gains less is the last


@dataclass(frozen=True)
class Nystroem:
    """Machine on landmarks instead of all examples, for any kernel: time grows with n alone, never with n².

    Landmarks are drawn from the examples. Weights multiply C as they are given (the engine's default balances the
    sides: n/(2 n_side)); examples of weight 0 are left out and are no landmarks.
    """

    name: ClassVar[str] = "nystroem"
    wants: ClassVar[str] = "entries"

    landmarks: int = parameter(500, low=2, help="how many examples the others are compared with")

    __post_init__ = check_parameters

    def fit(self, task: Task) -> Machine:
        """Support rows are the landmarks; fitted in float64."""
        rows = counted(task)
        if task.entries is None:
            raise ValueError("the task holds a whole matrix, this trainer wants entries of the Gram matrix")
        landmarks = rows[np.sort(task.rng.permutation(len(rows))[: self.landmarks])]
        similarities = _Similarities(task.entries, rows, landmarks)
        coefficients, b = _fit(similarities, task.y[rows], task.C * task.weights[rows])
        return Machine(landmarks, coefficients, b)


class _Similarities:
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


class _LeastSquaresOnMasks:
    """The least-squares machine on the examples of a mask, in whitened coordinates: w, b and the scores of all.

    Σ c φφ' and Σ c y φ, φ = (k(x, z), 1), are kept from mask to mask, so that only what moves is added or taken away.
    """

    def __init__(self, similarities: _Similarities, y: np.ndarray, costs: np.ndarray) -> None:
        self.similarities, self.y, self.costs = similarities, y, costs
        self.whitening = _whitening(similarities.among_landmarks())
        self.mask = np.zeros(len(y), dtype=bool)
        n_features = len(self.whitening) + 1
        self.second, self.first = np.zeros((n_features, n_features)), np.zeros(n_features)

    def __call__(self, mask: np.ndarray) -> Solution:
        self._add(np.flatnonzero(mask & ~self.mask), 1)
        self._add(np.flatnonzero(self.mask & ~mask), -1)
        self.mask = mask
        W = np.pad(self.whitening, (0, 1))
        W[-1, -1] = 1.0
        penalty = np.append(np.ones(len(self.whitening)), 0.0)  # of w, not of b
        both = inverse_by(factor(W.T @ self.second @ W, penalty))(W.T @ self.first)
        w, b = both[:-1], float(both[-1])
        return Solution(w, b, self.similarities.dot(self.whitening @ w) + b)

    def _add(self, rows: np.ndarray, sign: int) -> None:
        y, roots = self.y[rows], np.sqrt(self.costs[rows])
        for block, k in self.similarities.blocks(rows):
            phi = roots[block, None] * np.column_stack([k, np.ones(len(k))])
            self.second += sign * (phi.T @ phi)
            self.first += sign * (phi.T @ (roots[block] * y[block]))


def _fit(similarities: _Similarities, y: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the landmarks and the bias."""
    target = _LeastSquaresOnMasks(similarities, y, costs)
    start = Solution(np.zeros(len(target.whitening)), 0.0, np.zeros(len(y)))
    found = minimise(target, lambda left, right: left.w @ right.w, y, costs, start, ENOUGH)
    return target.whitening @ found.w, found.b


def _whitening(K: np.ndarray) -> np.ndarray:
    """(K + ridge I)^(−1/2) in the directions of its eigenvectors."""
    eigenvalues, vectors = eigh(K)
    return vectors / np.sqrt(np.maximum(eigenvalues, 0) + RIDGE * eigenvalues[-1])


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The large-scale machine."""
    return [Nystroem]

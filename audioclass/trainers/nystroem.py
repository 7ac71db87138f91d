"""Nyström machine for many examples: Gaussian similarities to landmarks, squared slacks, time linear in n.

k(x, z) = exp(−‖x−z‖²/(d σ²)) to m landmarks z, whitened by (K_zz + ridge)^(−1/2) into φ(x); then
min ½‖w‖² + (C/2) Σ s_i max(0, 1 − y_i (w'φ(x_i) + b))². With every example a landmark it is `l2_svm` on that kernel.
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
from audioclass.problems import FeatureMachine, Task
from audioclass.trainers.examples import counted
from audioclass.trainers.linear_system import factor, inverse_by
from audioclass.trainers.squared_hinge import Solution, minimise

ROWS = 2048  # of similarities at a time
RIDGE = 1e-6  # of the largest eigenvalue of K_zz
ENOUGH = 1e-7  # of the objective: a step that gains less is the last


@dataclass(frozen=True)
class Nystroem:
    """Gaussian machine on landmarks instead of all examples: time and memory grow with n alone, never with n².

    Weights multiply C as they are given (the engine's default balances the sides: n/(2 n_side)); examples of weight 0
    are left out and are no landmarks. Features should be standardised; then sigma near 1 is a sensible start.
    """

    name: ClassVar[str] = "nystroem"
    wants: ClassVar[str] = "features"

    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="how far apart is no longer alike")
    landmarks: int = parameter(500, low=2, help="how many examples the others are compared with")
    placement: str = parameter("k_means", choices=("k_means", "uniform"), help="landmarks: centres of groups, or drawn")

    __post_init__ = check_parameters

    def fit(self, task: Task) -> FeatureMachine:
        """Arrays `landmarks` (m, d), `weights` (m,), `intercept` and `sigma`; fitted in float64."""
        rows = counted(task)
        if task.X is None:
            raise ValueError("the task holds a Gram matrix K, this trainer wants features X")
        X = task.X if len(rows) == len(task.y) else task.X[rows]
        landmarks = np.unique(self._place(X, task.rng), axis=0).astype(np.float64)
        similarities = Similarities(landmarks, self.sigma)
        weights, b = _fit(similarities, X, task.y[rows], task.C * task.weights[rows])
        arrays = {"landmarks": landmarks, "weights": weights, "intercept": b, "sigma": self.sigma}
        return FeatureMachine({name: np.asarray(value) for name, value in arrays.items()})

    def scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """Σ weights_j k(x, z_j) + intercept, in the precision of X."""
        arrays = {name: np.asarray(value) for name, value in machine.arrays.items()}
        precision = np.float32 if X.dtype == np.float32 else np.float64
        similarities = Similarities(arrays["landmarks"].astype(precision), float(arrays["sigma"]))
        return similarities.dot(X, arrays["weights"].astype(precision)) + arrays["intercept"].astype(precision)

    def _place(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = X[np.sort(rng.permutation(len(X))[: self.landmarks])]
        if self.placement == "uniform" or len(drawn) == len(X):
            return drawn
        return _centres(X[np.sort(rng.permutation(len(X))[: 20 * self.landmarks])], drawn)


@dataclass(frozen=True, eq=False)
class Similarities:
    """k(x, z) of rows to landmarks, a block of rows at a time, in the precision of the landmarks."""

    landmarks: np.ndarray
    sigma: float

    def of(self, X: np.ndarray) -> np.ndarray:
        """(n, m)."""
        S = _squared_distances(np.asarray(X, self.landmarks.dtype), self.landmarks)
        S *= -1 / (X.shape[1] * self.sigma**2)
        return np.exp(S, out=S)

    def blocks(self, X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Every row, with where it stands."""
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            yield rows, self.of(X[rows])

    def dot(self, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ_j weights_j k(x, z_j) of every row."""
        out = np.empty(len(X), weights.dtype)
        for rows, k in self.blocks(X):
            out[rows] = k @ weights
        return out


class _LeastSquaresOnMasks:
    """The least-squares machine on the examples of a mask, in whitened coordinates: w, b and the scores of all.

    Σ c φφ' and Σ c y φ, φ = (k(x, z), 1), are kept from mask to mask, so that only what moves is added or taken away.
    """

    def __init__(self, similarities: Similarities, X: np.ndarray, y: np.ndarray, costs: np.ndarray) -> None:
        self.similarities, self.X, self.y, self.costs = similarities, X, y, costs
        self.whitening = _whitening(similarities.of(similarities.landmarks))
        self.mask = np.zeros(len(y), dtype=bool)
        n_features = len(self.whitening) + 1
        self.second, self.first = np.zeros((n_features, n_features)), np.zeros(n_features)

    def __call__(self, mask: np.ndarray) -> Solution:
        self._add(mask & ~self.mask, 1)
        self._add(self.mask & ~mask, -1)
        self.mask = mask
        W = np.pad(self.whitening, (0, 1))
        W[-1, -1] = 1.0
        penalty = np.append(np.ones(len(self.whitening)), 0.0)  # of w, not of b
        both = inverse_by(factor(W.T @ self.second @ W, penalty))(W.T @ self.first)
        w, b = both[:-1], float(both[-1])
        return Solution(w, b, self.similarities.dot(self.X, self.whitening @ w) + b)

    def _add(self, rows: np.ndarray, sign: int) -> None:
        y, roots = self.y[rows], np.sqrt(self.costs[rows])
        for block, k in self.similarities.blocks(self.X[rows]):
            phi = roots[block, None] * np.column_stack([k, np.ones(len(k))])
            self.second += sign * (phi.T @ phi)
            self.first += sign * (phi.T @ (roots[block] * y[block]))


def _fit(similarities: Similarities, X: np.ndarray, y: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the landmarks and the bias."""
    target = _LeastSquaresOnMasks(similarities, X, y, costs)
    start = Solution(np.zeros(len(target.whitening)), 0.0, np.zeros(len(y)))
    found = minimise(target, lambda left, right: left.w @ right.w, y, costs, start, ENOUGH)
    return target.whitening @ found.w, found.b


def _whitening(K: np.ndarray) -> np.ndarray:
    """(K + ridge I)^(−1/2) in the directions of its eigenvectors."""
    eigenvalues, vectors = eigh(K)
    return vectors / np.sqrt(np.maximum(eigenvalues, 0) + RIDGE * eigenvalues[-1])


def _centres(X: np.ndarray, centres: np.ndarray, rounds: int = 10) -> np.ndarray:
    """k-means from these centres; a centre that loses all its rows stays where it is."""
    for _ in range(rounds):
        nearest = _squared_distances(X, centres).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, X)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def _squared_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """‖x−y‖² of every pair, at least 0."""
    S = X @ Y.T
    S *= -2
    S += np.einsum("ij,ij->i", X, X)[:, None]
    S += np.einsum("ij,ij->i", Y, Y)[None, :]
    return np.maximum(S, 0, out=S)


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The large-scale machine."""
    return [Nystroem]

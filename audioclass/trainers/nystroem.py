"""Nyström machine for many examples: similarities to landmarks, squared slacks, time linear in n.

k(x, z) to m landmarks z, whitened by (K_zz + ridge)^(−1/2) into φ(x); then
min ½‖w‖² + (C/2) Σ s_i max(0, 1 − y_i (w'φ(x_i) + b))². With every example a landmark it is `l2_svm` on that kernel.
The landmarks are examples, so the machine is a kernel machine like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audioclass.contracts import Trainer
from audioclass.hookspecs import hookimpl
from audioclass.parameters import check_parameters, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted
from audioclass.trainers.linear_system import factor, inverse_by
from audioclass.trainers.similarities import Similarities, whitening
from audioclass.trainers.squared_hinge import Solution, minimise

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
        similarities = Similarities(task.entries, rows, landmarks)
        coefficients, b = _fit(similarities, task.y[rows], task.C * task.weights[rows])
        return Machine(landmarks, coefficients, b)


class _LeastSquaresOnMasks:
    """The least-squares machine on the examples of a mask, in whitened coordinates: w, b and the scores of all.

    Σ c φφ' and Σ c y φ, φ = (k(x, z), 1), are kept from mask to mask, so that only what moves is added or taken away.
    """

    def __init__(self, similarities: Similarities, y: np.ndarray, costs: np.ndarray) -> None:
        self.similarities, self.y, self.costs = similarities, y, costs
        self.whitening = whitening(similarities.among_landmarks())
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


def _fit(similarities: Similarities, y: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the landmarks and the bias."""
    target = _LeastSquaresOnMasks(similarities, y, costs)
    start = Solution(np.zeros(len(target.whitening)), 0.0, np.zeros(len(y)))
    found = minimise(target, lambda left, right: left.w @ right.w, y, costs, start, ENOUGH)
    return target.whitening @ found.w, found.b


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The large-scale machine."""
    return [Nystroem]

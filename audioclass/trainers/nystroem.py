"""Nyström machine for many examples: similarities to landmarks, squared slacks, time linear in n.

k(x, z) to m landmarks z, whitened by (K_zz + ridge)^(−1/2) into φ(x); then
min ½‖w‖² + (C/2) Σ s_i max(0, 1 − y_i (w'φ(x_i) + b))². With every example a landmark it is `l2_svm` on that kernel.
The landmarks are examples, so the machine is a kernel machine like any other.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted
from audioclass.trainers.linear_system import inverse_by
from audioclass.trainers.similarities import Similarities, entries_of, factor_whitened
from audioclass.trainers.squared_hinge import Solution, minimise

ENOUGH = 1e-7  # of the objective: a step that gains less is the last


@component
class Nystroem:
    """Machine on landmarks instead of all examples, for any kernel: time grows with n alone, never with n².

    Landmarks are drawn from the examples. Weights multiply C as they are given (the engine's default balances the
    sides: n/(2 n_side)); examples of weight 0 are left out and are no landmarks.
    """

    name: ClassVar[str] = "nystroem"
    wants: ClassVar[Wants] = "entries"

    landmarks: int = parameter(500, low=2, help="how many examples the others are compared with")

    def fit(self, task: Task) -> Machine:
        """Support rows are the landmarks; fitted in float64."""
        rows = counted(task)
        landmarks = rows[np.sort(task.rng.permutation(len(rows))[: self.landmarks])]
        similarities = Similarities(entries_of(task), rows, landmarks)
        coefficients, b = _fit(similarities, task.y[rows], task.C * task.weights[rows])
        return Machine(landmarks, coefficients, b)


class _LeastSquaresOnMasks:
    """The least-squares machine on the examples of a mask, in white coordinates: w, b and the scores of all.

    Σ c φφ' and Σ c y φ, φ = (k(x, z), 1), are kept from mask to mask, so that only what moves is added or taken away.
    """

    def __init__(self, similarities: Similarities, y: np.ndarray, costs: np.ndarray) -> None:
        self.similarities, self.y, self.costs = similarities, y, costs
        self.W = similarities.whitening()
        self.mask = np.zeros(len(y), dtype=bool)
        self.second, self.first = np.zeros_like(self.W), np.zeros(len(self.W))

    def __call__(self, mask: np.ndarray) -> Solution:
        self._add(np.flatnonzero(mask & ~self.mask), 1)
        self._add(np.flatnonzero(self.mask & ~mask), -1)
        self.mask = mask
        both = inverse_by(factor_whitened(self.second, self.W))(self.W.T @ self.first)
        w, b = both[:-1], float(both[-1])
        return Solution(w, b, self.similarities.dot(self.coefficients(w)) + b)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Weights of the landmarks."""
        return np.asarray(self.W[:-1, :-1] @ w)

    def _add(self, rows: np.ndarray, sign: int) -> None:
        second, first = self.similarities.moments(rows, self.costs[rows], self.y[rows])
        self.second += sign * second
        self.first += sign * first


def _fit(similarities: Similarities, y: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the landmarks and the bias."""
    target = _LeastSquaresOnMasks(similarities, y, costs)
    start = Solution(np.zeros(len(target.W) - 1), 0.0, np.zeros(len(y)))
    solution = minimise(target, lambda left, right: left.w @ right.w, y, costs, start, ENOUGH)
    return target.coefficients(solution.w), solution.b


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The large-scale machine."""
    return [Nystroem]

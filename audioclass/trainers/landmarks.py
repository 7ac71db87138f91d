"""Least squares on landmarks: the least-squares machine for many examples, time linear in n.

k(x, z) to m landmarks z, whitened into φ(x); then min ½‖w‖² + (C/2) Σ s_i (y_i − w'φ(x_i) − b)². With
H = Φ̃'SΦ̃ + diag(1, …, 1, 0), Φ̃ = (Φ, 1) and S = C diag(s), the residuals of a group B left out of the fit are
(I − Φ̃_B H⁻¹ Φ̃_B' S_B)⁻¹ times its residuals in it. With every example a landmark it is `least_squares`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from audioclass.contracts import Trainer
from audioclass.hookspecs import hookimpl
from audioclass.parameters import check_parameters, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted
from audioclass.trainers.linear_system import factor, inverse_by
from audioclass.trainers.similarities import Similarities, whitening


@dataclass(frozen=True)
class Landmarks:
    """Regression on ±1 over similarities to some of the examples: one factorisation for all dichotomies, any kernel.

    Landmarks lie evenly among the examples in their order, so that every recording has its part. Weights multiply C as
    they are given; examples of weight 0 are left out and are no landmarks. What is held out may still be a landmark:
    its place serves, its label does not.
    """

    name: ClassVar[str] = "landmarks"
    wants: ClassVar[str] = "entries"

    landmarks: int = parameter(1000, low=2, help="how many examples the others are compared with")

    __post_init__ = check_parameters

    def fit(self, task: Task) -> Machine:
        """Support rows are the landmarks; fitted in float64."""
        return self.fit_many(task, task.y)

    def fit_many(self, task: Task, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies)."""
        fitted = _Fit(task, self.landmarks, Y)
        return Machine(fitted.landmarks, fitted.whitening @ fitted.w[:-1], fitted.w[-1])

    def held_out_scores(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Scores (n, n_dichotomies) of each group by the machine fitted without it; no second factorisation."""
        fitted = _Fit(task, self.landmarks, Y)
        scores = np.empty(np.shape(Y))
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
        if len(starts) < 2:
            raise ValueError("one group holds every example, at least 2 groups are needed to hold one out")
        for members in np.split(order, starts[1:]):
            scores[members] = fitted.without(members)
        return scores


class _Fit:
    """The solution w, (m + 1, n_dichotomies) with b last, and what is needed to leave groups out of it."""

    def __init__(self, task: Task, most: int, Y: np.ndarray) -> None:
        if task.entries is None:
            raise ValueError("the task holds a whole matrix, this trainer wants entries of the Gram matrix")
        rows = counted(task)
        self.task, self.Y = task, np.asarray(Y, np.float64)
        self.costs = task.C * task.weights
        self.landmarks = rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)]
        self.similarities = Similarities(task.entries, np.arange(len(task.y)), self.landmarks)
        self.whitening = whitening(self.similarities.among_landmarks())
        self.L, right = self._normal_equations(rows)
        self.w = inverse_by(self.L)(right)

    def _normal_equations(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = len(self.landmarks) + 1
        H, right = np.zeros((size, size)), np.zeros((size, *self.Y.shape[1:]))
        for block, phi in self._coordinates(rows):
            weighted = phi.T * self.costs[rows[block]]
            H += weighted @ phi
            right += weighted @ self.Y[rows[block]]
        penalty = np.append(np.ones(size - 1), 0.0)  # of w, not of b
        return factor(H, penalty), right

    def _coordinates(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Φ̃ of these examples, a block at a time."""
        for block, k in self.similarities.blocks(rows):
            yield block, np.column_stack([k @ self.whitening, np.ones(len(k))])

    def without(self, members: np.ndarray) -> np.ndarray:
        """Scores of a group by the machine without it."""
        phi = np.concatenate([part for _, part in self._coordinates(members)])
        residuals = self.Y[members] - phi @ self.w
        U = solve_triangular(self.L, phi.T, lower=True, check_finite=False)
        hat = (U.T @ U) * self.costs[members]
        return self.Y[members] - np.linalg.solve(np.eye(len(members)) - hat, residuals)


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """Least squares on landmarks."""
    return [Landmarks]

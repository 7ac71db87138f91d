"""Least squares on landmarks: the least-squares machine for many examples, time linear in n.

k(x, z) to m landmarks z, whitened into φ(x); then min ½‖w‖² + (C/2) Σ s_i (y_i − w'φ(x_i) − b)². With
H = Φ̃'SΦ̃ + diag(1, …, 1, 0), Φ̃ = (Φ, 1) and S = C diag(s), the residuals of a group B left out of the fit are
(I − Φ̃_B H⁻¹ Φ̃_B' S_B)⁻¹ times its residuals in it. With every example a landmark it is `least_squares`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, members_of, targets_of
from audioclass.trainers.similarities import ROWS, Similarities, entries_of, factor_whitened, spread_order

FEW = 300  # landmarks that are taken where there are as many examples
ONE_IN = 10  # examples is a landmark where that makes more


@component
class Landmarks:
    """Regression on ±1 over similarities to some of the examples: one factorisation for all dichotomies, any kernel.

    One example in ten is a landmark, at least 300 where there are as many. They lie evenly among the examples of each
    side in their order, so that every recording has its part, and machines that have a side in common have landmarks in
    common. Weights multiply C as they are given; examples of weight 0 are left out and are no landmarks. What is held
    out may still be a landmark: its place serves, its label does not. Criteria judge it by its exact form, the
    least-squares machine, on the few examples that a kernel is chosen on.
    """

    name: ClassVar[str] = "landmarks"
    loss: ClassVar[Loss] = "squared"
    wants: ClassVar[Wants] = "entries"

    landmarks: int = parameter(1000, low=2, help="how many examples the others are compared with, at most")

    def fit(self, task: Task) -> Machine:
        """Support rows are the landmarks; fitted in float64."""
        return self.fit_many(task, task.y)

    def fit_many(self, task: Task, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies)."""
        return _Fit(task, self.landmarks, Y).machine

    def fit_and_hold_out(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> tuple[Machine, np.ndarray]:
        """The machine, and the scores of each group by the one fitted without it; no second factorisation."""
        members = members_of(groups, task.weights > 0)
        fitted = _Fit(task, self.landmarks, Y)
        return fitted.machine, fitted.held_out(members)


class _Fit:
    """H⁻¹ = RR' in the coordinates (k(x, z), 1), and v = R'Φ̃'SY: scores are (k, 1) R v, for every column of Y."""

    def __init__(self, task: Task, most: int, Y: np.ndarray) -> None:
        rows = counted(task)
        self.Y, self.costs = targets_of(Y, len(task.y)), task.C * task.weights
        self.landmarks = _spread(rows, task.y[rows], most)
        self.similarities = Similarities(entries_of(task), np.arange(len(task.y)), self.landmarks)
        W = self.similarities.whitening()
        second, first = self.similarities.moments(rows, self.costs[rows], self.Y[rows])
        L = factor_whitened(second, W)
        self.R = solve_triangular(L, W.T, lower=True, check_finite=False).T
        self.v = self.R.T @ first

    @property
    def machine(self) -> Machine:
        """Support rows are the landmarks."""
        weights = self.R @ self.v
        return Machine(self.landmarks, weights[:-1], weights[-1])

    def held_out(self, members: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of each group by the machine without it."""
        scores = np.empty_like(self.Y)
        for groups in _batches(members):
            together = np.concatenate(groups)
            U = np.concatenate([k @ self.R[:-1] + self.R[-1] for _, k in self.similarities.blocks(together)])
            ends = np.cumsum([len(group) for group in groups])
            for group, block in zip(groups, np.split(U, ends[:-1]), strict=True):
                scores[group] = self._without(group, block)
        return scores

    def _without(self, group: np.ndarray, U: np.ndarray) -> np.ndarray:
        """y − (I − UU'S)⁻¹ r; for a group larger than U is wide, r + U (I − U'SU)⁻¹ U'S r, which is the same."""
        residuals = self.Y[group] - U @ self.v
        weighted = U.T * self.costs[group]
        if len(group) <= U.shape[1]:
            return np.asarray(self.Y[group] - np.linalg.solve(np.eye(len(group)) - U @ weighted, residuals))
        lost = np.linalg.solve(np.eye(U.shape[1]) - weighted @ U, weighted @ residuals)
        return np.asarray(self.Y[group] - residuals - U @ lost)


def _spread(rows: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """At most so many of the rows, evenly spaced within each side, each side in proportion and one at least."""
    positive, negative = rows[y > 0], rows[y < 0]
    total = min(most, len(rows), max(FEW, len(rows) // ONE_IN))
    share = min(max(round(total * len(positive) / len(rows)), 1), total - 1)
    parts = ((positive, share), (negative, total - share))
    return np.sort(np.concatenate([side[spread_order(len(side))[:count]] for side, count in parts]))


def _batches(members: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Groups of about as many examples as are looked at together."""
    starts = np.cumsum([0, *map(len, members[:-1])]) // ROWS
    for batch in np.unique(starts):
        yield [members[int(i)] for i in np.flatnonzero(starts == batch)]


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """Least squares on landmarks."""
    return [Landmarks]

"""Least-squares machines of every label against the rest on one Gram matrix, held out by groups in closed form.

One factorisation of K + λI serves all labels, and any partition of the rows into groups: of whom a row is held out can
be asked again without another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.criteria.least_squares import CentredInverse
from audioclass.numerics import log_losses, softmax
from audioclass.temperature import best_temperature


@dataclass(frozen=True, eq=False)
class LabelMachines:
    """Machines over rows of labels `y`, targets +1 for their label and −1 for the others; `weights` count in losses."""

    K: np.ndarray
    y: np.ndarray
    n_labels: int
    ridge: float
    weights: np.ndarray

    @cached_property
    def targets(self) -> np.ndarray:
        """(n, n_labels) in ±1."""
        return np.asarray(2.0 * np.eye(self.n_labels)[self.y] - 1.0)

    @cached_property
    def inverse(self) -> CentredInverse:
        """A ValueError where K with its ridge is not positive definite."""
        return CentredInverse.of(self.K, np.full(len(self.y), self.ridge))

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(n, n_labels) of the machines on all rows."""
        return np.asarray(self.inverse.whole @ self.targets)

    @cached_property
    def intercepts(self) -> np.ndarray:
        """(n_labels,): what makes the machines' targets less their slacks."""
        u = self.inverse.u
        return np.asarray(u @ self.targets / u.sum())

    def scores(self, K: np.ndarray) -> np.ndarray:
        """(m, n_labels) of new rows by the machines on all rows, from their Gram matrix (m, n)."""
        return np.asarray(K @ self.coefficients + self.intercepts)

    def held_out(self, groups: np.ndarray) -> np.ndarray:
        """(n, n_labels): the scores of each row by the machines that never saw its group."""
        if len(np.unique(groups)) < 2:
            raise ValueError("one group holds every example, at least 2 groups are needed to hold one out")
        residuals = np.empty_like(self.coefficients)
        M = self.inverse.whole
        for B in _of_equal_size(groups):
            blocks = M[B[:, :, None], B[:, None, :]]
            residuals[B] = np.linalg.solve(blocks, self.coefficients[B])
        return np.asarray(self.targets - residuals)

    def held_out_of(self, K: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """The same for other rows, one of the group of each row, such as versions of them; K is theirs with the rows.

        What a machine loses with a group B: its coefficients M_·B M_BB⁻¹ a_B, its intercept (u_B/1'u)' M_BB⁻¹ a_B.
        """
        scores, M, u = self.scores(K), self.inverse.whole, self.inverse.u
        for B in (rows for rows_of_size in _of_equal_size(groups) for rows in rows_of_size):
            lost = np.linalg.solve(M[np.ix_(B, B)], self.coefficients[B])
            scores[B] -= K[B] @ (M[:, B] @ lost) + u[B] @ lost / u.sum()
        return scores

    def temperature(self, scores: np.ndarray) -> float:
        """The temperature at which held-out scores have the lowest log-loss."""
        return best_temperature(scores, self.y, self.weights)[0]

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """(n,): the log-loss of held-out scores of each row at that temperature."""
        return log_losses(softmax(scores, self.temperature(scores)), self.y)

    def held_out_losses(self, groups: np.ndarray) -> np.ndarray:
        """The same of the rows themselves, whose groups are held out."""
        return self.losses(self.held_out(groups))


def _of_equal_size(groups: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of all groups of one size, (n_groups, size), for each size that there is."""
    codes = np.unique(groups, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    ends = np.cumsum(sizes)
    for size in np.unique(sizes):
        starts = (ends - sizes)[sizes == size]
        yield order[starts[:, None] + np.arange(size)]

"""Least-squares machines from one factorisation: groups of examples, and folds of groups, held out of them.

The machine solves (K + Λ) a + b 1 = y and 1'a = 0. With A = (K + Λ)⁻¹, u = A1 and M = A − uu'/1'u: a = My and
b = u'y/1'u, and the residuals of a group B left out are M_BB⁻¹ a_B. M is a block of an inverse: without a fold F it is
M − M_·F M_FF⁻¹ M_F·, and a is a − M_·F M_FF⁻¹ a_F.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of, members_of, targets_of
from audioclass.trainers.linear_system import factor

BLOCK = 512  # of rows and columns that are mirrored at a time


@dataclass(frozen=True, eq=False)
class Factorised:
    """M and u over the examples of weight above 0; `is_fitted` is the mask of these, `K` that of the others with them.

    It is some hundred megabytes for some thousand examples.
    """

    M: np.ndarray
    u: np.ndarray
    is_fitted: np.ndarray
    K: np.ndarray

    @classmethod
    def of(cls, task: Task) -> Factorised:
        """A ValueError where K + Λ is not positive definite to working precision."""
        rows = counted(task)
        L = factor(gram_of(task, rows), 1 / (task.C * task.weights[rows]))
        M, _ = dpotri(L, lower=True, overwrite_c=True)
        _mirror(M)
        u = M.sum(axis=1)
        for first in range(0, len(u), BLOCK):
            M[:, first : first + BLOCK] -= np.multiply.outer(u, u[first : first + BLOCK] / u.sum())
        others = np.flatnonzero(task.weights <= 0)
        return cls(M, u, task.weights > 0, np.asarray(task.K)[np.ix_(others, rows)])

    def machine(self, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies)."""
        targets = targets_of(Y, len(self.is_fitted))[self.is_fitted]
        return Machine(np.flatnonzero(self.is_fitted), self.M @ targets, self.u @ targets / self.u.sum())

    def held_out(self, Y: np.ndarray, groups: np.ndarray, without: np.ndarray | None = None) -> np.ndarray:
        """Scores of each group by the machine that never saw it nor the examples `without`, a mask of whole groups.

        Those of the mask have the scores of the machine without them all. Examples of weight 0 are scored too.
        """
        targets, is_fitted = targets_of(Y, len(self.is_fitted)), self.is_fitted
        flat = targets.reshape(len(targets), -1)
        outside = np.zeros(len(flat), bool) if without is None else np.asarray(without)
        members = members_of(groups, is_fitted & ~outside)
        scores = np.empty_like(flat)
        residuals = self._residuals(flat[is_fitted], np.asarray(groups)[is_fitted], outside[is_fitted])
        scores[is_fitted] = flat[is_fitted] - residuals
        for group in [group for group in members if not is_fitted[group].all()]:
            left_out = outside | np.isin(np.arange(len(flat)), group)
            others = group[~is_fitted[group]]
            scores[others] = self._scores_without(flat, left_out[is_fitted], others)
        return scores.reshape(targets.shape)

    def _residuals(self, Y: np.ndarray, groups: np.ndarray, outside: np.ndarray) -> np.ndarray:
        """Of the fitted examples; those outside are one group more, and the others are without them."""
        a, residuals = self.M @ Y, np.empty_like(Y)
        inside = np.flatnonzero(~outside)
        V = np.empty((0, len(inside)))
        if outside.any():
            fold = np.flatnonzero(outside)
            L = cholesky(self.M[np.ix_(fold, fold)], lower=True, overwrite_a=True, check_finite=False)
            V = solve_triangular(L, self.M[np.ix_(fold, inside)], lower=True, overwrite_b=True, check_finite=False)
            c = solve_triangular(L, a[fold], lower=True, check_finite=False)
            residuals[fold] = solve_triangular(L, c, lower=True, trans="T", check_finite=False)
            a[inside] -= V.T @ c
        V = np.ascontiguousarray(V.T)
        for places in _of_equal_size(groups[inside]):
            B = inside[places]
            blocks = self.M[B[:, :, None], B[:, None, :]] - V[places] @ V[places].transpose(0, 2, 1)
            residuals[B] = np.linalg.solve(blocks, a[B])
        return residuals

    def _scores_without(self, Y: np.ndarray, left_out: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Scores of examples that are not fitted, by the machine without some of those that are."""
        machine, B = self.machine(Y), np.flatnonzero(left_out)
        residuals = np.linalg.solve(self.M[np.ix_(B, B)], machine.coefficients[B])
        rest = machine.coefficients - self.M[:, B] @ residuals
        places = np.searchsorted(np.flatnonzero(~self.is_fitted), others)
        return np.asarray(self.K[places] @ rest + machine.intercept - self.u[B] @ residuals / self.u.sum())


def _mirror(M: np.ndarray) -> None:
    """Copy what is below the diagonal above it, in place."""
    for first in range(0, len(M), BLOCK):
        here, below = slice(first, first + BLOCK), slice(first + BLOCK, None)
        M[here, here] = np.tril(M[here, here]) + np.tril(M[here, here], -1).T
        M[here, below] = M[below, here].T


def _of_equal_size(groups: np.ndarray) -> Iterator[np.ndarray]:
    """The places of all groups of one size, (n_groups, size), for each size that there is."""
    codes = np.unique(groups, return_inverse=True)[1]
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    ends = np.cumsum(sizes)
    for size in np.unique(sizes):
        yield order[(ends - sizes)[sizes == size][:, None] + np.arange(size)]

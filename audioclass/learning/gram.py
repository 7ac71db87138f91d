"""Pairwise statistics of the training examples: computed once, then read by every kernel, dichotomy, fold and C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.contracts import Kernel
from audioclass.kernels.statistics import gram, squared_distance, statistic_of

BUDGET = 2 * 2**30  # bytes that one matrix may take; beyond it parts are computed when they are asked for
DOUBLE_UP_TO = BUDGET // 4  # bytes up to which a matrix is kept in float64, float32 above
ROWS_TOGETHER = 64


class PairwiseStatistics:
    """The statistics of a set of examples: what was prepared is computed once and kept, the rest when it is asked for.

    A large matrix is kept in float32; one that does not fit the budget even so is not kept.
    """

    def __init__(self, X: np.ndarray, budget: int = BUDGET) -> None:
        if X.ndim != 2 or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape}, must be examples by features, all finite")
        self.X = np.ascontiguousarray(X)
        self._budget = budget
        self._statistics: dict[Callable, np.ndarray] = {}
        self._grams: dict[Kernel, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.X)

    def fits(self, n_rows: int) -> bool:
        """Whether a matrix over so many rows fits the budget."""
        return n_rows**2 * np.dtype(np.float32).itemsize <= self._budget

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compute now, once, what will be read: the statistics of these kernels, or the Gram matrix of a single one."""
        if not self.fits(len(self)):
            return
        for kernel in kernels:
            statistic = statistic_of(kernel)
            if statistic is None or kernel in self._grams or statistic in self._statistics:
                continue
            is_small = len(self) ** 2 * np.dtype(np.float64).itemsize <= min(DOUBLE_UP_TO, self._budget)
            X = self.X.astype(np.float64 if is_small else np.float32, copy=False)
            S = statistic(X, X)
            if len(kernels) == 1:
                for first in range(0, len(S), ROWS_TOGETHER):  # in its own place: two such matrices may not fit
                    S[first : first + ROWS_TOGETHER] = kernel.of(S[first : first + ROWS_TOGETHER])
                self._grams[kernel] = S
            else:
                self._statistics[statistic] = S

    def gram(self, kernel: Kernel, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """The Gram matrix of these rows against these columns (default: the rows), both indices; a copy of its own."""
        columns = rows if columns is None else columns
        statistic = statistic_of(kernel)
        if kernel in self._grams:
            return self._grams[kernel][np.ix_(rows, columns)]
        if statistic in self._statistics:
            return kernel.of(self._statistics[statistic][np.ix_(rows, columns)])
        left = self.X[rows]
        right = left if rows is columns else self.X[columns]
        return gram(kernel, left, right) if statistic is None else kernel.of(statistic(left, right))


@dataclass(frozen=True, eq=False)
class GroupedDistance:
    """Squared distance within each group of columns over its mean on the training rows, averaged over the groups.

    It is the plain squared distance of columns times `factors`: exp(−γ · this) is a product of one Gaussian kernel for
    each group, and no group is drowned by a larger one.
    """

    factors: np.ndarray

    @classmethod
    def fit(cls, X: np.ndarray, groups: Sequence[str], weights: dict[str, float] | None = None) -> GroupedDistance:
        """Factors from training rows; a group that does not vary keeps factor 1 over the number of groups.

        `weights` of the groups (default: equal) are brought to a mean of one.
        """
        names = list(dict.fromkeys(groups))
        shares = np.array([1.0 if weights is None else weights[name] for name in names])
        shares = shares / shares.sum()
        factors = np.empty(X.shape[1])
        for name, share in zip(names, shares, strict=True):
            columns = np.flatnonzero(np.asarray(groups) == name)
            spread = 2 * X[:, columns].var(axis=0, dtype=np.float64).sum()  # the mean of all squared distances
            factors[columns] = np.sqrt(share / (spread if spread > 0 else 1.0))
        return cls(factors)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Columns scaled, so that any kernel on distances weighs the groups alike."""
        return X * self.factors.astype(X.dtype, copy=False)

    def between(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """(len(X), len(Y)) distances; exactly 0 on the diagonal where Y is X."""
        scaled = self.apply(X)
        return squared_distance(scaled, scaled if Y is X else self.apply(Y))

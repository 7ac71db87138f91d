"""Pairwise statistics of the training examples: computed once, then read by every kernel, dichotomy, fold and C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from audioclass.contracts import GroupsHeldOut, Kernel
from audioclass.kernels.statistics import Statistic, gram, gram_of_statistic, pairwise, statistic_of

BUDGET = 2 * 2**30  # bytes that one matrix may take; beyond it parts are computed when they are asked for
DOUBLE_UP_TO = BUDGET // 4  # bytes up to which a matrix is kept in float64, float32 above
ROWS_TOGETHER = 64


class PairwiseStatistics:
    """The statistics of a set of examples: what was prepared is computed once and kept, the rest when it is asked for.

    A large matrix is kept in float32; one that does not fit the budget even so is not kept. Of systems that were solved
    over all examples the last one is kept, for who holds other groups out of it; other processes solve their own.
    """

    def __init__(self, X: np.ndarray, budget: int = BUDGET) -> None:
        if X.ndim != 2 or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape}, must be examples by features, all finite")
        self.X = np.ascontiguousarray(X)
        self._budget = budget
        self._statistics: dict[Statistic, np.ndarray] = {}
        self._grams: dict[Kernel, np.ndarray] = {}
        self._solved: dict[object, GroupsHeldOut] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_solved": {}}

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
            S = pairwise(statistic, X)
            if len(kernels) == 1:
                for first in range(0, len(S), ROWS_TOGETHER):  # in its own place: two such matrices may not fit
                    S[first : first + ROWS_TOGETHER] = gram_of_statistic(kernel, S[first : first + ROWS_TOGETHER])
                self._grams[kernel] = S
            else:
                self._statistics[statistic] = S

    def gram(self, kernel: Kernel, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """The Gram matrix of these rows against these columns (default: the rows), both indices; a copy of its own."""
        statistic, places = statistic_of(kernel), np.ix_(rows, rows if columns is None else columns)
        if kernel in self._grams and columns is None and np.array_equal(rows, np.arange(len(self))):
            return self._grams[kernel].copy()
        if kernel in self._grams:
            return np.asarray(self._grams[kernel][places])
        if statistic is not None and statistic in self._statistics:
            return gram_of_statistic(kernel, self._statistics[statistic][places])
        left, right = self.X[rows], None if columns is None else self.X[columns]
        if statistic is None:
            return gram(kernel, left, right)
        return gram_of_statistic(kernel, pairwise(statistic, left, right))

    def solved(self, key: object, solve: Callable[[], GroupsHeldOut]) -> GroupsHeldOut:
        """What was solved last where that has this key, else what is solved now."""
        if key not in self._solved:
            self._solved = {}  # before the work: two systems may not fit
            self._solved = {key: solve()}
        return self._solved[key]

"""What machines are trained on: rows of features with their pairwise statistics, and windows with their labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.training.statistics import PairwiseStatistics


@dataclass(frozen=True, eq=False)
class Examples:
    """Training windows, the label index `y`, weight and group of each, and rows of features with their statistics.

    A window is a row, or one row for each of its versions: `windows` is (n_rows,), the window of each, in rising order
    and the first version first. Machines are trained on rows, which share the label, weight and group of their window:
    versions are held out together. All that comes after a machine counts windows: the score of a window is the mean
    over its versions where a model `averages` them, else that of its first.
    """

    statistics: PairwiseStatistics
    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    windows: np.ndarray | None = None
    averages: bool = True

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        *,
        windows: np.ndarray | None = None,
        averages: bool = True,
    ) -> Examples:
        """Weights default to one, groups to each window by itself, and windows to one row each."""
        n = len(y)
        if windows is None and len(X) != n:
            raise ValueError(f"X has {len(X)} rows for {n} labels")
        if windows is not None and not _are_versions(windows, len(X), n):
            raise ValueError(f"windows must name each of {n} windows for {len(X)} rows, in rising order")
        codes = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
        weights = np.ones(n) if weights is None else np.asarray(weights)
        return cls(PairwiseStatistics(X), np.asarray(y), weights, codes, windows, averages)

    @property
    def n_rows(self) -> int:
        """Rows of all versions together."""
        return len(self.statistics)

    @cached_property
    def firsts(self) -> np.ndarray:
        """(n_windows,): the row of the first version of each window."""
        n = len(self.y)
        return np.arange(n) if self.windows is None else np.searchsorted(self.windows, np.arange(n))

    def to_rows(self, of_windows: np.ndarray) -> np.ndarray:
        """For each row what there is of its window."""
        return of_windows if self.windows is None else of_windows[self.windows]

    def to_windows(self, of_rows: np.ndarray) -> np.ndarray:
        """Scores of windows from those of their rows, (n_rows, …)."""
        if self.windows is None or not self.averages:
            return of_rows[self.firsts] if self.windows is not None else of_rows
        return np.asarray(np.add.reduceat(of_rows, self.firsts, axis=0).T / np.bincount(self.windows)).T

    def windows_of(self, rows: np.ndarray) -> np.ndarray:
        """The window of each of some rows."""
        return rows if self.windows is None else self.windows[rows]

    @cached_property
    def first_versions(self) -> Examples:
        """The same windows, each with its first version alone."""
        if self.windows is None:
            return self
        return Examples(PairwiseStatistics(self.statistics.X[self.firsts]), self.y, self.weights, self.groups)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the examples: what was computed from the same ones is the same."""
        versions = () if self.windows is None else (self.windows, np.array(self.averages))
        return digest_of(self.statistics.X, self.y, self.weights, self.groups, *versions)


def _are_versions(windows: np.ndarray, n_rows: int, n_windows: int) -> bool:
    steps = np.diff(windows, prepend=-1, append=n_windows)
    return windows.shape == (n_rows,) and bool(np.isin(steps, (0, 1)).all()) and bool(steps[:1] == 1)


def digest_of(*arrays: np.ndarray) -> str:
    """The same for arrays of the same types, shapes and values only."""
    digest = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def spread_rows(y: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, evenly spaced within each label; every label keeps one at least."""
    if len(y) <= most:
        return np.arange(len(y))
    labels = np.unique(y)
    each = max(1, most // len(labels))
    parts = [_thinned(np.flatnonzero(y == label), each) for label in labels]
    return np.sort(np.concatenate(parts))


def _thinned(rows: np.ndarray, most: int) -> np.ndarray:
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(int)]

"""What machines are trained on: rows of features with their pairwise statistics, labels, weights and groups."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.training.statistics import PairwiseStatistics


@dataclass(frozen=True, eq=False)
class Examples:
    """Training rows with their pairwise statistics, the label index `y`, weight and group of each."""

    statistics: PairwiseStatistics
    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, groups: np.ndarray | None = None
    ) -> Examples:
        """Weights default to one, groups to each example by itself."""
        n = len(y)
        if len(X) != n:
            raise ValueError(f"X has {len(X)} rows for {n} labels")
        codes = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
        return cls(PairwiseStatistics(X), np.asarray(y), np.ones(n) if weights is None else np.asarray(weights), codes)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the examples: what was computed from the same ones is the same."""
        return digest_of(self.statistics.X, self.y, self.weights, self.groups)


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

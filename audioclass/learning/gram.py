"""Pairwise statistics over groups of features: one distance for each group, scaled by its training mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.kernels.statistics import squared_distance


@dataclass(frozen=True, eq=False)
class GroupedDistance:
    """Squared distance within each group of columns over its mean on the training rows, averaged over the groups.

    exp(−γ · this) is a product of one Gaussian kernel for each group: no group is drowned by a larger one.
    """

    columns: tuple[np.ndarray, ...]
    scales: np.ndarray

    @classmethod
    def fit(cls, X: np.ndarray, groups: Sequence[str]) -> GroupedDistance:
        """Scales from training rows; a group that does not vary has scale 1."""
        names = np.asarray(groups)
        columns = tuple(np.flatnonzero(names == name) for name in dict.fromkeys(groups))
        means = np.array([squared_distance(X[:, c], X[:, c]).mean() for c in columns])
        return cls(columns, np.where(means > 0, means, 1.0))

    def between(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """(len(X), len(Y)) distances; exactly 0 on the diagonal where Y is X."""
        total = np.zeros((len(X), len(Y)), np.result_type(X, Y))
        for columns, scale in zip(self.columns, self.scales, strict=True):
            part = X[:, columns]
            total += squared_distance(part, part if Y is X else Y[:, columns]) / scale
        return total / len(self.columns)

"""A distance in which every group of features has the same say, fitted on training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.kernels.statistics import pairwise, squared_distance


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
        scaled: np.ndarray = X * self.factors.astype(X.dtype, copy=False)
        return scaled

    def between(self, X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
        """(len(X), len(Y)) distances; of X with itself, exactly 0 on the diagonal, where Y is left out."""
        return pairwise(squared_distance, self.apply(X), None if Y is None else self.apply(Y))

"""Stumps: one feature against one threshold, the best of all under weights that change from round to round.

Thresholds lie halfway between neighbouring values of a feature, and below all of them: a stump may be constant. Ties go
to the first feature, then to the lowest threshold (specification 14.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BELOW_ALL = np.finfo(np.float64).min
TIE = 1e-12  # of the whole weight: what rounding may turn around


@dataclass(frozen=True)
class Stump:
    """`side` where a feature is above the threshold, else the other side; sides are ±1."""

    feature: int
    threshold: float
    side: int

    def of(self, X: np.ndarray) -> np.ndarray:
        """The side of each row."""
        return np.where(X[:, self.feature] > self.threshold, self.side, -self.side)


class SortedFeatures:
    """The examples in the order of each feature, sorted once for all rounds.

    Cut m of a feature has its m smallest values below; it is a cut only where the values beside it differ.
    """

    def __init__(self, X: np.ndarray) -> None:
        self._order = np.argsort(X.T, axis=1, kind="stable")
        self._sorted = np.take_along_axis(X.T, self._order, axis=1)
        differs = self._sorted[:, :-1] < self._sorted[:, 1:]
        self._is_cut = np.pad(differs, ((0, 0), (1, 0)), constant_values=True)

    def best(self, y: np.ndarray, weights: np.ndarray) -> Stump:
        """The stump `s if x > t else -s` of the least weighted error; s = +1 where both are as good."""
        signed = weights * y
        margins = np.where(self._is_cut, signed.sum() - 2 * self._below(signed), 0.0)  # of s = +1
        best = np.abs(margins).max() - TIE
        feature, cut = self._first(np.abs(margins) >= best)
        s = 1 if margins[feature, cut] >= best else -1
        return Stump(feature, self._threshold(feature, cut), s)

    def _below(self, weights: np.ndarray) -> np.ndarray:
        """The weight below each cut of each feature, (d, n)."""
        return np.pad(np.cumsum(weights[self._order[:, :-1]], axis=1), ((0, 0), (1, 0)))

    @staticmethod
    def _first(is_best: np.ndarray) -> tuple[int, int]:
        feature, cut = np.unravel_index(is_best.argmax(), is_best.shape)
        return int(feature), int(cut)

    def _threshold(self, feature: int, cut: int) -> float:
        if cut == 0:
            return float(BELOW_ALL)
        low, high = map(float, self._sorted[feature, cut - 1 : cut + 1])
        middle = low + (high - low) / 2
        return middle if middle < high else low  # nothing lies between two neighbouring floats

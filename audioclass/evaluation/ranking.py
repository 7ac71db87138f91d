"""How well scores put the right examples first: ROC curves and the area under them (specification 15)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from audioclass.evaluation.confusion import mean_of_defined


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per distinct score, from (0, 0) to (1, 1): at and above `thresholds[i]` examples are called positive.

    Rates are NaN where there are only positive or only negative examples.
    """

    false_positive_rates: np.ndarray
    true_positive_rates: np.ndarray
    thresholds: np.ndarray

    @property
    def area(self) -> float:
        """By trapezoids: P(score of a positive > of a negative) + ½P(equal); NaN where one side is missing."""
        return float(np.trapezoid(self.true_positive_rates, self.false_positive_rates))

    def corners(self) -> Roc:
        """The same curve without the points that lie on the straight line between their neighbours."""
        x, y = self.false_positive_rates, self.true_positive_rates
        turns = np.diff(x[:-1]) * np.diff(y[1:]) != np.diff(y[:-1]) * np.diff(x[1:])
        kept = np.concatenate([[True], turns, [True]])
        return Roc(x[kept], y[kept], self.thresholds[kept])


@dataclass(frozen=True, eq=False)
class Ranking:
    """Examples by falling score, sorted once for any number of weightings."""

    order: np.ndarray
    positive: np.ndarray
    ends: np.ndarray
    thresholds: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray) -> Ranking:
        """`positive` is true for the examples that should come first."""
        order = np.argsort(-np.asarray(scores, float), kind="stable")
        falling = np.asarray(scores, float)[order]
        ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True)[: len(order)])
        return cls(order, np.asarray(positive, bool)[order], ends, falling[ends])

    def curve(self, weights: np.ndarray | None = None) -> Roc:
        """The curve when each example counts as much as its weight."""
        weights = np.ones(len(self.order)) if weights is None else np.asarray(weights, float)[self.order]
        hits, alarms = _rising(weights * self.positive, self.ends), _rising(weights * ~self.positive, self.ends)
        return Roc(_share(alarms), _share(hits), np.concatenate([[np.inf], self.thresholds]))


def roc_curve(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> Roc:
    """The receiver operating characteristic of one score."""
    return Ranking.of(scores, positive).curve(weights)


def auc(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Area under the curve, in [0, 1]; NaN with positive or negative examples only."""
    return roc_curve(scores, positive, weights).area


def label_aucs(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Area of each label against all others, (n_labels,); NaN for a label without examples or without others."""
    return np.array([auc(P[:, label], y == label, weights) for label in range(P.shape[1])])


def one_vs_rest_auc(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of the areas of the labels that have one."""
    return mean_of_defined(label_aucs(P, y, weights))


def hand_till_auc(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean over pairs of labels of their two areas, each among the examples of the pair (Hand and Till 2001).

    Does not depend on how frequent the labels are; pairs without examples on one side are left out.
    """
    pairs = combinations(range(P.shape[1]), 2)
    return mean_of_defined(np.array([_pair_auc(P, y, weights, *pair) for pair in pairs]))


def _pair_auc(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None, first: int, second: int) -> float:
    rows = (y == first) | (y == second)
    weights = None if weights is None else weights[rows]
    return (auc(P[rows, first], y[rows] == first, weights) + auc(P[rows, second], y[rows] == second, weights)) / 2


def _rising(weights: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(weights)[ends]])


def _share(rising: np.ndarray) -> np.ndarray:
    return rising / rising[-1] if rising[-1] > 0 else np.full(len(rising), np.nan)

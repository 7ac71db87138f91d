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
        corners = np.concatenate([[True], turns, [True]])
        return Roc(x[corners], y[corners], self.thresholds[corners])


def roc_curve(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> Roc:
    """The receiver operating characteristic of one score; `positive` are the examples that should come first."""
    order = np.argsort(-scores, kind="stable")
    falling, positive = scores[order], np.asarray(positive, bool)[order]
    weights = np.ones(len(order)) if weights is None else np.asarray(weights, float)[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True)[: len(order)])
    hits, alarms = _rising(weights * positive, ends), _rising(weights * ~positive, ends)
    return Roc(_share(alarms), _share(hits), np.concatenate([[np.inf], falling[ends]]))


def auc(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Area under the curve, in [0, 1]; NaN with positive or negative examples only."""
    return roc_curve(scores, positive, weights).area


@dataclass(frozen=True, eq=False)
class LabelRankings:
    """Examples by falling posterior of each label, sorted once for any number of weightings.

    Column k of `order` and `negative` belongs to label k; `before` and `after` are where the examples that tie with
    example i in the column of its own label begin and end.
    """

    y: np.ndarray
    order: np.ndarray
    negative: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @classmethod
    def of(cls, P: np.ndarray, y: np.ndarray) -> LabelRankings:
        """Rankings by posteriors `P` against the reference indices `y`."""
        order = np.argsort(-P, axis=0, kind="stable")
        before, after = np.zeros((2, len(y)), int)
        for label in range(P.shape[1]):
            mine, column = y == label, -P[:, label]
            before[mine] = np.searchsorted(column[order[:, label]], column[mine], "left")
            after[mine] = np.searchsorted(column[order[:, label]], column[mine], "right")
        return cls(y, order, y[order] != np.arange(P.shape[1]), before, after)

    def areas(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Area of each label against all others, (n_labels,); NaN for a label without examples or without others."""
        weights = np.ones(len(self.y)) if weights is None else np.asarray(weights, float)
        n, n_labels = self.order.shape
        rising = np.zeros((n + 1, n_labels))
        np.cumsum(weights[self.order] * self.negative, axis=0, out=rising[1:])
        others = rising[-1]
        beaten = others[self.y] - (rising[self.before, self.y] + rising[self.after, self.y]) / 2
        hits = np.bincount(self.y, weights * beaten, n_labels)
        pairs = np.bincount(self.y, weights, n_labels) * others
        return np.asarray(np.divide(hits, pairs, where=pairs > 0, out=np.full(n_labels, np.nan)))


def label_aucs(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Area of each label against all others, (n_labels,); NaN for a label without examples or without others."""
    return LabelRankings.of(P, y).areas(weights)


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

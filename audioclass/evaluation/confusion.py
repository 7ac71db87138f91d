"""What can be counted of decisions: the confusion matrix and everything that follows from it (specification 15).

Rows are the reference, columns what was estimated, both in the full order of labels. A ratio of nothing to nothing is
`undefined` (0 unless told otherwise) and flagged, so that nobody takes it for a measured 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class LabelRates:
    """Each label against all others, one entry per label; `flags` say which rates had nothing to divide by."""

    support: np.ndarray
    estimated: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f: np.ndarray
    false_positive_rate: np.ndarray
    flags: dict[str, np.ndarray]

    @property
    def occurs(self) -> np.ndarray:
        """Labels that stand in the reference or among the estimated."""
        return (self.support > 0) | (self.estimated > 0)


def confusion_matrix(
    y: np.ndarray, estimated: np.ndarray, n_labels: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Counts, or sums of weights, of each pair of reference and estimated label: (n_labels, n_labels)."""
    cells = np.bincount(np.asarray(y) * n_labels + estimated, weights, minlength=n_labels**2)
    return cells.reshape(n_labels, n_labels)


def accuracy(confusion: np.ndarray) -> float:
    """The part of all examples that is right; NaN without examples."""
    return _part(np.trace(confusion), confusion.sum())


def balanced_accuracy(confusion: np.ndarray) -> float:
    """Mean recall over the labels that have examples: the accuracy if all were equally frequent."""
    present = confusion.sum(axis=1) > 0
    return mean_of_defined(np.divide(confusion.diagonal(), confusion.sum(axis=1), where=present, out=_nans(present)))


def label_rates(confusion: np.ndarray, beta: float = 1.0, undefined: float = 0.0) -> LabelRates:
    """Precision TP/(TP+FP), recall TP/P, false positives FP/N and F_β of each label against the rest."""
    hits, support, estimated = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    ratios = {
        "precision": (hits, estimated),
        "recall": (hits, support),
        "f": ((1 + beta**2) * hits, beta**2 * support + estimated),
        "false_positive_rate": (estimated - hits, confusion.sum() - support),
    }
    rates = {name: _ratio(above, below, undefined) for name, (above, below) in ratios.items()}
    flags = {name: below <= 0 for name, (_, below) in ratios.items()}
    return LabelRates(support, estimated, **rates, flags=flags)


def macro(rates: LabelRates, name: str, over: np.ndarray | None = None) -> float:
    """Mean of a rate over all labels of the list, each counting the same; NaN without examples.

    A label that nothing has and nothing is taken for counts too, with what is `undefined`: 0, as in scikit-learn with
    `labels=` and `zero_division=0`. `over` is a mask of labels to take instead of all.
    """
    if not rates.support.sum() > 0:
        return float("nan")
    values = getattr(rates, name)
    return mean_of_defined(values if over is None else values[over])


def weighted(rates: LabelRates, name: str) -> float:
    """Mean of a rate over the labels, each counting as often as it has examples; NaN without any."""
    return _part(rates.support @ getattr(rates, name), rates.support.sum())


def micro_f(confusion: np.ndarray, beta: float = 1.0) -> float:
    """F_β of the hits, misses and false alarms of all labels added up; with one label each, the accuracy."""
    hits = confusion.diagonal()
    misses, alarms = (confusion.sum(axis=1) - hits).sum(), (confusion.sum(axis=0) - hits).sum()
    above = (1 + beta**2) * hits.sum()
    return _part(above, above + beta**2 * misses + alarms)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """(1+β²)PR/(β²P+R); 0 where both are 0."""
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below > 0 else 0.0


def mean_of_defined(values: np.ndarray) -> float:
    """Mean of the values that are not NaN; NaN where all are."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _part(above: float, below: float) -> float:
    return float(above / below) if below > 0 else float("nan")


def _ratio(above: np.ndarray, below: np.ndarray, undefined: float) -> np.ndarray:
    return np.asarray(np.divide(above, below, where=below > 0, out=np.full(len(above), undefined, float)))


def _nans(like: np.ndarray) -> np.ndarray:
    return np.full(len(like), np.nan)

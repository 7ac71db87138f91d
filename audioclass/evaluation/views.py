"""All measures of one kind of example, windows or recordings, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.evaluation.bootstrap import Interval, Resampling, bootstrap
from audioclass.evaluation.calibration import Reliability, label_reliability, top_label_reliability
from audioclass.evaluation.confusion import LabelRates, confusion_matrix, label_rates, mean_of_defined
from audioclass.evaluation.formatting import (
    plain_interval,
    plain_measure,
    plain_mistake,
    plain_number,
    plain_reliability,
    plain_roc,
    shown,
    shown_interval,
)
from audioclass.evaluation.labels import LABEL_MEASURES, label_measures
from audioclass.evaluation.mistakes import N_MISTAKES, Mistake, worst_mistakes
from audioclass.evaluation.predictions import Predictions
from audioclass.evaluation.ranking import Roc, hand_till_auc, roc_curve
from audioclass.evaluation.summary import MEASURES, OF_AREAS, summary_measures


@dataclass(frozen=True)
class Measure:
    """A value and the interval that goes with it; NaN where undefined."""

    value: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class View:
    """All measures of one kind of example: windows or recordings.

    `measures` is keyed by the names of `summary.MEASURES`, `label_intervals` by those of `labels.LABEL_MEASURES` and
    the index of a label; `curves` and `label_reliability` have one entry per label.
    """

    unit: str
    labels: tuple[str, ...]
    n_examples: int
    n_groups: int
    measures: Mapping[str, Measure]
    confusion: np.ndarray
    rates: LabelRates
    label_intervals: Mapping[tuple[str, int], Interval]
    curves: tuple[Roc, ...]
    reliability: Reliability
    label_reliability: tuple[Reliability, ...]
    mistakes: tuple[Mistake, ...]

    def value(self, name: str) -> float:
        """The value of one measure."""
        return self.measures[name].value

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and interval of each measure, as a table shows them."""
        return [
            (MEASURES[name], shown(each.value), shown_interval(each.interval)) for name, each in self.measures.items()
        ]

    def label_rows(self) -> list[tuple[str, ...]]:
        """Label, examples, precision, recall, F1, AUC and ECE of each label, as a table shows them."""
        return [
            (row["label"], f"{row['support']:g}", *(shown(row[name]) for name in LABEL_MEASURES))
            for row in self.label_table()
        ]

    def label_table(self) -> list[dict[str, Any]]:
        """The measures of each label against the rest; None where undefined, `undefined` names what is 0 for 0/0."""
        return [self._label(index) for index in range(len(self.labels))]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only, as JSON holds them; what is undefined is None."""
        return {
            "unit": self.unit,
            "n_examples": self.n_examples,
            "n_groups": self.n_groups,
            "measures": {name: plain_measure(each.value, each.interval) for name, each in self.measures.items()},
            "confusion": self.confusion.tolist(),
            "labels": self.label_table(),
            "reliability": plain_reliability(self.reliability),
            "label_reliability": [plain_reliability(each) for each in self.label_reliability],
            "roc": [plain_roc(each) for each in self.curves],
            "mistakes": [plain_mistake(each) for each in self.mistakes],
        }

    def _label(self, index: int) -> dict[str, Any]:
        rates = self.rates
        return {
            "label": self.labels[index],
            "support": float(rates.support[index]),
            "precision": float(rates.precision[index]),
            "recall": float(rates.recall[index]),
            "f1": float(rates.f[index]),
            "auc": plain_number(self.curves[index].area),
            "calibration_error": plain_number(self.label_reliability[index].error),
            "false_positive_rate": float(rates.false_positive_rate[index]),
            "undefined": [name for name, flags in rates.flags.items() if flags[index]],
            "intervals": {name: plain_interval(self.label_intervals[name, index]) for name in LABEL_MEASURES},
        }


def view_of(
    predictions: Predictions,
    unit: str,
    paths: Sequence[Sequence[str]] = (),
    resampling: Resampling | None = None,
    most_mistakes: int = N_MISTAKES,
) -> View:
    """All measures of some predictions; `unit` is what one of them is."""
    y, P, weights, indices = predictions.y, predictions.P, predictions.weights, range(len(predictions.labels))
    confusion = confusion_matrix(y, predictions.estimated, len(indices), weights)
    measures, label_intervals = _measures(predictions, paths, resampling or Resampling())
    return View(
        unit,
        predictions.labels,
        len(predictions),
        len(np.unique(predictions.groups)),
        measures,
        confusion,
        label_rates(confusion),
        label_intervals,
        tuple(roc_curve(P[:, label], y == label, weights) for label in indices),
        top_label_reliability(P, y, predictions.estimated, weights),
        tuple(label_reliability(P, y, label, weights) for label in indices),
        worst_mistakes(predictions, most_mistakes),
    )


def _measures(
    predictions: Predictions, paths: Sequence[Sequence[str]], resampling: Resampling
) -> tuple[dict[str, Measure], dict[tuple[str, int], Interval]]:
    """The measures of all labels together, and the intervals of each label, from the same resamples."""
    drawn = _drawn(predictions, paths)
    intervals, values = bootstrap(drawn, predictions.groups, resampling), drawn(np.ones(len(predictions)))
    # Too slow to draw again and again.
    values["auc_pairs"] = hand_till_auc(predictions.P, predictions.y, predictions.weights)
    intervals["auc_pairs"] = Interval.unknown(resampling.level)
    together = {name: Measure(values[name], intervals[name]) for name in MEASURES if name in values}
    return together, {key: interval for key, interval in intervals.items() if isinstance(key, tuple)}


def _drawn(predictions: Predictions, paths: Sequence[Sequence[str]]) -> Callable[[np.ndarray], dict[Any, float]]:
    """All measures of a resample; the areas of labels, the slowest of it, serve their mean as well."""
    summary, of_labels = summary_measures(predictions, paths, set(MEASURES) - OF_AREAS), label_measures(predictions)

    def measures(multiplicities: np.ndarray) -> dict[Any, float]:
        each = of_labels(multiplicities)
        areas = np.array([each["auc", label] for label in range(len(predictions.labels))])
        return each | summary(multiplicities) | {"auc_one_vs_rest": mean_of_defined(areas)}

    return measures

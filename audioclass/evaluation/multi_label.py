"""Labels of which several hold at once, measured window by window: each against its absence, and all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audioclass.evaluation.bootstrap import Interval, Resampling, bootstrap
from audioclass.evaluation.formatting import plain_measure, plain_number, shown, shown_interval
from audioclass.evaluation.paired import HypothesisTest, wilcoxon
from audioclass.evaluation.views import Measure
from audioclass.numerics import independent_log_losses

MEASURES = {
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "mean_average_precision": "mean average precision",
    "exact_match": "all labels right",
    "log_loss": "log-loss",
}
OF_LABELS = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "average_precision": "average precision",
    "threshold": "threshold",
}


IN_TIME = {
    "segment_based": "by the second",
    "event_based": "by event",
    "psds_1": "PSDS, scenario 1",
    "psds_2": "PSDS, scenario 2",
}


@dataclass(frozen=True, eq=False)
class MultiLabelView:
    """The measures of windows; `of_labels` has for each of `OF_LABELS` a value for each label, NaN where undefined."""

    labels: tuple[str, ...]
    n_examples: int
    n_groups: int
    measures: Mapping[str, Measure]
    of_labels: Mapping[str, np.ndarray]
    support: np.ndarray
    unit: str = "window"

    def value(self, name: str) -> float:
        """The value of one measure."""
        return self.measures[name].value

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and interval of each measure, as a table shows them."""
        both = ((MEASURES[name], each) for name, each in self.measures.items())
        return [(name, shown(each.value), shown_interval(each.interval)) for name, each in both]

    def label_rows(self) -> list[tuple[str, ...]]:
        """Label, windows that hold it, and its measures, as a table shows them."""
        return [
            (label, f"{self.support[k]:g}", *(shown(float(self.of_labels[name][k])) for name in OF_LABELS))
            for k, label in enumerate(self.labels)
        ]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only, as JSON holds them; what is undefined is None."""
        table = [
            {"label": label, "support": float(self.support[k])}
            | {name: plain_number(float(self.of_labels[name][k])) for name in OF_LABELS}
            for k, label in enumerate(self.labels)
        ]
        return {
            "unit": self.unit,
            "n_examples": self.n_examples,
            "n_groups": self.n_groups,
            "measures": {name: plain_measure(each.value, each.interval) for name, each in self.measures.items()},
            "labels": table,
        }


@dataclass(frozen=True, eq=False)
class MultiLabelEvaluation:
    """What is known of a multi-label system: its windows, and `in_time` what its segments are worth, where they are.

    The latter are plain figures under their names, such as those of `SegmentScores.to_plain`.
    """

    windows: MultiLabelView
    resampling: Resampling
    in_time: Mapping[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The single labels."""
        return self.windows.labels

    @property
    def main(self) -> MultiLabelView:
        """The windows."""
        return self.windows

    @property
    def views(self) -> tuple[MultiLabelView, ...]:
        """The windows alone."""
        return (self.windows,)

    def to_plain(self) -> dict[str, Any]:
        """Plain values only, as JSON holds them."""
        drawn = {"over": "groups", "n_resamples": self.resampling.n_resamples, "level": self.resampling.level}
        return {
            "labels": list(self.labels),
            "multi_label": True,
            "intervals": drawn | {"seed": self.resampling.seed},
            "windows": self.windows.to_plain(),
            **({"in_time": dict(self.in_time)} if self.in_time else {}),
        }


def in_time_rows(evaluation: MultiLabelEvaluation) -> list[tuple[str, str]]:
    """Name and value of every figure of segments, as a table shows them."""
    rows = []
    for name, figures in evaluation.in_time.items():
        if not isinstance(figures, Mapping):
            rows.append((IN_TIME.get(name, name), shown(figures)))
            continue
        for kind, text in (("macro_f1", "macro F1"), ("micro_f1", "micro F1")):
            rows.append((f"{IN_TIME.get(name, name)}, {text}", shown(figures[kind])))
        for label, of_label in figures["labels"].items():
            rows.append((f"{IN_TIME.get(name, name)}, F1 of {label}", shown(of_label["f1"])))
    return rows


def evaluate_labels(
    labels: Sequence[str],
    holds: np.ndarray,
    P: np.ndarray,
    thresholds: np.ndarray,
    groups: np.ndarray,
    resampling: Resampling | None = None,
) -> MultiLabelEvaluation:
    """Measure independent probabilities `P` (n, n_labels) of windows against which labels truly hold in each.

    `thresholds` are (n_labels,), or (n, n_labels) where windows were told by different models.
    """
    resampling = resampling or Resampling()
    measures = _measures(holds, P, thresholds)
    values, intervals = measures(np.ones(len(P))), bootstrap(measures, groups, resampling)
    of_labels = _rates(holds, thresholds <= P, np.ones(len(P)))
    of_labels["average_precision"] = np.array([average_precision(p, h) for p, h in zip(P.T, holds.T, strict=True)])
    of_labels["threshold"] = np.atleast_2d(np.asarray(thresholds, float)).mean(axis=0)
    view = MultiLabelView(
        tuple(labels),
        len(P),
        len(np.unique(groups)),
        {name: Measure(values[name], intervals.get(name, Interval.unknown(resampling.level))) for name in MEASURES},
        of_labels,
        holds.sum(axis=0),
    )
    return MultiLabelEvaluation(view, resampling)


@dataclass(frozen=True, eq=False)
class LabelPredictions:
    """What a multi-label system said of windows: (n, n_labels) probabilities `P` beside what `holds`.

    `thresholds` are as `evaluate_labels` takes them; `groups` and `files` say for each window what it is of.
    """

    labels: tuple[str, ...]
    holds: np.ndarray
    P: np.ndarray
    thresholds: np.ndarray
    groups: np.ndarray
    files: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.P)

    def measures(self, only: str | None = None) -> Callable[[np.ndarray], dict[str, float]]:
        """All measures of a resample, or one of them."""
        every = _measures(self.holds, self.P, self.thresholds)
        if only != "mean_average_precision":
            return every
        return lambda multiplicities: {only: _mean_average_precision(self.holds, self.P, multiplicities)}

    def tests_against(self, other: LabelPredictions) -> dict[str, HypothesisTest]:
        """Wilcoxon's, of the mean log-loss of each recording: its windows are no independent trials."""
        place = np.unique(self.files, return_inverse=True)[1]
        losses = (independent_log_losses(each.P, each.holds) for each in (self, other))
        first, second = (np.bincount(place, of) / np.bincount(place) for of in losses)
        return {"wilcoxon_log_loss": wilcoxon(first - second)}


def average_precision(scores: np.ndarray, holds: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Σ (R_i − R_{i−1}) P_i over the thresholds that scores have, from the highest; NaN where nothing holds.

    >>> average_precision(np.array([0.9, 0.8, 0.7]), np.array([True, False, True])).__round__(4)
    0.8333
    """
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    hits, given = np.cumsum((weights * holds)[order]), np.cumsum(weights[order])
    if not len(scores) or hits[-1] <= 0:
        return float("nan")
    ends = np.append(np.diff(scores[order]) != 0, True) & (given > 0)
    recalls = np.diff(hits[ends], prepend=0.0) / hits[-1]
    return float(np.sum(recalls * hits[ends] / given[ends]))


def _measures(holds: np.ndarray, P: np.ndarray, thresholds: np.ndarray) -> Callable[[np.ndarray], dict[str, float]]:
    """All measures of a resample."""
    given = thresholds <= P
    is_exact = (given == holds).all(axis=1)
    losses = independent_log_losses(P, holds)

    def measures(multiplicities: np.ndarray) -> dict[str, float]:
        weights = np.asarray(multiplicities, float)
        rates, total = _rates(holds, given, weights), weights.sum()
        hits, n_given, n_true = ((weights @ each).sum() for each in (given & holds, given, holds))
        return {
            "macro_f1": _mean(rates["f1"]),
            "micro_f1": 2 * hits / (n_given + n_true) if n_given + n_true else float("nan"),
            "mean_average_precision": _mean_average_precision(holds, P, weights),
            "exact_match": float(weights @ is_exact / total),
            "log_loss": float(weights @ losses / total),
        }

    return measures


def _rates(holds: np.ndarray, given: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Precision, recall and F1 of each label; NaN for 0/0, F1 where neither reference nor estimate has it."""
    hits, n_given, n_true = (weights @ each for each in (given & holds, given, holds))
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"precision": hits / n_given, "recall": hits / n_true, "f1": 2 * hits / (n_given + n_true)}


def _mean_average_precision(holds: np.ndarray, P: np.ndarray, weights: np.ndarray) -> float:
    return _mean(np.array([average_precision(p, h, weights) for p, h in zip(P.T, holds.T, strict=True)]))


def _mean(values: np.ndarray) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")

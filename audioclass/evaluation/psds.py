"""The polyphonic sound detection score: how many events are found at how many false alarms, over all thresholds.

Bilen and others, A framework for the robust evaluation of sound event detection, 2020, as psds_eval computes it. A
detection counts where references of its label cover a share of it (detection tolerance); a reference is found where
such detections cover a share of it (ground truth intersection). Any other detection is a false alarm, and triggered by
another label too where that covers a share of it (cross-trigger tolerance).

Every threshold of a system is an operating point. The score is the area below the mean over labels of the share that is
found, less their spread, against false alarms an hour, up to a limit and over that limit: 1 is perfect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.data import Segment
from audioclass.evaluation.detection import Events

HOUR = 3600.0


@dataclass(frozen=True)
class PsdsSetting:
    """The tolerances, the costs of cross-triggers and of uneven labels, and the most false alarms an hour."""

    detection: float = 0.5
    ground_truth: float = 0.5
    cross_trigger: float = 0.3
    cross_trigger_cost: float = 0.0
    instability_cost: float = 0.0
    most_false_alarms: float = 100.0


# The two of DCASE: times that are right, and labels that are.
SCENARIOS = {
    "psds_1": PsdsSetting(0.7, 0.7, instability_cost=1.0),
    "psds_2": PsdsSetting(0.1, 0.1, 0.3, 0.5, 1.0),
}


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The share of each label's references that was found, and its effective false alarms an hour, (n_labels,) each."""

    found_share: np.ndarray
    false_alarms: np.ndarray


def operating_point(
    reference: Events,
    detected: Events,
    labels: Sequence[str],
    seconds: Mapping[str, float],
    setting: PsdsSetting,
) -> OperatingPoint:
    """What detections at one threshold are worth; segments of one label must not overlap, see `merged`.

    `seconds` is the length of every recording. A label without reference has a share of NaN.
    """
    n = len(labels)
    hits, n_reference, alarms = np.zeros(n), np.zeros(n), np.zeros(n)
    crossed, label_seconds = np.zeros((n, n)), np.zeros(n)
    for file in seconds:
        references = [_times(reference.get(file, ()), label) for label in labels]
        detections = [_times(detected.get(file, ()), label) for label in labels]
        label_seconds += [np.diff(each).sum() for each in references]
        n_reference += [len(each) for each in references]
        for k in range(n):
            n_hits, wrong = _matched(detections[k], references[k], setting)
            hits[k] += n_hits
            alarms[k] += ((wrong[:, 0] < seconds[file]) & (wrong[:, 1] > 0)).sum()
            crossed[k] += [_n_triggered(wrong, each, setting) if j != k else 0 for j, each in enumerate(references)]
    rates = alarms * HOUR / sum(seconds.values())
    with np.errstate(invalid="ignore", divide="ignore"):
        found_share, triggers = hits / n_reference, crossed * HOUR / label_seconds
    others_than_itself = ~np.eye(n, dtype=bool) & (label_seconds > 0)
    counts = np.maximum(others_than_itself.sum(axis=1), 1)
    mean_triggers = np.where(others_than_itself, triggers, 0.0).sum(axis=1) / counts
    return OperatingPoint(found_share, rates + setting.cross_trigger_cost * mean_triggers)


def _matched(detections: np.ndarray, references: np.ndarray, setting: PsdsSetting) -> tuple[int, np.ndarray]:
    """How many references of a label are found in a recording, and its detections that find none."""
    shared = _shared(detections, references)
    is_tolerable = shared.sum(axis=1) >= setting.detection * np.diff(detections)[:, 0]
    covered = shared[is_tolerable].sum(axis=0)
    is_found = _has(shared[is_tolerable]) & (covered >= _least(references, setting.ground_truth))
    return int(is_found.sum()), detections[~is_tolerable]


def _n_triggered(wrong: np.ndarray, references: np.ndarray, setting: PsdsSetting) -> int:
    """How many wrong detections references of another label triggered."""
    shared = _shared(wrong, references)
    is_crossed = shared.sum(axis=1) >= setting.cross_trigger * np.diff(wrong)[:, 0]
    return int((is_crossed & (shared > 0).any(axis=1)).sum())


def psds(points: Sequence[OperatingPoint], setting: PsdsSetting) -> float:
    """The score from 0 to 1 of a system whose operating points these are."""
    x = np.unique(np.concatenate([[0.0], *(point.false_alarms for point in points)]))
    shares = np.stack([point.found_share for point in points], axis=1)  # (n_labels, n_points)
    alarms = np.stack([point.false_alarms for point in points], axis=1)
    known = np.isfinite(shares).all(axis=1)
    curves = np.stack([_staircase(x, *both) for both in zip(alarms[known], shares[known], strict=True)])
    y = np.maximum(curves.mean(axis=0) - setting.instability_cost * curves.std(axis=0), 0.0)
    edges = np.append(x[x < setting.most_false_alarms], setting.most_false_alarms)
    return float(np.diff(edges) @ y[: len(edges) - 1] / setting.most_false_alarms)


def _staircase(x: np.ndarray, alarms: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The largest share that is found at no more false alarms than each of x; 0 before the first point."""
    order = np.argsort(alarms, kind="stable")
    best = np.maximum.accumulate(shares[order])
    place = np.searchsorted(alarms[order], x, side="right") - 1
    return np.where(place >= 0, best[np.maximum(place, 0)], 0.0)


def _times(segments: Sequence[Segment], label: str) -> np.ndarray:
    """(n, 2) starts and ends of the segments of a label that last."""
    times = [(one.start, one.end) for one in segments if one.label == label and one.end > one.start]
    return np.array(times).reshape(len(times), 2)


def _shared(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n, m): the seconds that each of some segments shares with each of others."""
    shared = np.minimum(one[:, None, 1], other[:, 1]) - np.maximum(one[:, None, 0], other[:, 0])
    return np.asarray(np.maximum(shared, 0.0))


def _has(shared: np.ndarray) -> np.ndarray:
    return np.asarray((shared > 0).any(axis=0))


def _least(references: np.ndarray, share: float) -> np.ndarray:
    return np.asarray(share * np.diff(references)[:, 0])

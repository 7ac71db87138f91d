"""Segments that were detected against those of a reference: by the second, and event by event, as sed_eval counts them.

Mesaros, Heittola and Virtanen, Metrics for polyphonic sound event detection, 2016. Segment-based: time is cut into
stretches of a second, and a label holds in each that one of its segments touches. Event-based: a detected segment is a
hit where its onset lies within 0.2 s of a reference of its label, and its offset within 0.2 s or a fifth of the length
of that, whichever is longer; no two share one, and as many as can be are matched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.data import Segment
from audioclass.evaluation.formatting import plain_number

RESOLUTION = 1.0
COLLAR = 0.2
SHARE_OF_LENGTH = 0.2

Events = Mapping[str, Sequence[Segment]]  # by recording


@dataclass(frozen=True, eq=False)
class DetectionCounts:
    """For each label how many were right, are in the reference, and were detected, (n_labels,) each."""

    labels: tuple[str, ...]
    hits: np.ndarray
    n_reference: np.ndarray
    n_detected: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        """Of each label; NaN where nothing was detected."""
        return _ratio(self.hits, self.n_detected)

    @property
    def recall(self) -> np.ndarray:
        """Of each label; NaN where there is nothing to detect."""
        return _ratio(self.hits, self.n_reference)

    @property
    def f1(self) -> np.ndarray:
        """Of each label; NaN where there is nothing to detect and nothing was, 0 where all was missed."""
        return _ratio(2 * self.hits, self.n_reference + self.n_detected)

    @property
    def macro_f1(self) -> float:
        """The mean over labels."""
        defined = self.f1[np.isfinite(self.f1)]
        return float(defined.mean()) if len(defined) else float("nan")

    @property
    def micro_f1(self) -> float:
        """Of all labels together."""
        sums = (np.atleast_1d(each.sum()) for each in (2 * self.hits, self.n_reference + self.n_detected))
        return float(_ratio(*sums)[0])

    def to_plain(self) -> dict[str, Any]:
        """Plain values, as JSON holds them; None where undefined."""
        columns = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        of_labels = {
            label: {name: plain_number(values[k]) for name, values in columns.items()}
            for k, label in enumerate(self.labels)
        }
        together = {"macro_f1": plain_number(self.macro_f1), "micro_f1": plain_number(self.micro_f1)}
        return together | {"labels": of_labels}


def segment_based(
    reference: Events, detected: Events, labels: Sequence[str], resolution: float = RESOLUTION
) -> DetectionCounts:
    """Stretches of `resolution` seconds in which each label holds in the reference, was detected, and both.

    >>> counts = segment_based({"": [Segment(0, 2, "a")]}, {"": [Segment(1.5, 3.5, "a")]}, ["a"])
    >>> counts.hits, counts.n_reference, counts.n_detected
    (array([1.]), array([2.]), array([3.]))
    """
    hits, n_reference, n_detected = np.zeros((3, len(labels)))
    for file in dict.fromkeys([*reference, *detected]):
        rolls = [_roll(events.get(file, ()), labels, resolution) for events in (reference, detected)]
        length = max(map(len, rolls))
        one, other = (np.pad(roll, ((0, length - len(roll)), (0, 0))) for roll in rolls)
        hits += (one & other).sum(axis=0)
        n_reference += one.sum(axis=0)
        n_detected += other.sum(axis=0)
    return DetectionCounts(tuple(labels), hits, n_reference, n_detected)


def event_based(
    reference: Events,
    detected: Events,
    labels: Sequence[str],
    collar: float = COLLAR,
    share_of_length: float = SHARE_OF_LENGTH,
) -> DetectionCounts:
    """Segments of each label that were detected, each within a collar of its reference."""
    hits, n_reference, n_detected = np.zeros((3, len(labels)))
    for file in dict.fromkeys([*reference, *detected]):
        for k, label in enumerate(labels):
            sides = [[one for one in events.get(file, ()) if one.label == label] for events in (reference, detected)]
            n_reference[k] += len(sides[0])
            n_detected[k] += len(sides[1])
            hits[k] += _matched(_times(sides[0]), _times(sides[1]), collar, share_of_length)
    return DetectionCounts(tuple(labels), hits, n_reference, n_detected)


def merged(segments: Sequence[Segment]) -> list[Segment]:
    """The same time with no two segments of one label that overlap or touch, in order of time."""
    joined: list[Segment] = []
    last: dict[str, int] = {}
    for one in sorted(segments, key=lambda segment: (segment.start, segment.end)):
        at = last.get(one.label)
        if at is not None and one.start <= joined[at].end:
            joined[at] = Segment(joined[at].start, max(joined[at].end, one.end), one.label)
        else:
            last[one.label] = len(joined)
            joined.append(one)
    return joined


def _roll(segments: Sequence[Segment], labels: Sequence[str], resolution: float) -> np.ndarray:
    """(n_stretches, n_labels): where each label holds, in every stretch that one of its segments touches."""
    end = max((segment.end for segment in segments), default=0.0)
    roll = np.zeros((math.ceil(end / resolution), len(labels)), bool)
    place = {label: k for k, label in enumerate(labels)}
    for one in segments:
        if one.label in place:
            roll[math.floor(one.start / resolution) : math.ceil(one.end / resolution), place[one.label]] = True
    return roll


def _times(segments: Sequence[Segment]) -> np.ndarray:
    return np.array([(one.start, one.end) for one in segments]).reshape(len(segments), 2)


def _matched(reference: np.ndarray, detected: np.ndarray, collar: float, share_of_length: float) -> int:
    """How many pairs can be made of which none shares a segment with another."""
    if not len(reference) or not len(detected):
        return 0
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    gaps = np.abs(reference[:, None] - detected)
    allowed = np.maximum(collar, share_of_length * (reference[:, 1] - reference[:, 0]))[:, None]
    fits = (gaps[:, :, 0] <= collar) & (gaps[:, :, 1] <= allowed)
    return int((maximum_bipartite_matching(csr_array(fits), perm_type="column") >= 0).sum())


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """NaN where there is nothing to divide by."""
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))

"""From a recording's windows to the table that formats write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from audioclass.contracts import Smoother
from audioclass.data import Posteriors, Result
from audioclass.segmentation.back_off import BackOffPath
from audioclass.segmentation.segments import ClassifiedSegment, Segmenter
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.taxonomy import Taxonomy


class SegmentStream:
    """Smoothing and segmentation of one recording's windows as they come."""

    def __init__(
        self,
        labels: Sequence[str],
        smoother: Smoother,
        taxonomy: Taxonomy | None = None,
        *,
        min_duration: float = 0.0,
        threshold: float = 0.0,
    ) -> None:
        self._windows = WindowSmoother(smoother, labels)
        self._segments = Segmenter(BackOffPath(labels, taxonomy, threshold), min_duration)

    def push(self, posteriors: Posteriors) -> list[ClassifiedSegment]:
        """Take in the next windows; give the segments that are final."""
        return self._segments.push(self._windows.push(posteriors))

    def finish(self) -> list[ClassifiedSegment]:
        """The segments that were not final, at the end of the recording."""
        return [*self._segments.push(self._windows.finish()), *self._segments.finish()]


def classified_windows(windows: Posteriors, path: BackOffPath) -> list[ClassifiedSegment]:
    """Every window by itself, called by the label of its largest posterior or by what the path says instead."""
    rows = zip(windows.segments, windows.P, windows.P.argmax(axis=1).tolist(), strict=True)
    return [ClassifiedSegment(replace(window, label=path.name(label, row)), row) for window, row, label in rows]


def result_of(
    rows: Iterable[tuple[str, ClassifiedSegment]], labels: Sequence[str], taxonomy: Taxonomy | None = None
) -> Result:
    """The table of (file, segment) rows, in their order."""
    rows = list(rows)
    P = np.array([classified.posteriors for _, classified in rows]).reshape(len(rows), len(labels))
    paths = tuple(taxonomy.path(label) for label in labels) if taxonomy else ()
    segments = tuple(classified.segment for _, classified in rows)
    return Result(tuple(file for file, _ in rows), segments, P, tuple(labels), paths)

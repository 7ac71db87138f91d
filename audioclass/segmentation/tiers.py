"""Segments of labels that are independent: a tier for each label, so that segments of different labels may overlap.

A label holds in a window where its probability reaches its threshold. Each label is smoothed by itself, as one of two
states: it holds, or it does not. Its odds are divided by those of its threshold before, so that the border between the
two lies at one half, and multiplied again after. Runs of windows in which a label holds are its segments: a gap that is
shorter than the least duration is filled, then a segment that is shorter still is dropped.

Borders lie midway between the centres of windows, as those of other segments do. A segment is given as soon as nothing
can change it, so that one that lasts comes after shorter ones of other labels that begin in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import Smoother
from audioclass.data import Posteriors, Segment
from audioclass.errors import UsageError
from audioclass.segmentation.segments import ROUNDING, ClassifiedSegment
from audioclass.segmentation.smoothing import WindowSmoother

LEAST = 1e-6  # a threshold of 0 or 1 has no odds
STATES = ("holds", "does not")


@dataclass(frozen=True, eq=False)
class TierRows:
    """Windows with the smoothed probabilities of every label, and which labels `holds` in each, both (n, n_labels)."""

    segments: tuple[Segment, ...]
    P: np.ndarray
    holds: np.ndarray

    def joined(self, other: TierRows) -> TierRows:
        """These windows and those that follow."""
        P, holds = np.concatenate([self.P, other.P]), np.concatenate([self.holds, other.holds])
        return TierRows(self.segments + other.segments, P, holds)


class TierSmoother:
    """Smooths every label by itself, around its threshold."""

    def __init__(self, labels: Sequence[str], smoother: Smoother, thresholds: np.ndarray) -> None:
        bounded = np.clip(thresholds, LEAST, 1 - LEAST)
        self._odds = (bounded / (1 - bounded)).tolist()
        self._tiers = [WindowSmoother(smoother, STATES) for _ in labels]

    def push(self, posteriors: Posteriors) -> TierRows:
        """Take in the next windows; give those that are final."""
        columns = zip(self._tiers, posteriors.P.T, self._odds, strict=True)
        given = [tier.push(_pair(shifted(p, 1 / odds), posteriors.segments)) for tier, p, odds in columns]
        return self._joined(given)

    def finish(self) -> TierRows:
        """The windows that were held back, at the end of the recording."""
        return self._joined([tier.finish() for tier in self._tiers])

    def _joined(self, given: Sequence[Posteriors]) -> TierRows:
        columns = [shifted(each.P[:, 0], odds) for each, odds in zip(given, self._odds, strict=True)]
        holds = [each.P.argmax(axis=1) == 0 for each in given]
        return TierRows(given[0].segments, np.stack(columns, axis=1), np.stack(holds, axis=1))


class TierStream:
    """Smoothing and segmentation of one recording's windows as they come, each label by itself."""

    def __init__(
        self,
        labels: Sequence[str],
        smoother: Smoother,
        thresholds: np.ndarray,
        *,
        min_duration: float = 0.0,
    ) -> None:
        if not 0 <= min_duration < float("inf"):
            raise UsageError(f"min_duration={min_duration} must be a time of at least 0")
        self._windows = TierSmoother(labels, smoother, thresholds)
        self._tiers = [_Tier(label, min_duration - ROUNDING) for label in labels]
        self._waiting: tuple[Segment, np.ndarray, np.ndarray] | None = None  # its end is known when the next one comes
        self._start = 0.0

    def push(self, posteriors: Posteriors) -> list[ClassifiedSegment]:
        """Take in the next windows; give the segments that are final."""
        return list(self._take(self._windows.push(posteriors)))

    def finish(self) -> list[ClassifiedSegment]:
        """The segments that were not final, at the end of the recording."""
        given = list(self._take(self._windows.finish()))
        if self._waiting is not None:
            given += self._cell(self._waiting[0].end)
        return [*given, *(segment for tier in self._tiers for segment in tier.finish())]

    def _take(self, windows: TierRows) -> Iterator[ClassifiedSegment]:
        for segment, row, holds in zip(windows.segments, windows.P, windows.holds, strict=True):
            if self._waiting is None:
                self._start = segment.start
            else:
                border = (_centre(self._waiting[0]) + _centre(segment)) / 2
                yield from self._cell(border)
                self._start = border
            self._waiting = segment, row, holds

    def _cell(self, end: float) -> Iterator[ClassifiedSegment]:
        """The window that waits, from border to border."""
        assert self._waiting is not None  # noqa: S101 (asked only when there is one)
        _, row, holds = self._waiting
        for tier, is_held in zip(self._tiers, holds.tolist(), strict=True):
            yield from tier.take(self._start, end, row, is_held)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Successive windows of a tier: where they lie, and the sum of their probabilities."""

    start: float
    end: float
    total: np.ndarray
    n_windows: int = 1

    def joined(self, other: _Stretch) -> _Stretch:
        return _Stretch(self.start, other.end, self.total + other.total, self.n_windows + other.n_windows)


class _Tier:
    """The runs of one label: `_run` is the last in which it holds, `_gap` what came since."""

    def __init__(self, label: str, min_duration: float) -> None:
        self._label, self._min_duration = label, min_duration
        self._run: _Stretch | None = None
        self._gap: _Stretch | None = None

    def take(self, start: float, end: float, row: np.ndarray, holds: bool) -> Iterator[ClassifiedSegment]:
        """One more window; the run is final where the gap after it is too long to be filled."""
        cell = _Stretch(start, end, row)
        if holds:
            parts = [part for part in (self._run, self._gap, cell) if part is not None]
            self._run, self._gap = parts[0], None
            for part in parts[1:]:
                self._run = self._run.joined(part)
        elif self._run is not None:
            self._gap = cell if self._gap is None else self._gap.joined(cell)
            if self._gap.end - self._gap.start >= self._min_duration:
                yield from self.finish()

    def finish(self) -> Iterator[ClassifiedSegment]:
        """The run as it is, unless it is too short."""
        run, self._run, self._gap = self._run, None, None
        if run is not None and run.end - run.start >= self._min_duration:
            yield ClassifiedSegment(Segment(run.start, run.end, self._label), run.total / run.n_windows)


class TierWindows:
    """Every window by itself, once for each label that holds in it."""

    def __init__(self, labels: Sequence[str], smoother: Smoother, thresholds: np.ndarray) -> None:
        self._windows, self._labels = TierSmoother(labels, smoother, thresholds), tuple(labels)

    def push(self, posteriors: Posteriors) -> list[ClassifiedSegment]:
        """Take in the next windows; give those that are final."""
        return self._classified(self._windows.push(posteriors))

    def finish(self) -> list[ClassifiedSegment]:
        """The windows that were not final, at the end of the recording."""
        return self._classified(self._windows.finish())

    def _classified(self, windows: TierRows) -> list[ClassifiedSegment]:
        return [
            ClassifiedSegment(replace(segment, label=self._labels[k]), row)
            for segment, row, holds in zip(windows.segments, windows.P, windows.holds, strict=True)
            for k in np.flatnonzero(holds)
        ]


def segments_at(windows: TierRows, labels: Sequence[str], threshold: float) -> list[Segment]:
    """The runs of windows in which each label's smoothed probability reaches a threshold, all of them of any length."""
    if not windows.segments:
        return []
    centres = np.array([_centre(segment) for segment in windows.segments])
    borders = np.concatenate([[windows.segments[0].start], (centres[1:] + centres[:-1]) / 2])
    borders = np.append(borders, windows.segments[-1].end)
    holds = np.pad(threshold <= windows.P, ((1, 1), (0, 0))).astype(int)
    runs: list[Segment] = []
    for label, change in zip(labels, np.diff(holds, axis=0).T, strict=True):
        times = zip(borders[np.flatnonzero(change > 0)], borders[np.flatnonzero(change < 0)], strict=True)
        runs += [Segment(float(start), float(end), label) for start, end in times]
    return runs


def by_start(segments: Iterable[ClassifiedSegment], labels: Sequence[str]) -> list[ClassifiedSegment]:
    """Segments of all tiers in order of their start; those that start together in the order of their labels."""
    place = {label: k for k, label in enumerate(labels)}
    return sorted(segments, key=lambda one: (one.segment.start, place.get(one.segment.label, len(place))))


def shifted(p: np.ndarray, factor: float) -> np.ndarray:
    """Probabilities whose odds are so many times as large; 0 and 1 stay, and so does all at a factor of 1."""
    return p if factor == 1 else np.asarray(p * factor / (p * factor + (1 - p)))


def _pair(p: np.ndarray, segments: tuple[Segment, ...]) -> Posteriors:
    return Posteriors(np.stack([p, 1 - p], axis=1), STATES, segments)


def _centre(window: Segment) -> float:
    return (window.start + window.end) / 2

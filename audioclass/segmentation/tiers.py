"""Segments of labels that are independent: a tier for each label, so that segments of different labels may overlap.

A label holds in a window where its probability reaches its threshold. Each label is smoothed by itself, as one of two
states: it holds, or it does not. Its odds are divided by those of its threshold before, so that the border between the
two lies at one half, and multiplied again after. Runs of windows in which a label holds are its segments: a gap that is
shorter than the least duration is filled, then a segment that is shorter still is dropped, unless it is all that there
is between two silences.

Borders and silences are those of other segments. A segment is given as soon as nothing can change it, so that one that
lasts comes after shorter ones of other labels that begin in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from audioclass.contracts import Smoother
from audioclass.data import Contours, Posteriors, Segment
from audioclass.segmentation.borders import StoredBorders
from audioclass.segmentation.segments import ROUNDING, ClassifiedSegment, LabelRun, check_duration
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.segmentation.streams import CellStream
from audioclass.segmentation.stretches import ContourRule, SoundStretches, WaitingWindows

LEAST = 1e-6  # a threshold of 0 or 1 has no odds
STATES = ("holds", "does not")


@dataclass(frozen=True, eq=False)
class TierRows:
    """Windows with the smoothed probabilities of every label, and which labels `holds` in each, both (n, n_labels)."""

    segments: tuple[Segment, ...]
    P: np.ndarray
    holds: np.ndarray

    @property
    def runs(self) -> list[LabelRun]:
        """Each window by itself; bit k of its label says whether label k holds."""
        sets = (int.from_bytes(bits.tobytes(), "little") for bits in np.packbits(self.holds, 1, "little"))
        return [
            LabelRun(labels, segment.start, segment.end, row)
            for segment, row, labels in zip(self.segments, self.P, sets, strict=True)
        ]

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


class TierStream(CellStream):
    """Smoothing and segmentation of one recording's windows as they come, each label by itself.

    Contours and `borders` are used as those of other segments are.
    """

    def __init__(
        self,
        labels: Sequence[str],
        smoother: Smoother,
        thresholds: np.ndarray,
        *,
        min_duration: float = 0.0,
        contours: ContourRule | None = None,
        borders: StoredBorders | None = None,
    ) -> None:
        check_duration(min_duration)
        rule = contours or ContourRule()
        shortest, finder = max(min_duration, rule.shortest), rule.finder()
        super().__init__(
            _TierRuns(TierSmoother(labels, smoother, thresholds)),
            WaitingWindows(labels, finder, overlap=True),
            SoundStretches(labels, lambda: TierSegmenter(labels, shortest), finder, overlap=True),
            borders,
            hears=contours is not None,
        )


@dataclass
class _TierRuns:
    """Windows, each of all the labels that hold in it."""

    windows: TierSmoother

    def push(self, posteriors: Posteriors) -> list[LabelRun]:
        return self.windows.push(posteriors).runs

    def finish(self) -> list[LabelRun]:
        return self.windows.finish().runs


class TierSegmenter:
    """Makes the segments of every label of one stretch of sound."""

    def __init__(self, labels: Sequence[str], min_duration: float) -> None:
        self._tiers = [_Tier(label, place, min_duration - ROUNDING) for place, label in enumerate(labels)]

    def push(self, cells: Iterable[LabelRun]) -> list[ClassifiedSegment]:
        """Take in the next cells; give the segments that are final."""
        return [segment for cell in cells for tier in self._tiers for segment in tier.take(cell)]

    def finish(self) -> list[ClassifiedSegment]:
        """The rest, at the end of the stretch."""
        return [segment for tier in self._tiers for segment in tier.finish()]


class _Tier:
    """The runs of one label: `_run` is the last in which it holds, `_gap` what came since."""

    def __init__(self, label: str, place: int, min_duration: float) -> None:
        self._label, self._place, self._min_duration = label, place, min_duration
        self._run: LabelRun | None = None
        self._gap: LabelRun | None = None
        self._start: float | None = None  # of the stretch

    def take(self, cell: LabelRun) -> Iterator[ClassifiedSegment]:
        """One more window; the run is final where the gap after it is too long to be filled."""
        self._start = cell.start if self._start is None else self._start
        if cell.label >> self._place & 1:
            parts = [part for part in (self._run, self._gap, cell) if part is not None]
            self._run, self._gap = reduce(_joined, parts), None
        elif self._run is not None:
            self._gap = cell if self._gap is None else _joined(self._gap, cell)
            if self._gap.end - self._gap.start >= self._min_duration:
                yield from self._give(is_whole=False)

    def finish(self) -> Iterator[ClassifiedSegment]:
        """The run as it is, unless it is too short."""
        is_whole = self._run is not None and self._gap is None and self._run.start == self._start
        yield from self._give(is_whole=is_whole)

    def _give(self, *, is_whole: bool) -> Iterator[ClassifiedSegment]:
        run, self._run, self._gap = self._run, None, None
        if run is not None and (is_whole or run.end - run.start >= self._min_duration):
            yield ClassifiedSegment(Segment(run.start, run.end, self._label), run.posteriors)


def _joined(run: LabelRun, after: LabelRun) -> LabelRun:
    """Two runs of a tier as one; which labels hold in it besides the tier's own is left open."""
    return run.joined(after, run.label)


class TierWindows:
    """Every window by itself, once for each label that holds in it."""

    def __init__(self, labels: Sequence[str], smoother: Smoother, thresholds: np.ndarray) -> None:
        self._windows, self._labels = TierSmoother(labels, smoother, thresholds), tuple(labels)

    def push(self, posteriors: Posteriors, contours: Contours | None = None) -> list[ClassifiedSegment]:
        """Take in the next windows; give those that are final."""
        return self._classified(self._windows.push(posteriors))

    def finish(self, end: float | None = None) -> list[ClassifiedSegment]:
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

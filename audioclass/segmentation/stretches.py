"""Stretches of sound between silences: each is segmented by itself, and silences are segments of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from audioclass.data import Posteriors, Segment
from audioclass.segmentation.segments import ClassifiedSegment, LabelRun
from audioclass.segmentation.silence import SILENCE, SilenceFinder, SilenceRule

MOSTLY = 0.8  # the share of a window from which on it is silent


@dataclass(frozen=True)
class ContourRule:
    """What is made of the contours of a recording: which stretches are silent, if any are to be told.

    A piece of sound shorter than `shortest` seconds beside a silence, or between two borders, has no label of its own.
    """

    silence: SilenceRule | None = None
    shortest: float = 0.0

    def finder(self) -> SilenceFinder | None:
        """Finds the silences of one recording; None where none are to be told."""
        return None if self.silence is None else SilenceFinder(self.silence)


class WaitingWindows:
    """Windows that wait until it is known how much of each is silent; what is silent says nothing of labels.

    Digital silence does not count: features leave it out, so that a window tells of its sounds, be they short.
    Of labels that `overlap` none is likelier for another being less so: all windows stay as they are.
    """

    def __init__(self, labels: Sequence[str], finder: SilenceFinder | None, *, overlap: bool = False) -> None:
        self._finder, self._overlap = finder, overlap
        self._waiting = Posteriors(np.empty((0, len(labels))), tuple(labels), ())
        self.is_silent: list[bool] = []  # of the windows that were given last

    def push(self, windows: Posteriors) -> Posteriors:
        """Take in the next windows; give those of which it is known."""
        if self._finder is None:
            return windows
        self._waiting = Posteriors.joined([self._waiting, windows])
        known = self._finder.known_until
        return self._give(sum(window.end <= known for window in self._waiting.segments))

    def finish(self) -> Posteriors:
        """Those that wait, at the end of the recording."""
        return self._give(len(self._waiting.segments))

    def _give(self, count: int) -> Posteriors:
        given, self._waiting = self._waiting.rows(slice(count)), self._waiting.rows(slice(count, None))
        if self._finder is None:
            return given
        shares = np.array([self._finder.shares(window) for window in given.segments]).reshape(-1, 2)
        is_silent, tells_nothing = (shares >= MOSTLY).T
        self.is_silent = is_silent.tolist()
        if self._overlap or not tells_nothing.any():
            return given
        return replace(given, P=np.where(tells_nothing[:, None], 1 / given.P.shape[1], given.P))


class CellSegmenter(Protocol):
    """Makes segments of the cells of one stretch of sound."""

    def push(self, cells: Iterable[LabelRun]) -> list[ClassifiedSegment]:
        """Take in the next cells; give the segments that are final."""

    def finish(self) -> list[ClassifiedSegment]:
        """The rest, at the end of the stretch."""


@dataclass
class SoundStretches:
    """Cells in, segments out: those of each stretch of sound, and the silences between them.

    A silence is certain where it is a label of its own, else its posteriors tell no label from another; of labels that
    `overlap` it has none. Where a stretch begins or ends with a segment that is called silence, the two are one, unless
    others may lie over it.
    """

    labels: Sequence[str]
    new_segmenter: Callable[[], CellSegmenter]
    finder: SilenceFinder | None = None
    overlap: bool = False

    def __post_init__(self) -> None:
        self._segmenter: CellSegmenter | None = None
        self._held: ClassifiedSegment | None = None  # a silence that may be one with what follows
        has_label, n = SILENCE in self.labels, len(self.labels)
        self._joins = has_label and self.finder is not None and not self.overlap
        self._posteriors = np.array([float(label == SILENCE) for label in self.labels])
        if not has_label and not self.overlap:
            self._posteriors = np.full(n, 1 / n)

    def push(self, cells: Iterable[LabelRun]) -> list[ClassifiedSegment]:
        """Take in the next cells, of which it is known where they are silent; give the segments that are final."""
        return list(self._one_silence([given for cell in cells for given in self._cut(cell)]))

    def finish(self) -> list[ClassifiedSegment]:
        """The rest, at the end of the recording."""
        rest = list(self._end_stretch())
        while self.finder is not None and self.finder.found:
            rest.append(self._silent(self.finder.found.popleft()))
        given = list(self._one_silence(rest))
        return [*given, *([self._held] if self._held else [])]

    def _cut(self, cell: LabelRun) -> Iterator[ClassifiedSegment]:
        """What becomes final with a cell: it may begin, hold or end silences."""
        finder = self.finder
        while finder is not None and finder.found and finder.found[0].start < cell.end:
            silence = finder.found[0]
            yield from self._add(replace(cell, end=silence.start))
            yield from self._end_stretch()
            if silence.end > cell.end:
                return
            yield self._silent(finder.found.popleft())
            cell = replace(cell, start=silence.end)
        since = None if finder is None else finder.silent_since
        if since is not None and since < cell.end:
            yield from self._add(replace(cell, end=since))
            yield from self._end_stretch()
        else:
            yield from self._add(cell)

    def _add(self, cell: LabelRun) -> Iterator[ClassifiedSegment]:
        if cell.end > cell.start:
            self._segmenter = self._segmenter or self.new_segmenter()
            yield from self._segmenter.push([cell])

    def _end_stretch(self) -> Iterator[ClassifiedSegment]:
        segmenter, self._segmenter = self._segmenter, None
        if segmenter is not None:
            yield from segmenter.finish()

    def _silent(self, silence: Segment) -> ClassifiedSegment:
        return ClassifiedSegment(silence, self._posteriors, 1.0)

    def _one_silence(self, segments: Iterable[ClassifiedSegment]) -> Iterator[ClassifiedSegment]:
        """The same, with silences that touch as one."""
        for one in segments:
            before, self._held = self._held, one if one.segment.label == SILENCE and self._joins else None
            if before is not None and self._held is not None:
                self._held = _joined(before, one)
            elif before is not None:
                yield before
            if self._held is None:
                yield one


def _joined(before: ClassifiedSegment, after: ClassifiedSegment) -> ClassifiedSegment:
    """Two silences as one; what either knows counts by its length."""
    a, b = before.segment.duration, after.segment.duration
    share = a / (a + b) if a + b else 1.0
    novelty = None
    if before.novelty is not None and after.novelty is not None:
        novelty = share * before.novelty + (1 - share) * after.novelty
    posteriors = share * before.posteriors + (1 - share) * after.posteriors
    return ClassifiedSegment(Segment(before.segment.start, after.segment.end, SILENCE), posteriors, novelty)

"""From a recording's windows to the table that formats write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import Smoother
from audioclass.data import Contours, Posteriors, Result
from audioclass.segmentation.back_off import UNKNOWN, BackOffPath
from audioclass.segmentation.borders import HeardBorders, StoredBorders, milliseconds
from audioclass.segmentation.cells import CellCutter
from audioclass.segmentation.novelty import NoveltyRule
from audioclass.segmentation.segments import ClassifiedSegment, Segmenter, check_duration
from audioclass.segmentation.silence import SilenceFinder, SilenceRule
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.segmentation.stretches import SoundStretches, WaitingWindows
from audioclass.taxonomy import Taxonomy


@dataclass(frozen=True)
class ContourRule:
    """What is made of the contours of a recording: which stretches are silent, if any are to be told.

    A piece of sound shorter than `shortest` seconds beside a silence, or between two borders, has no label of its own.
    """

    silence: SilenceRule | None = None
    shortest: float = 0.0


class SegmentStream:
    """Smoothing and segmentation of one recording's windows as they come.

    With its contours, borders lie where the sound changes, silences are segments of their own, and every stretch of
    sound between them is segmented by itself; windows that are silent do not tell what is heard beside them. `borders`
    are those that are known already.
    """

    def __init__(
        self,
        labels: Sequence[str],
        smoother: Smoother,
        taxonomy: Taxonomy | None = None,
        *,
        min_duration: float = 0.0,
        threshold: float = 0.0,
        novelty: NoveltyRule | None = None,
        contours: ContourRule | None = None,
        borders: StoredBorders | None = None,
    ) -> None:
        self._end = 0.0  # of the last window
        rule, path = contours or ContourRule(), BackOffPath(labels, taxonomy, threshold)
        self._heard = HeardBorders() if contours is not None and borders is None else None
        self._finder = None if rule.silence is None else SilenceFinder(rule.silence)
        self._waiting = WaitingWindows(labels, self._finder)
        self._smoother = WindowSmoother(smoother, labels)
        self._cells = CellCutter(novelty, borders or self._heard)
        check_duration(min_duration)
        shortest = max(min_duration, rule.shortest)
        self._stretches = SoundStretches(labels, lambda: Segmenter(path, shortest, novelty), self._finder)

    def push(self, posteriors: Posteriors, contours: Contours | None = None) -> list[ClassifiedSegment]:
        """Take in the next windows and the next cells of the contours; give the segments that are final."""
        for each in (self._heard, self._finder):
            if each is not None and contours is not None:
                each.push(contours)
        self._end = posteriors.segments[-1].end if posteriors.segments else self._end
        return self._stretches.push(self._cells.push(self._smoother.push(self._waiting.push(posteriors))))

    def finish(self, end: float | None = None) -> list[ClassifiedSegment]:
        """The segments that were not final; the recording ends with the last window, or here, in seconds."""
        if self._finder is not None:
            trailing = 0 if end is None else milliseconds(end - self._end)
            self._finder.finish(self._end, trailing / 1000)
        if self._heard is not None:
            self._heard.finish()
        cells = self._cells.push(self._smoother.push(self._waiting.finish()))
        cells += [*self._cells.push(self._smoother.finish()), *self._cells.finish()]
        return [*self._stretches.push(cells), *self._stretches.finish()]


def classified_windows(
    windows: Posteriors, path: BackOffPath, novelty: NoveltyRule | None = None
) -> list[ClassifiedSegment]:
    """Every window by itself, called by the label of its largest posterior or by what the path says instead.

    One that is stranger than the rule of novelty allows is unknown.
    """
    rows = zip(windows.segments, windows.P, windows.P.argmax(axis=1).tolist(), strict=True)
    given = [ClassifiedSegment(replace(window, label=path.name(label, row)), row) for window, row, label in rows]
    if novelty is None or windows.strangeness is None:
        return given
    p, is_strange = novelty.p_values(windows.strangeness), novelty.is_strange(windows.strangeness)
    return [
        replace(each, segment=replace(each.segment, label=UNKNOWN) if strange else each.segment, novelty=value)
        for each, value, strange in zip(given, p.tolist(), is_strange.tolist(), strict=True)
    ]


def result_of(
    rows: Iterable[tuple[str, ClassifiedSegment]],
    labels: Sequence[str],
    taxonomy: Taxonomy | None = None,
    *,
    independent: bool = False,
) -> Result:
    """The table of (file, segment) rows, in their order; those of `independent` labels may overlap."""
    rows = list(rows)
    P = np.array([classified.posteriors for _, classified in rows]).reshape(len(rows), len(labels))
    paths = tuple(taxonomy.path(label) for label in labels) if taxonomy else ()
    segments = tuple(classified.segment for _, classified in rows)
    known = [classified.novelty for _, classified in rows if classified.novelty is not None]
    novelty = np.array(known) if rows and len(known) == len(rows) else None
    files = tuple(file for file, _ in rows)
    return Result(files, segments, P, tuple(labels), paths, novelty=novelty, independent=independent)

"""Windows from border to border: which stretch of the recording each of them speaks for.

Windows overlap, and so does what they know. The border between two lies midway between their centres; where they are of
different labels it is moved to where the sound changes, near there, if that is known. The first cell starts where the
first window starts, the last ends where the last one ends. The label of a window is that of its largest posterior.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audioclass.data import Posteriors, Segment
from audioclass.segmentation.borders import Borders, between
from audioclass.segmentation.novelty import NoveltyRule
from audioclass.segmentation.segments import STRANGE, LabelRun

NEAREST = 0.2  # of the distance of two windows: borders are as far apart, at least


@dataclass(frozen=True, eq=False)
class _Window:
    """One window with its posteriors and label, and how strange it is."""

    segment: Segment
    run: LabelRun


class CellCutter:
    """Cells of one recording's windows as they come, smoothed; each is given once its end is known."""

    def __init__(self, novelty: NoveltyRule | None = None, borders: Borders | None = None) -> None:
        self._novelty, self._borders = novelty, borders
        self._waiting: deque[_Window] = deque()  # the first of them has a start, but no end
        self._start: float | None = None
        self._n_cells = 0

    def push(self, windows: Posteriors) -> list[LabelRun]:
        """Take in the next windows; give the cells whose ends are known."""
        labels = windows.P.argmax(axis=1)
        strangeness = np.zeros(len(labels)) if windows.strangeness is None else windows.strangeness
        if self._novelty is not None and windows.strangeness is not None:
            labels = np.where(self._novelty.is_strange(strangeness), STRANGE, labels)
        rows = zip(windows.segments, windows.P, labels.tolist(), strangeness.tolist(), strict=True)
        for segment, P, label, value in rows:
            run = LabelRun(label, segment.start, segment.end, P, 1, value, int(label == STRANGE))
            self._waiting.append(_Window(segment, run))
        return list(self.known())

    def known(self) -> Iterator[LabelRun]:
        """The cells whose ends are known by now."""
        while len(self._waiting) > 1:
            end = self._border(self._waiting[0], self._waiting[1])
            if end is None:
                return
            yield self._cell(end)

    def finish(self) -> list[LabelRun]:
        """The cells that wait, at the end of the recording."""
        cells = list(self.known())
        return [*cells, self._cell(self._waiting[0].segment.end)] if self._waiting else cells

    def _border(self, window: _Window, after: _Window) -> float | None:
        """Where the one window gives way to the other; None where that is not known yet."""
        midway, hop = between(window.segment, after.segment)
        if hop <= 0:
            raise ValueError(f"a window at {after.segment.start} s comes after one at {window.segment.start} s")
        if self._borders is None:
            return midway
        start = window.segment.start if self._start is None else self._start
        if window.run.label == after.run.label:
            self._borders.skip(midway, hop)
            return max(midway, start + NEAREST * hop)
        border = self._borders.after(self._n_cells, midway, hop)
        if border is None:
            return None
        return max(min(border, max(midway, after.segment.end - NEAREST * hop)), start + NEAREST * hop)

    def _cell(self, end: float) -> LabelRun:
        """The first window that waits, from the border before it to its own."""
        window = self._waiting.popleft()
        start = window.segment.start if self._start is None else self._start
        self._start = max(end, start)
        self._n_cells += 1
        return replace(window.run, start=start, end=self._start)

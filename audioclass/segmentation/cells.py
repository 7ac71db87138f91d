"""Windows from border to border: which stretch of the recording each of them speaks for.

Windows overlap, and so does what they know. The border between two lies midway between their centres; where they are of
different labels, or of different sets of labels, it is moved to where the sound changes, near there, if that is known.
The first cell starts where the first window starts, the last ends where the last one ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from audioclass.data import Segment
from audioclass.segmentation.borders import Borders, between
from audioclass.segmentation.segments import LabelRun

NEAREST = 0.2  # of the distance of two windows: borders are as far apart, at least


class CellCutter:
    """Cells of one recording's windows as they come, smoothed; each is given once its end is known."""

    def __init__(self, borders: Borders | None = None) -> None:
        self._borders = borders
        self._waiting: deque[LabelRun] = deque()  # the first of them has a start, but no end
        self._start: float | None = None
        self._n_cells = 0

    def push(self, windows: Iterable[LabelRun]) -> list[LabelRun]:
        """Take in the next windows, each from its start to its end; give the cells whose ends are known."""
        self._waiting += windows
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
        return [*cells, self._cell(self._waiting[0].end)] if self._waiting else cells

    def _border(self, window: LabelRun, after: LabelRun) -> float | None:
        """Where the one window gives way to the other; None where that is not known yet."""
        midway, hop = between(Segment(window.start, window.end), Segment(after.start, after.end))
        if hop <= 0:
            raise ValueError(f"a window at {after.start} s comes after one at {window.start} s")
        if self._borders is None:
            return midway
        start = window.start if self._start is None else self._start
        if window.label == after.label:
            self._borders.skip(midway, hop)
            return max(midway, start + NEAREST * hop)
        border = self._borders.after(self._n_cells, midway, hop)
        if border is None:
            return None
        return max(min(border, max(midway, after.end - NEAREST * hop)), start + NEAREST * hop)

    def _cell(self, end: float) -> LabelRun:
        """The first window that waits, from the border before it to its own."""
        window = self._waiting.popleft()
        start = window.start if self._start is None else self._start
        self._start = max(end, start)
        self._n_cells += 1
        return replace(window, start=start, end=self._start)

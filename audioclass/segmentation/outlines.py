"""What is kept of the contours of a recording, so that its segments can be made anew from its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.data import Contours, Segment
from audioclass.segmentation.borders import HeardBorders, StoredBorders, between, milliseconds
from audioclass.threads import one_thread


@dataclass(frozen=True, eq=False)
class Outline:
    """The levels of a recording, in cells of `cell` seconds from `start` on, and the border after each window.

    Borders are milliseconds from the middle between a window and the next; for the last window, from its end to that of
    the recording.
    """

    levels: np.ndarray
    borders: np.ndarray
    cell: float
    start: float

    @property
    def trailing(self) -> int:
        """Milliseconds from the end of the last window to that of the recording."""
        return int(self.borders[-1]) if len(self.borders) else 0

    @property
    def contours(self) -> Contours:
        """The levels alone."""
        return Contours(self.levels, np.empty((len(self.levels), 0), np.float32), self.cell, self.start)

    @property
    def stored_borders(self) -> StoredBorders:
        """As segments take them."""
        return StoredBorders(self.borders)

    def levels_by_window(self, starts: np.ndarray) -> list[np.ndarray]:
        """The levels in as many parts as there are windows: those up to the start of the next."""
        times = self.start + self.cell * np.arange(len(self.levels))
        return np.split(self.levels, np.searchsorted(times, starts[1:]))


class Outliner:
    """Makes the outline of one recording as its windows and contours come."""

    def __init__(self) -> None:
        self._borders = HeardBorders()
        self._waiting: list[Segment] = []  # the first of them has no border after it yet
        self._offsets: list[int] = []
        self._levels: list[np.ndarray] = []
        self._first: Contours | None = None

    def push(self, windows: Sequence[Segment], contours: Contours | None) -> None:
        """Take in the next windows and the next cells."""
        self._waiting += windows
        if contours is not None:
            self._first = self._first or contours
            self._levels.append(contours.levels)
            self._borders.push(contours)
        self._compare()

    def finish(self, end: float) -> Outline:
        """The outline, at the end of the recording in seconds."""
        self._borders.finish()
        self._compare()
        if self._first is None:
            raise ValueError("nothing was heard")
        trailing = [milliseconds(end - window.end) for window in self._waiting]
        borders = np.array([*self._offsets, *trailing], np.int32)
        return Outline(np.concatenate(self._levels), borders, self._first.cell, self._first.start)

    @one_thread()
    def _compare(self) -> None:
        n_compared = 0
        for window, after in zip(self._waiting, self._waiting[1:], strict=False):
            offset = self._borders.offset(*between(window, after))
            if offset is None:
                break
            self._offsets.append(offset)
            n_compared += 1
        del self._waiting[:n_compared]

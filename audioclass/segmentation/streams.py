"""Windows and contours of one recording in, segments out, whatever the windows are called."""

from __future__ import annotations

from typing import Protocol

from audioclass.data import Contours, Posteriors
from audioclass.segmentation.borders import HeardBorders, StoredBorders, milliseconds
from audioclass.segmentation.cells import CellCutter
from audioclass.segmentation.segments import ClassifiedSegment, LabelRun
from audioclass.segmentation.stretches import SoundStretches, WaitingWindows


class RunSmoother(Protocol):
    """Smooths windows as they come and says of which label, or of which labels, each is."""

    def push(self, posteriors: Posteriors) -> list[LabelRun]:
        """Take in the next windows; give those that are final."""

    def finish(self) -> list[LabelRun]:
        """The windows that were held back, at the end of the recording."""


class CellStream:
    """Smooths windows, cuts them from border to border and makes segments of every stretch of sound.

    Without `borders` these lie midway between windows, or with `hears` where the sound changes.
    """

    def __init__(
        self,
        smoother: RunSmoother,
        waiting: WaitingWindows,
        stretches: SoundStretches,
        borders: StoredBorders | None = None,
        *,
        hears: bool = False,
    ) -> None:
        self._end = 0.0  # of the last window
        self._smoother, self._waiting, self._stretches = smoother, waiting, stretches
        self._heard = HeardBorders() if hears and borders is None else None
        self._cells = CellCutter(borders or self._heard)

    def push(self, posteriors: Posteriors, contours: Contours | None = None) -> list[ClassifiedSegment]:
        """Take in the next windows and the next cells of the contours; give the segments that are final."""
        for each in (self._heard, self._stretches.finder):
            if each is not None and contours is not None:
                each.push(contours)
        self._end = posteriors.segments[-1].end if posteriors.segments else self._end
        return self._stretches.push(self._cells.push(self._smoother.push(self._waiting.push(posteriors))))

    def finish(self, end: float | None = None) -> list[ClassifiedSegment]:
        """The segments that were not final; the recording ends with the last window, or here, in seconds."""
        if self._stretches.finder is not None:
            trailing = 0 if end is None else milliseconds(end - self._end)
            self._stretches.finder.finish(self._end, trailing / 1000)
        if self._heard is not None:
            self._heard.finish()
        cells = self._cells.push(self._smoother.push(self._waiting.finish()))
        cells += [*self._cells.push(self._smoother.finish()), *self._cells.finish()]
        return [*self._stretches.push(cells), *self._stretches.finish()]

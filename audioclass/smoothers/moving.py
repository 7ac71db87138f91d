"""Moving mean and moving median over a number of windows around each."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Smoother, SmoothingStream
from audioclass.data import Posteriors
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.smoothers.streams import LocalStream, smooth_whole

WIDEST = 10_000


@component
class _Moving:
    """A smoother of `width` windows around each; of those that there are at the two ends."""

    width: int = parameter(5, low=1, high=WIDEST, search=(1, 50), help="windows; if even, one more before")

    @property
    def look_ahead(self) -> int:
        """Windows after each."""
        return (self.width - 1) // 2

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        """Rows that sum to 1 like those that they come from."""
        return smooth_whole(self, posteriors)

    def stream(self, n_labels: int) -> SmoothingStream:
        """A stream that holds `width` rows."""
        return LocalStream(n_labels, self.width // 2, self.look_ahead, self._row)

    @staticmethod
    def _row(rows: np.ndarray) -> np.ndarray:
        """One row from those of the windows around it."""
        raise NotImplementedError


@component
class MovingAverage(_Moving):
    """The mean of the posteriors over `width` windows around each; of those that there are at the two ends."""

    name: ClassVar[str] = "moving_average"

    @staticmethod
    def _row(rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows.mean(axis=0))


@component
class Median(_Moving):
    """The median of each label's posterior over `width` windows around each, made to sum to 1 again.

    A label that stands out for less than half the width is gone, and borders stay where they are.
    """

    name: ClassVar[str] = "median"

    @staticmethod
    def _row(rows: np.ndarray) -> np.ndarray:
        medians = np.median(rows, axis=0)
        total = medians.sum()
        # Where each label is certain for less than half the windows every median may be 0; then the mean must do.
        return np.asarray(medians / total if total > 0 else rows.mean(axis=0))


@hookimpl
def register_smoothers() -> list[type[Smoother]]:
    """Mean and median."""
    return [MovingAverage, Median]

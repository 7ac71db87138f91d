"""Where exactly, between two windows, one sound gives way to another.

The cells well before the middle between two windows are taken for the one sound, those well after it for the other, as
two normal distributions with the covariance of both. The border lies where the likelihood of one sound up to there and
of the other from there on is largest. It depends on what is heard alone, not on what the windows are called.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from audioclass.data import Contours, Segment

LONGEST_SIDE = 2.0  # seconds of either sound
FEWEST_CELLS = 8  # of a side that tell what it sounds like
SHRINKAGE = 0.1  # of correlations between bands
LEAST_VARIANCE = 1.0  # dB²


def between(window: Segment, after: Segment) -> tuple[float, float]:
    """The point midway between the centres of two windows, and how far these are apart."""
    centre, next_centre = (window.start + window.end) / 2, (after.start + after.end) / 2
    return (centre + next_centre) / 2, next_centre - centre


def milliseconds(seconds: float) -> int:
    """To the nearest of them: borders are no finer, so that they are the same wherever they are kept."""
    return round(1000 * seconds)


class Borders(Protocol):
    """Where each window of a recording gives way to the next, in seconds."""

    def after(self, window: int, midway: float, hop: float) -> float | None:
        """The border after a window, by its number; None where it is not known yet.

        It is near the point `midway` between the centres of the window and the next, which are a `hop` apart.
        """

    def skip(self, midway: float, hop: float) -> None:
        """The border there does not matter, nor does any before it."""


class StoredBorders:
    """Borders that are known: how far each is from the middle of two windows, in milliseconds."""

    def __init__(self, offsets: Sequence[int] | np.ndarray) -> None:
        self._offsets = np.asarray(offsets, np.int32)

    def after(self, window: int, midway: float, hop: float) -> float | None:
        """Middle and offset."""
        return midway + int(self._offsets[window]) / 1000

    def skip(self, midway: float, hop: float) -> None:
        """Nothing is to be forgotten."""


class HeardBorders:
    """Borders from the contours of a recording as these come; borders are asked for in order of time."""

    def __init__(self) -> None:
        self._bands: np.ndarray | None = None
        self._first = 0  # the number of the first cell that is held
        self._start, self._cell = 0.0, 1.0
        self._has_ended = False

    def push(self, contours: Contours) -> None:
        """Take in the next cells."""
        if self._bands is None:
            self._start, self._cell, self._bands = contours.start, contours.cell, contours.bands
        elif len(contours.bands):
            self._bands = np.concatenate([self._bands, contours.bands])

    def finish(self) -> None:
        """No more cells will come."""
        self._has_ended = True

    def after(self, window: int, midway: float, hop: float) -> float | None:
        """Where the likelihood of two sounds is largest, within a hop of the middle."""
        offset = self.offset(midway, hop)
        return None if offset is None else midway + offset / 1000

    def skip(self, midway: float, hop: float) -> None:
        """Cells that no later border needs are forgotten."""
        self._forget(math.ceil((midway - hop - _side(hop) - self._start) / self._cell))

    def offset(self, midway: float, hop: float) -> int | None:
        """How far the border is from the middle, in milliseconds; None where that is not known yet."""
        if self._bands is None:
            return 0 if self._has_ended else None
        side = _side(hop)
        n_known = self._first + len(self._bands)
        first, low, high, last = (
            (midway + away - self._start) / self._cell for away in (-hop - side, -hop, hop, hop + side)
        )
        if not self._has_ended and last > n_known:
            return None
        bounds = [max(math.ceil(bound), 0) for bound in (first, low, high, last)]
        self._forget(bounds[0])
        a, b, c, d = (max(bound - self._first, 0) for bound in bounds)
        cut = most_likely_cut(self._bands[a:d].astype(np.float64), b - a, c - a)
        if cut is None:
            return 0
        return milliseconds(self._start + (self._first + a + cut) * self._cell - midway)

    def _forget(self, before: int) -> None:
        if self._bands is not None and before > self._first:
            before = min(before, self._first + len(self._bands))
            self._bands, self._first = self._bands[before - self._first :], before


def _side(hop: float) -> float:
    """The seconds that are taken for either sound."""
    return min(LONGEST_SIDE, 2 * hop)


def seconds_after(hop: float) -> float:
    """How much after the middle between two windows is listened to."""
    return hop + _side(hop)


def most_likely_cut(cells: np.ndarray, low: int, high: int) -> int | None:
    """The first cell of the second sound, from `low` to `high`; None where there is too little of either.

    The cells before `low` are of the first sound, those from `high` on of the second.
    """
    before, after, between = cells[:low], cells[high:], cells[low:high]
    if min(len(before), len(after)) < FEWEST_CELLS:
        return None
    means = before.mean(axis=0), after.mean(axis=0)
    deviations = np.concatenate([before - means[0], after - means[1]])
    covariance = deviations.T @ deviations / len(deviations)
    variance = np.diag(covariance)
    covariance = covariance + np.diag(SHRINKAGE * variance + LEAST_VARIANCE)
    direction = np.linalg.solve(covariance, means[1] - means[0])
    ratios = (between - (means[0] + means[1]) / 2) @ direction  # for the second sound
    return low + int(np.concatenate([[0.0], np.cumsum(ratios)]).argmin())

"""Which cells of a recording lie at its noise floor, by their levels alone, found as they come.

A noise floor is the lowest level that a recording stays at: steady, below everything else but digital zero, with fewer
levels just above it than at it, and far below what is loud. Sounds that die away pass through low levels and do not
stay; quiet speech is not steady; what is steady all the time has nothing louder beside it; and rain between spoken
items is not the lowest. What a floor is depends on cells at fixed places alone, never on how they come.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Times are in seconds, levels in dB of full scale, spreads in dB.
HISTORY = 120.0  # that a floor is estimated from: long enough to hold pauses of a programme
STEP = 1.0  # that is judged at a time
LOOK_AHEAD = 5.0  # that is heard after it by then: what begins as a pause may turn out to be a quiet sound
WINDOW = 0.2  # that means and spreads are taken over
STEADY = 3.5  # highest spread of a steady window; that of brown noise is about 2.5, of pink 0.9, of white 0.5
AT_LEAST = 0.6  # of windows as low as the floor
OVER_ABOVE = 2.0  # times as many windows at the floor as just above it, at least
LONGEST_BELOW = 0.3  # of cells that are lower than a floor can be: a splice, not a pause
CLEAN_SHARE = 0.25  # of the lowest windows that have no sound in them and tell the spread
LOUD_QUANTILE = 0.95
BELOW_LOUD = 20.0  # that a floor lies below what is loud, at least
LOUDEST_FLOOR = -38.0
LOUDEST_AT_ONCE = -43.0  # what is louder may be rain, and is the floor only where the recording returns to it
APART = 0.5  # from one pause to the next, at least, for the second to be a return
DIGITAL = -92  # what is quieter is digital zero, be it dithered to 16 bits, and no noise of a recording

# Noise that is as flat as in a pause that was cut in counts from its first occurrence on, if it is quiet enough.
FLAT_TIME, FLAT_RANGE = 0.5, 2
BELOW_LOUD_FLAT, LOUDEST_FLAT = 30.0, -53.0


@dataclass(frozen=True)
class Floor:
    """The mean level of cells at the floor and their standard deviation."""

    level: float
    spread: float

    @property
    def near(self) -> float:
        """How far from the floor means of windows may lie."""
        return 1 + self.spread / 2

    @property
    def highest(self) -> float:
        """What cells at the floor lie below."""
        return self.level + 2 + 2.5 * self.spread

    @property
    def lowest(self) -> float:
        """What cells at the floor do not lie below."""
        return self.level - 3 - 2.5 * self.spread


class NoiseFloor:
    """Tells cells at the noise floor of one recording, and all below the level that is quiet in any."""

    longest_wait = STEP + LOOK_AHEAD  # seconds from a cell to the moment when it is judged

    def __init__(self, always_quiet: float) -> None:
        self._always_quiet = always_quiet
        self._levels = np.empty(0, np.int64)  # the history, what is judged next, and what comes after
        self._n_judged = 0  # of these
        self._floor: Floor | None = None

    def push(self, levels: np.ndarray, cell: float) -> np.ndarray:
        """Take in the next levels, of cells of so many seconds; for each that is judged now whether it is quiet."""
        self._levels = np.concatenate([self._levels, levels])
        return self._judge_all(cell, wanted=round(self.longest_wait / cell))

    def finish(self, cell: float) -> np.ndarray:
        """The same for the cells that wait, at the end of the recording."""
        return self._judge_all(cell, wanted=1)

    def _judge_all(self, cell: float, wanted: int) -> np.ndarray:
        parts = [np.empty(0, bool)]
        while len(self._levels) - self._n_judged >= wanted:
            parts.append(self._judge(cell))
        return np.concatenate(parts)

    def _judge(self, cell: float) -> np.ndarray:
        """Whether each cell of the next step is quiet."""
        first, last = self._n_judged, self._n_judged + round(STEP / cell)
        heard = self._levels[: last + round(LOOK_AHEAD / cell)]
        history = heard[-round(HISTORY / cell) :]
        is_quiet = heard < self._always_quiet
        sounding = history[history > DIGITAL]
        if len(sounding):
            loud = float(np.quantile(sounding, LOUD_QUANTILE, method="lower"))
            self._floor = _followed(self._floor, history, loud, cell)
            beside = round(FLAT_TIME / cell)  # a window that touches the step reaches no farther
            near = slice(max(first - beside, 0), last + beside)
            is_quiet[near] |= _is_flat(heard[near], loud, cell)
            if self._floor is not None:
                is_quiet[near] |= _is_at(self._floor, heard[near], cell)
        surplus = max(min(last, len(heard)) + round(LOOK_AHEAD / cell) - round(HISTORY / cell), 0)
        self._levels, self._n_judged = self._levels[surplus:], min(last, len(heard)) - surplus
        return is_quiet[first:last]


def _followed(floor: Floor | None, history: np.ndarray, loud: float, cell: float) -> Floor | None:
    """The floor after so much history, where it was `floor` before.

    It stays until something lower is heard; it rises only when it has not been heard for as long as the history goes
    back, for music without pauses has quiet parts too.
    """
    if floor is not None and not _is_lowest(floor, history, cell):
        floor = None
    means, variances = _windows(history, cell)
    estimate = _estimated(means, variances, loud, cell)
    if estimate is None or not _is_lowest(estimate, history, cell):
        return floor
    if floor is not None and estimate.level > floor.level + 1:
        is_heard = (means <= floor.level + floor.near).sum() * cell >= AT_LEAST
        return floor if is_heard else estimate
    return estimate


def _is_lowest(floor: Floor, history: np.ndarray, cell: float) -> bool:
    return bool(((history < floor.lowest) & (history > DIGITAL)).sum() * cell <= LONGEST_BELOW)


def _estimated(means: np.ndarray, variances: np.ndarray, loud: float, cell: float) -> Floor | None:
    """The lowest level that steady windows return to; None where they do not, or where it is too loud."""
    places = np.flatnonzero((variances <= STEADY**2) & (means > DIGITAL))
    steady = means[places]
    if len(steady) < (n_least := round(AT_LEAST / cell)):
        return None
    low = np.partition(steady, n_least - 1)[n_least - 1]
    if low > min(loud - BELOW_LOUD, LOUDEST_FLOOR):
        return None
    spread = float(np.sqrt(np.quantile(variances[places[steady <= low + 1]], CLEAN_SHARE)))
    near = Floor(float(low), spread).near
    floor = Floor(float(np.median(steady[steady <= low + near])), spread)
    at_floor = places[np.abs(steady - floor.level) <= near]
    returns = bool((np.diff(at_floor) > round(APART / cell)).any())
    n_at = (np.abs(means - floor.level) <= near).sum()
    n_above = ((means > floor.level + near) & (means <= floor.level + 3 * near)).sum()
    is_floor = n_at >= OVER_ABOVE * n_above and (returns or floor.level <= LOUDEST_AT_ONCE)
    return floor if is_floor else None


def _windows(levels: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the window that begins at each cell; sums are of whole numbers, hence exact."""
    n = round(WINDOW / cell)
    if len(levels) < n:
        return np.empty(0), np.empty(0)
    sums, squares = (np.concatenate([[0], np.cumsum(values)]) for values in (levels, levels**2))
    sums, squares = sums[n:] - sums[:-n], squares[n:] - squares[:-n]
    return sums / n, (n * squares - sums**2) / n**2


def _is_at(floor: Floor, levels: np.ndarray, cell: float) -> np.ndarray:
    """Whether each cell is low enough and in a window that is: sounds just above the floor are no part of it."""
    means, _ = _windows(levels, cell)
    return _covered(means <= floor.level + floor.near, len(levels)) & (levels < floor.highest)


def _is_flat(levels: np.ndarray, loud: float, cell: float) -> np.ndarray:
    """Whether each cell is in a stretch of quiet noise that is as flat as if it had been cut in."""
    n = round(FLAT_TIME / cell)
    if len(levels) < n:
        return np.zeros(len(levels), bool)
    stretches = np.lib.stride_tricks.sliding_window_view(levels, n)
    highest, lowest = stretches.max(axis=1), stretches.min(axis=1)
    is_flat = (highest - lowest <= FLAT_RANGE) & (highest < min(loud - BELOW_LOUD_FLAT, LOUDEST_FLAT))
    return _covered(is_flat, len(levels))


def _covered(is_chosen: np.ndarray, n_cells: int) -> np.ndarray:
    """Whether each of so many cells is in one of the chosen windows, of which one begins at each cell but the last."""
    n = n_cells - len(is_chosen) + 1
    return np.convolve(is_chosen, np.ones(n, int))[:n_cells] > 0 if len(is_chosen) else np.zeros(n_cells, bool)

"""Where a recording is silent, by its level: cells that are quiet for long enough, found as they come."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from audioclass.data import QUIETEST, SHORTEST_PADDING, Contours, Segment
from audioclass.errors import UsageError
from audioclass.segmentation.noise_floor import NoiseFloor

SILENCE = "silence"
AUTOMATIC, NO_SILENCE = "auto", "none"  # what may be stated instead of a level
DEFAULT_LEVEL = -60.0
DEFAULT_LEAST = 0.2  # seconds
ROUNDING = 1e-9  # seconds by which sums of times may miss
LONGEST_CLICK = 0.04  # seconds of sound that do not end a silence
BESIDE_CLICK = 0.2  # seconds of silence on both sides of it, at least
DIGITAL_LEVEL = math.floor(20 * math.log10(QUIETEST))  # dB, as levels are rounded
QUIETEST_STATED, LOUDEST_STATED = -110.0, -10.0  # dB: levels that can be asked for


@dataclass(frozen=True)
class SilenceRule:
    """The level in dB of full scale below which a recording is silent, and the seconds that this lasts at least.

    Without a level it is silent below the default, at the noise floor of the recording, and where noise below -53 dB is
    as flat as in a pause that was cut in.
    """

    level: float | None = DEFAULT_LEVEL
    least: float = DEFAULT_LEAST

    @classmethod
    def of(cls, silence: float | str | None, least: float = DEFAULT_LEAST) -> SilenceRule | None:
        """From a level in dB or `auto`; none for None, or for `none`."""
        if silence is None or silence == NO_SILENCE:
            return None
        if silence == AUTOMATIC:
            return cls(None, least)
        try:
            level = float(silence)
        except ValueError:
            raise UsageError(f"silence={silence} must be a level in dB, such as -60, or auto") from None
        return cls(level, least)

    @property
    def longest_wait(self) -> float:
        """Seconds, at most, from a cell to the moment when it is known whether it is silent."""
        return self.least + LONGEST_CLICK + BESIDE_CLICK + (0.0 if self.level is not None else NoiseFloor.longest_wait)

    @property
    def text(self) -> str:
        """The level as it is stated."""
        return AUTOMATIC if self.level is None else f"{self.level:g}"

    def __post_init__(self) -> None:
        if self.level is not None and not QUIETEST_STATED <= self.level <= LOUDEST_STATED:
            raise UsageError(
                f"silence={self.level:g} must be a level from {QUIETEST_STATED:g} to {LOUDEST_STATED:g} dB, or auto"
            )
        if not 0 < self.least < float("inf"):
            raise UsageError(f"min_silence={self.least} must be a time above 0")


DEFAULT_SILENCE = SilenceRule()


class SilenceFinder:
    """The silences of one recording as its cells come.

    Whether a cell is silent is known once the run of quiet cells around it is long enough, or has ended.
    """

    def __init__(self, rule: SilenceRule) -> None:
        self._rule = rule
        self._floor = None if rule.level is not None else NoiseFloor(DEFAULT_LEVEL)
        self._cell, self._start, self._n_cells = 0.0, 0.0, 0
        self._open: float | None = None  # where a run of quiet cells began that has not ended
        self._quiet_until = 0.0  # the end of its last quiet cell
        self._again: float | None = None  # where it is quiet again after a click, for too short a time to tell
        self._end = 0.0  # of what was judged
        self.found: deque[Segment] = deque()  # those that have ended and were not taken yet
        self._recent: deque[Segment] = deque()  # those that windows may lie in
        self._digital = DigitalRuns()

    @property
    def known_until(self) -> float:
        """Up to where it is known what is silent: in `found`, or since `silent_since`."""
        if self._open is None:
            return self._end
        return self._open if self.silent_since is None else self._quiet_until

    @property
    def silent_since(self) -> float | None:
        """Where a silence began that is long enough and has not ended; None where there is none."""
        if self._open is None or self._quiet_until - self._open < self._rule.least - ROUNDING:
            return None
        return self._open

    def shares(self, window: Segment) -> tuple[float, float]:
        """How much of a window is silent, and how much of what its features describe: digital silence they do not.

        All of it is known; windows are asked for in order of time.
        """
        while self._recent and self._recent[0].end <= window.start:
            self._recent.popleft()
        silences = [(one.start, one.end) for one in self._recent]
        if (since := self.silent_since) is not None:
            silences.append((since, self._quiet_until))
        silent, digital = sum(_within(window, silences)), self._digital.seconds_within(window)
        described = window.duration - digital
        of_described = max(silent - digital, 0.0) / described if described > self._cell else 1.0
        return silent / window.duration if window.duration else 0.0, of_described

    def push(self, contours: Contours) -> None:
        """Take in the next cells; what was trimmed before the first is quiet."""
        if not self._cell:
            self._start, self._cell, self._end = contours.start, contours.cell, contours.start
            if contours.start > 0:
                self._open, self._quiet_until = 0.0, contours.start
        self._digital.push(contours)
        if self._floor is None:
            self._take(contours.levels < self._rule.level)
        else:
            self._take(self._floor.push(contours.levels, contours.cell))

    def finish(self, end: float, trailing: float = 0.0) -> None:
        """No more will come: here the sound ends, in seconds, and so much quiet after it was left out."""
        if self._floor is not None:
            self._take(self._floor.finish(self._cell))
        if self._again is not None:  # for too short a time, up to the end
            again, self._again = self._again, None
            self._close()
            self._open, self._quiet_until = again, self._end
        is_quiet = self._open is not None and self._quiet_until >= min(self._end, end) - ROUNDING
        if trailing > 0:
            self._open = self._open if is_quiet else end
            self._quiet_until, is_quiet = end + trailing, True
        self._close(end + trailing if is_quiet and end - self._end < self._cell else None)
        self._end = end + trailing

    def _take(self, is_quiet: np.ndarray) -> None:
        if not len(is_quiet):
            return
        bounds = [0, *(np.flatnonzero(is_quiet[1:] != is_quiet[:-1]) + 1).tolist(), len(is_quiet)]
        for first, last in itertools.pairwise(bounds):
            self._take_run(bool(is_quiet[first]), last - first)

    def _take_run(self, is_quiet: bool, length: int) -> None:
        """So many cells more that are quiet, or that are not."""
        begin, self._n_cells = self._end, self._n_cells + length
        self._end = self._start + self._n_cells * self._cell
        if is_quiet:
            self._go_on(begin)
        elif self._again is not None:
            again, end, self._again = self._again, begin, None
            self._close()
            self._open, self._quiet_until = again, end
        if not is_quiet and self._open is not None and self._end - self._quiet_until > LONGEST_CLICK + ROUNDING:
            self._close()

    def _go_on(self, begin: float) -> None:
        """It is quiet from `begin` on: a new run, the same one, or one after a click."""
        if self._open is not None and begin > self._quiet_until + ROUNDING and self._again is None:
            if self._quiet_until - self._open >= BESIDE_CLICK - ROUNDING:
                self._again = begin
            else:
                self._close()
        if self._again is not None:
            if self._end - self._again < BESIDE_CLICK - ROUNDING:
                return
            self._again = None
        self._open = begin if self._open is None else self._open
        self._quiet_until = self._end

    def _close(self, end: float | None = None) -> None:
        """The run of quiet cells has ended, at the end of the recording or before."""
        since, self._open = self.silent_since, None
        if since is not None:
            silence = Segment(since, self._quiet_until if end is None else end, SILENCE)
            self.found.append(silence)
            self._recent.append(silence)


class DigitalRuns:
    """The runs of cells that are zeros or dither; where a window holds enough of one, it is padding."""

    def __init__(self) -> None:
        self._runs: deque[tuple[float, float]] = deque()
        self._open: float | None = None  # where a run began that has not ended
        self._start, self._end, self._n_cells = 0.0, 0.0, 0

    def push(self, contours: Contours) -> None:
        """Take in the next cells; times are counted from the first, so that they are the same however cells come."""
        self._start = contours.start if not self._n_cells else self._start
        is_digital = contours.levels <= DIGITAL_LEVEL
        changes = np.flatnonzero(np.diff(is_digital.astype(np.int8), prepend=np.int8(self._open is not None)))
        for change in changes.tolist():
            at = self._start + (self._n_cells + change) * contours.cell
            if self._open is None:
                self._open = at
                continue
            if at - self._open >= SHORTEST_PADDING - ROUNDING:
                self._runs.append((self._open, at))
            self._open = None
        self._n_cells += len(is_digital)
        self._end = self._start + self._n_cells * contours.cell

    def seconds_within(self, window: Segment) -> float:
        """How much of a window is padding; windows are asked for in order of time, once all of them is known."""
        while self._runs and self._runs[0][1] <= window.start:
            self._runs.popleft()
        runs = list(itertools.takewhile(lambda run: run[0] < window.end, self._runs))
        runs += [] if self._open is None else [(self._open, self._end)]
        return sum(seconds for seconds in _within(window, runs) if seconds >= SHORTEST_PADDING - ROUNDING)


def _within(window: Segment, stretches: Iterable[tuple[float, float]]) -> Iterator[float]:
    """How much of a window each stretch covers."""
    return (max(0.0, min(end, window.end) - max(start, window.start)) for start, end in stretches)

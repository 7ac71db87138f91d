"""Digital silence at the ends of a recording: left out while the samples stream by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from audioclass.data import QUIETEST

FIRST_LOOK = 256  # samples


class Trimmed:
    """Mono arrays without what is silent at both ends: `leading` samples before the first, `trailing` after the last.

    At the end no more than `longest` samples are left out, for they have to be held until a sound or the end comes. A
    recording that is all silence is one sample of it.
    """

    def __init__(self, arrays: Iterable[np.ndarray], longest: int) -> None:
        self.leading, self.trailing = 0, 0
        self._arrays = arrays
        self._longest = longest

    def __iter__(self) -> Iterator[np.ndarray]:
        """The arrays, cut where silence is; the samples do not depend on how they were cut before."""
        arrays = iter(self._arrays)
        sounding = self._skip_silence(arrays)
        if sounding is None:
            self.leading, self.trailing = 0, max(self.leading - 1, 0)
            yield np.zeros(1, np.float32)
            return
        held = np.empty(0, np.float32)
        for array in _chained(sounding, arrays):
            held = np.concatenate([held, array]) if len(held) else array
            n_silent = _before_sound(array[::-1])
            n_silent = len(held) if n_silent == len(array) else n_silent
            released = len(held) - min(n_silent, self._longest)
            if released:
                yield held[:released]
                held = held[released:]
        self.trailing = len(held)

    def _skip_silence(self, arrays: Iterator[np.ndarray]) -> np.ndarray | None:
        for array in arrays:
            n_silent = _before_sound(array)
            self.leading += n_silent
            if n_silent < len(array):
                return array[n_silent:]
        return None


def _before_sound(array: np.ndarray) -> int:
    """How many samples are silent before the first that is not, looked for in ever longer stretches."""
    n_silent, n_looked_at = 0, FIRST_LOOK
    while n_silent < len(array):
        is_loud = np.abs(array[n_silent : n_silent + n_looked_at]) > np.float32(QUIETEST)
        first = int(is_loud.argmax())
        if is_loud[first]:
            return n_silent + first
        n_silent += len(is_loud)
        n_looked_at *= 4
    return n_silent


def _chained(first: np.ndarray, rest: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    yield first
    yield from rest

"""Where windows lie: of a length and hop in frames, the last one ending with the last frame or just before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Windows:
    """A layout of windows, in frames; a recording of at most `length` frames is one window, all of it.

    Windows start every `hop` frames for as long as they fit; where half a hop or more is left over, one more window
    ends with the last frame.
    """

    length: int
    hop: int

    def __post_init__(self) -> None:
        if self.length < 1 or self.hop < 1:
            raise ValueError(f"a window of {self.length} frames every {self.hop} must be at least 1 and 1")

    def starts(self, n_frames: int) -> list[int]:
        """First frame of each window of a recording of `n_frames`; empty where there are none."""
        if n_frames <= self.length:
            return [0] if n_frames else []
        regular = list(range(0, n_frames - self.length + 1, self.hop))
        last = n_frames - self.length
        return [*regular, last] if 2 * (last - regular[-1]) >= self.hop and last > regular[-1] else regular


class Windower:
    """Cuts a stream of frames into windows as they become whole, holding no more than a window and a block.

    Several matrices with the same rows are cut together, one for each descriptor.
    """

    def __init__(self, layout: Windows) -> None:
        self._layout = layout
        self._held: list[np.ndarray] = []
        self._first = 0  # index of the first frame held
        self._next = 0  # where the next regular window starts
        self._n_frames = 0

    def push(self, matrices: Sequence[np.ndarray]) -> Iterator[tuple[list[int], list[np.ndarray]]]:
        """Take in the next frames; give the starts and the (n_windows, length, d) views of the windows now whole."""
        held = self._held or [matrix[:0] for matrix in matrices]
        self._held = [np.concatenate(pair) for pair in zip(held, matrices, strict=True)]
        self._n_frames += len(matrices[0])
        length, hop = self._layout.length, self._layout.hop
        count = (self._n_frames - self._next - length) // hop + 1
        if count < 1:
            return
        at = self._next - self._first
        yield (
            [self._next + i * hop for i in range(count)],
            [_cut(matrix[at:], length, hop, count) for matrix in self._held],
        )
        self._next += count * hop
        self._forget(min(self._next, self._n_frames - length))

    def finish(self) -> Iterator[tuple[list[int], list[np.ndarray]]]:
        """The window that ends with the last frame, unless a regular one did, or nearly did."""
        starts = self._layout.starts(self._n_frames)
        if starts and (self._next == 0 or starts[-1] % self._layout.hop):
            at = starts[-1] - self._first
            yield starts[-1:], [matrix[None, at : at + self._layout.length] for matrix in self._held]

    def _forget(self, before: int) -> None:
        if before > self._first:
            self._held = [matrix[before - self._first :] for matrix in self._held]
            self._first = before


def _cut(matrix: np.ndarray, length: int, hop: int, count: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(matrix, length, axis=0)[::hop][:count]
    return windows.transpose(0, 2, 1)

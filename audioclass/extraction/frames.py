"""The stream of samples on one canonical grid of frames, so that no result depends on how the audio was cut.

Blocks of frames have the same size and the same place whatever the sizes in which samples come, because BLAS and FFT
may round differently for other shapes. Around its own frames a block carries the context that descriptors need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra

FRAMES_PER_BLOCK = 320  # a live stream waits for so many: 8 seconds at 40 frames a second


def spectra_blocks(
    samples: Iterable[np.ndarray],
    framing: Framing,
    context: int,
    n_together: int = FRAMES_PER_BLOCK,
    *,
    slowest: float = 1.0,
) -> Iterator[tuple[CachedSpectra, slice]]:
    """Spectra of successive blocks and which of their frames are the block's own; the others are context.

    Half a frame of zeros stands before the first sample and after the last: frame i is centred on sample i·hop_length,
    and one sample is enough for a frame. Versions of them are at least as fast as `slowest`.
    """
    grid = _Grid(framing, context, n_together, slowest)
    for chunk in samples:
        grid.take_in(chunk)
        yield from grid.whole_blocks()
    grid.take_in(np.zeros(framing.frame_length // 2, np.float32))
    yield from grid.whole_blocks()
    yield from grid.last_block()


class _Grid:
    """Samples held back until the frames that need them are whole."""

    def __init__(self, framing: Framing, context: int, n_together: int, slowest: float) -> None:
        self._framing, self._context, self._n_together, self._slowest = framing, context, n_together, slowest
        self._chunks = [np.zeros(framing.frame_length // 2, np.float32)]
        self._n_held = len(self._chunks[0])
        self._start = 0  # index of the first sample held
        self._frame = 0  # first frame of the next block

    def take_in(self, chunk: np.ndarray) -> None:
        self._chunks.append(chunk)
        self._n_held += len(chunk)

    def whole_blocks(self) -> Iterator[tuple[CachedSpectra, slice]]:
        while self._n_frames >= self._frame + self._n_together + self._context:
            yield self._block(self._n_together)

    def last_block(self) -> Iterator[tuple[CachedSpectra, slice]]:
        while self._n_frames > self._frame:
            yield self._block(min(self._n_together, self._n_frames - self._frame))

    @property
    def _n_frames(self) -> int:
        """Frames of the recording that are whole so far."""
        beyond = self._start + self._n_held - self._framing.frame_length
        return beyond // self._framing.hop_length + 1 if beyond >= 0 else 0

    def _block(self, count: int) -> tuple[CachedSpectra, slice]:
        first = max(self._frame - self._context, 0)
        stop = min(self._frame + count + self._context, self._n_frames)
        hop, length = self._framing.hop_length, self._framing.frame_length
        held = np.concatenate(self._chunks)
        samples = held[first * hop - self._start : (stop - 1) * hop + length - self._start]
        inside = slice(self._frame - first, self._frame - first + count)
        self._frame += count
        needed = max(self._frame - self._context, 0) * hop
        self._chunks = [held[needed - self._start :]]
        self._n_held -= needed - self._start
        self._start = needed
        return CachedSpectra(samples, self._framing, self._slowest), inside

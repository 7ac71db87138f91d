"""Level and colour of a recording over time, measured as its blocks pass: finer than windows, and beside them.

Everything is computed a second of cells at a time, always at the same places, so that it is the same to the bit however
the samples come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from audioclass.data import Block, Contours
from audioclass.threads import one_thread

CELL = 0.02  # seconds
TOGETHER = 50  # cells that are computed at a time
LONGEST_BATCH = 1.1  # seconds that these last, with what is read beside them, at 1 kHz and above
N_BANDS = 20
LOWEST, HIGHEST = 60.0, 8000.0  # hertz
FLOOR = 1e-10  # power of full scale, below which all is alike
QUIETEST = -100  # dB: what the floor is


class ContourMeter:
    """Measures one recording: `watch` its blocks, and `take` what has become known by then."""

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._length = cell_length(sample_rate)
        self._held = np.zeros(self._length // 2, np.float32)  # samples from half a cell before the next one on
        self._start, self._n_samples = 0, 0
        self._levels, self._bands = [], []  # type: list[np.ndarray], list[np.ndarray]
        self._n_cells = 0

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks themselves; they are mono and at the sample rate that was stated."""
        for block in blocks:
            self.push(block)
            yield block
        self._held = np.concatenate([self._held, np.zeros((TOGETHER + 2) * self._length, np.float32)])
        n_cells = -(-self._n_samples // self._length)
        while self._n_cells < n_cells:
            self._measure(min(TOGETHER, n_cells - self._n_cells))

    def push(self, block: Block) -> None:
        """Take in the next block."""
        if not self._n_samples:
            self._start = block.start
        self._held = np.concatenate([self._held, block.samples[:, 0]])
        self._n_samples += len(block.samples)
        while len(self._held) >= (TOGETHER + 2) * self._length:
            self._measure(TOGETHER)

    def take(self) -> Contours:
        """The cells that have become known since this was asked before."""
        levels = np.concatenate([np.empty(0, np.int8), *self._levels])
        bands = np.concatenate([np.empty((0, N_BANDS), np.float32), *self._bands])
        self._levels, self._bands = [], []
        first = self._n_cells - len(levels)
        return Contours(levels, bands, self._length / self._rate, (self._start + first * self._length) / self._rate)

    def n_known(self, n_samples: int) -> int:
        """How many cells are known once so many samples have come, in blocks of whatever size."""
        length = self._length
        return max((length // 2 + n_samples - 2 * length) // (TOGETHER * length), 0) * TOGETHER

    @one_thread()
    def _measure(self, n_cells: int) -> None:
        """Level and bands of the next cells; a batch at the end is computed as if it were full."""
        length, half = self._length, self._length // 2
        cells = self._held[half : half + TOGETHER * length].reshape(TOGETHER, length).astype(np.float64)
        cells -= cells.mean(axis=1, keepdims=True)
        levels = 10 * np.log10(np.einsum("cs,cs->c", cells, cells) / length + FLOOR)
        halves = self._held[: (TOGETHER + 1) * length].reshape(TOGETHER + 1, length)
        frames = np.concatenate([halves[:-1], halves[1:]], axis=1)
        frames *= _taper(2 * length)
        spectra = np.fft.rfft(frames, axis=1)
        power = spectra.real * spectra.real + spectra.imag * spectra.imag
        bands = 10 * np.log10(power @ _band_weights(2 * length, self._rate) + np.float32(FLOOR))
        self._held = self._held[n_cells * length :]
        self._levels.append(np.floor(levels[:n_cells]).astype(np.int8))
        self._bands.append(bands[:n_cells])
        self._n_cells += n_cells


def cell_length(sample_rate: int) -> int:
    """The samples of a cell."""
    return max(2, round(CELL * sample_rate))


def cell_seconds(sample_rate: int) -> float:
    """How long a cell lasts."""
    return cell_length(sample_rate) / sample_rate


@cache
def _taper(length: int) -> np.ndarray:
    """A Hann window of unit power."""
    taper = np.hanning(length + 1)[:-1]
    return np.asarray(taper / np.sqrt((taper**2).sum()), np.float32)


@cache
def _band_weights(length: int, sample_rate: int) -> np.ndarray:
    """(n_bins, N_BANDS): triangles that are even on the mel scale."""
    highest = min(HIGHEST, sample_rate / 2)
    edges = _hertz(np.linspace(_mel(min(LOWEST, highest / 2)), _mel(highest), N_BANDS + 2))
    frequencies = np.arange(length // 2 + 1)[:, None] * sample_rate / length
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    return np.asarray(2 / length * np.maximum(np.minimum(rising, falling), 0), np.float32)


def _mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def _hertz(mel: np.ndarray) -> np.ndarray:
    return np.asarray(700 * (10 ** (mel / 2595) - 1))

"""Rhythm by the beat, and patterns of change in blocks of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

MULTIPLES = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1.0, 4 / 3, 3 / 2, 2.0, 3.0, 4.0)
USUAL_BEAT = 0.5  # seconds: where people tap, most readily within an octave


@component
class Beat:
    """Autocorrelation of the onsets in regions of frequency at parts and multiples of the beat: free of tempo.

    The beat is the lag at which the onsets of all regions repeat best, near half a second rather than far from it.
    """

    name: ClassVar[str] = "beat"
    regions: int = parameter(5, low=1, high=64, help="regions of frequency")
    longest: float = parameter(1.2, above=0.1, high=10.0, help="longest beat, in seconds")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each region at each multiple, then the beat's length as a logarithm and how clear it is."""
        regions = tracks.numbered(columns, min(self.regions, len(columns)))
        return [*tracks.suffixed(regions, [f"beat{one:.3g}" for one in MULTIPLES]), "beat_length", "beat_clarity"]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Autocorrelations are 1 at lag 0, linear between lags and 0 beyond the window."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.regions)
        onsets = np.maximum(tracks.derivative(levels, reach=1), 0)
        lags = _autocorrelations(np.concatenate([onsets, onsets.sum(axis=2, keepdims=True)], axis=2))
        seconds = np.arange(lags.shape[2]) / frame_rate
        is_beat = (seconds >= 0.2) & (seconds <= self.longest)
        if not is_beat.any():
            return np.zeros((len(windows), len(MULTIPLES) * levels.shape[2] + 2), np.float32)
        preference = np.exp(-0.5 * np.log2(seconds[is_beat] / USUAL_BEAT) ** 2)
        beat = seconds[is_beat][(lags[:, -1, is_beat] * preference).argmax(axis=1)]
        read = np.stack([_at(lags, beat * frame_rate * one) for one in MULTIPLES], axis=1)
        clarity = _at(lags, beat * frame_rate)[:, -1]
        pace = np.stack([np.log2(beat / USUAL_BEAT), clarity], axis=1)
        return np.concatenate([tracks.flat(read[:, :, :-1]), pace], axis=1).astype(np.float32)


@component
class DeltaPatterns:
    """Sorted rises of the bands in blocks of frames, and how much they vary: two of Seyerlehner's patterns."""

    name: ClassVar[str] = "delta_patterns"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    frames: int = parameter(25, low=2, high=1024, help="length of a block, in frames; half of it is the hop")
    ranks: int = parameter(8, low=1, high=128, help="how many of the sorted rises are kept, evenly spaced")
    reach: int = parameter(3, low=1, high=64, help="frames over which a rise is measured")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band at each rank, then its variance."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        return [*tracks.suffixed(bands, [f"rise{i}" for i in range(self.ranks)]), *tracks.suffixed(bands, ["variance"])]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """The 90th percentile over blocks of what is sorted within each, and the median of the variances."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        before = np.maximum(np.arange(levels.shape[1]) - self.reach, 0)
        rises = levels - levels[:, before]
        missing = max(0, self.frames - rises.shape[1])
        rises = np.pad(rises, ((0, 0), (0, missing), (0, 0)))
        blocks = np.lib.stride_tricks.sliding_window_view(rises, self.frames, axis=1)[:, :: self.frames // 2]
        chosen = np.linspace(0, self.frames - 1, self.ranks).round().astype(int)
        ranked = np.sort(np.maximum(blocks, 0), axis=3)[:, :, :, chosen]
        n_windows, n_blocks, n_bands, _ = ranked.shape
        patterns = tracks.percentiles(ranked.reshape(n_windows, n_blocks, n_bands * self.ranks), [90.0])[0]
        patterns = patterns.reshape(n_windows, n_bands, self.ranks).transpose(0, 2, 1)
        variances = tracks.percentiles(np.log(blocks.var(axis=3) + np.float32(0.1)), [50.0])[0]
        return np.concatenate([tracks.flat(patterns), variances], axis=1).astype(np.float32)


def _autocorrelations(onsets: np.ndarray) -> np.ndarray:
    """(n_windows, d, n_lags), of what is left without the mean."""
    moving = tracks.centred(onsets)[0].transpose(0, 2, 1)
    n = moving.shape[2]
    spectrum = scipy.fft.rfft(moving, scipy.fft.next_fast_len(2 * n, real=True), axis=2)
    lags = scipy.fft.irfft(spectrum.real**2 + spectrum.imag**2, axis=2)[:, :, :n]
    return np.asarray(lags / (lags[:, :, :1] + np.float32(1e-3)))


def _at(lags: np.ndarray, where: np.ndarray) -> np.ndarray:
    """(n_windows, d): values between two lags, a place for each window."""
    below = np.minimum(where.astype(int), lags.shape[2])
    padded = np.pad(lags, ((0, 0), (0, 0), (0, 2)))
    rows, part = np.arange(len(lags)), (where - below)[:, None]
    inside = np.clip(part, 0, 1)
    return np.asarray(padded[rows, :, below] * (1 - inside) + padded[rows, :, below + 1] * inside)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """The beat and patterns of change."""
    return [Beat, DeltaPatterns]

"""Modulation: how fast the bands of a window rise and fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

SHORTEST = 2.0  # seconds: shorter windows are padded to it, so that every modulation band holds a bin
FLOOR = np.float32(1e-2)  # of a modulation energy in squared decibels
FOUR_HERTZ = (2.8, 5.6)  # the octave around the rate of syllables
FEW = 8  # bands of modulation that are averaged one by one, as the shipped model has them

Banded = Callable[[np.ndarray, float, np.ndarray], np.ndarray]


@component
class ModulationSpectrum:
    """Energy of the level of each mel band in log-spaced bands of modulation frequency, as a logarithm."""

    name: ClassVar[str] = "modulation_spectrum"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    rates: int = parameter(10, low=1, high=64, help="bands of modulation frequency")
    slowest: float = parameter(0.5, above=0.0, help="lower edge of the first, in hertz")
    fastest: float = parameter(50.0, above=0.0, help="upper edge of the last, in hertz, at most half the frame rate")
    frames: int = parameter(0, low=0, high=8192, help="length of half-overlapping stretches that are averaged; 0: all")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the number of the modulation band."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        return tracks.suffixed(bands, [f"rate{i}" for i in range(self.rates)])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """log of the mean power of the spectrum over time in each modulation band, the mean level taken out."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        edges = _edges(self.rates, self.slowest, self.fastest, frame_rate)
        if self.frames:
            return np.log(_mean_energies(levels, self.frames, frame_rate, edges) + FLOOR)
        return np.log(_energies(levels, frame_rate, edges, _many_bands if self.rates > FEW else _banded) + FLOOR)


@component
class FourHertz:
    """Share of the modulation between 0.5 and 25 Hz that lies around 4 Hz, the rate of syllables, as a logarithm."""

    name: ClassVar[str] = "four_hertz"
    bands: int = parameter(8, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """One for each band."""
        return tracks.suffixed(tracks.numbered(columns, min(self.bands, len(columns))), ["4hz"])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """log of the energy from 2.8 to 5.6 Hz, minus log of that from 0.5 to 25 Hz."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        near = _energies(levels, frame_rate, np.array(FOUR_HERTZ), _banded) + FLOOR
        return np.log(near / (_energies(levels, frame_rate, np.array([0.5, 25.0]), _banded) + FLOOR))


@component
class Rhythm:
    """Modulation spectrum and autocorrelation of the loudness envelope, of all bands and of each quarter of them."""

    name: ClassVar[str] = "rhythm"
    rates: int = parameter(20, low=1, high=64, help="bands of modulation frequency from 0.5 to 50 Hz")
    lags: int = parameter(24, low=1, high=128, help="log-spaced lags of the autocorrelation")
    longest: float = parameter(2.0, above=0.0, help="longest lag, in seconds")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")
    envelopes: ClassVar[tuple[str, ...]] = ("whole", "quarter0", "quarter1", "quarter2", "quarter3")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Envelopes with the numbers of modulation bands, then of lags."""
        names = self.envelopes[: 1 + min(4, len(columns))]
        rates = tracks.suffixed(names, [f"rate{i}" for i in range(self.rates)])
        return rates + [f"{name}_lag{i}" for name in names for i in range(self.lags)]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Autocorrelations are those of the envelopes without their mean, 1 at lag 0; 0 at lags beyond the window."""
        quarters = tracks.merge_bands(tracks.level_free(windows, self.depth), 4)
        envelopes = np.concatenate([quarters.mean(axis=2, keepdims=True), quarters], axis=2)
        rates = np.log(_energies(envelopes, frame_rate, _edges(self.rates, 0.5, 50.0, frame_rate), _many_bands) + FLOOR)
        lags = _log_spaced_lags(self.lags, self.longest, frame_rate)
        return np.concatenate([rates, tracks.flat(_autocorrelations(envelopes, lags))], axis=1)


@component
class LevelRhythm:
    """How the level of a window moves: autocorrelation, spectrum, percentiles, duration and how much of it is loud."""

    name: ClassVar[str] = "level_rhythm"
    lags: int = parameter(100, low=1, high=512, help="how many lags of the autocorrelation, equally spaced")
    longest: float = parameter(2.0, above=0.0, help="longest lag, in seconds")
    rates: int = parameter(39, low=1, high=128, help="bands of modulation frequency from 0.5 to 50 Hz")
    percentiles: tuple[float, ...] = parameter((5, 25, 50, 75, 95), low=0.0, high=100.0, help="percentiles, in percent")
    parts: tuple[float, ...] = parameter((10, 20, 40), above=0.0, help="decibels below the loudest frame")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Lags, modulation bands, percentiles, the duration, and the part of the frames above each bound."""
        lags, rates = ([f"level_{what}{i}" for i in range(n)] for what, n in (("lag", self.lags), ("rate", self.rates)))
        shares = [f"part_above_{part:g}" for part in self.parts]
        return [*lags, *rates, *(f"level_p{percent:g}" for percent in self.percentiles), "log_duration", *shares]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """The level is that of the power of all columns; the duration is log2 of seconds."""
        level = tracks.levels(windows, self.depth)[:, :, None]
        lags = (np.arange(1, self.lags + 1) * self.longest * frame_rate / self.lags).round().astype(int)
        duration = np.full((len(windows), 1), np.log2(windows.shape[1] / frame_rate), np.float32)
        return np.concatenate(
            [
                tracks.flat(_autocorrelations(level, lags)),
                np.log(_energies(level, frame_rate, _edges(self.rates, 0.5, 50.0, frame_rate), _many_bands) + FLOOR),
                *tracks.percentiles(level, self.percentiles),
                duration,
                *((level >= np.float32(-part)).mean(axis=1, dtype=np.float32) for part in self.parts),
            ],
            axis=1,
        )


@cache
def _edges(rates: int, slowest: float, fastest: float, frame_rate: float) -> np.ndarray:
    return np.geomspace(slowest, max(min(fastest, frame_rate / 2), 1.01 * slowest), rates + 1)


@cache
def _log_spaced_lags(count: int, longest: float, frame_rate: float) -> np.ndarray:
    return np.geomspace(2, max(longest * frame_rate, 2), count).round().astype(int)


def _energies(levels: np.ndarray, frame_rate: float, edges: np.ndarray, banded: Banded) -> np.ndarray:
    """(n_windows, n_bands · d): mean power over time of each column between neighbouring edges, in hertz."""
    n_frames = levels.shape[1]
    size = scipy.fft.next_fast_len(max(n_frames, int(SHORTEST * frame_rate)), real=True)
    moving = tracks.centred(levels)[0].transpose(0, 2, 1)
    spectrum = scipy.fft.rfft(moving, size, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2) / np.float32(n_frames)
    return banded(power, frame_rate / size, edges)


def _mean_energies(levels: np.ndarray, length: int, frame_rate: float, edges: np.ndarray) -> np.ndarray:
    """(n_windows, n_bands · d): the same of the mean over stretches of `length` frames under a Hann window.

    A window shorter than that is one stretch, continued by its mean.
    """
    within = min(length, levels.shape[1])
    taper = np.hanning(within + 2)[1:-1].astype(np.float32)
    total = np.zeros((len(levels), levels.shape[2], length // 2 + 1), np.float32)
    starts = range(0, levels.shape[1] - within + 1, max(within // 2, 1))
    for start in starts:
        moving = tracks.centred(levels[:, start : start + within])[0] * taper[:, None]
        spectrum = scipy.fft.rfft(moving.transpose(0, 2, 1), length, axis=2)
        total += spectrum.real**2 + spectrum.imag**2
    return _many_bands(total / np.float32(len(starts) * (taper @ taper)), frame_rate / length, edges)


def _banded(power: np.ndarray, hertz: float, edges: np.ndarray) -> np.ndarray:
    """Means of the bins between neighbouring edges, at least one bin; bins lie `hertz` apart."""
    last = power.shape[2] - 1
    at = np.minimum(np.searchsorted(np.arange(last + 1) * hertz, edges), last)
    bands = [power[:, :, a : max(a + 1, b)].mean(axis=2) for a, b in pairwise(at)]
    return np.concatenate(bands, axis=1)


def _many_bands(power: np.ndarray, hertz: float, edges: np.ndarray) -> np.ndarray:
    """The same by one product: sums are taken in another order."""
    means = power @ _mean_matrix(power.shape[2], hertz, tuple(edges.tolist()))
    return tracks.flat(means.transpose(0, 2, 1))


@lru_cache(maxsize=64)
def _mean_matrix(n_bins: int, hertz: float, edges: tuple[float, ...]) -> np.ndarray:
    """(n_bins, n_bands): from the power of bins to the means of `_banded`."""
    at = np.minimum(np.searchsorted(np.arange(n_bins) * hertz, edges), n_bins - 1)
    matrix = np.zeros((n_bins, len(edges) - 1), np.float32)
    for column, (a, b) in enumerate(pairwise(at)):
        matrix[a : max(a + 1, b), column] = 1 / (max(a + 1, b) - a)
    return matrix


def _autocorrelations(envelopes: np.ndarray, lags: np.ndarray) -> np.ndarray:
    """(n_windows, d, n_lags)."""
    moving = tracks.centred(envelopes)[0].transpose(0, 2, 1)
    size = scipy.fft.next_fast_len(moving.shape[2] + int(lags[-1]) + 1, real=True)
    spectrum = scipy.fft.rfft(moving, size, axis=2)
    correlations = scipy.fft.irfft(spectrum.real**2 + spectrum.imag**2, size, axis=2)
    return np.asarray(correlations[:, :, lags] / (correlations[:, :, :1] + np.float32(1e-3)))


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Modulation and rhythm."""
    return [ModulationSpectrum, FourHertz, Rhythm, LevelRhythm]

"""The shape of the spectrum: moments, tilt, roll-off, flux, flatness, crest and irregularity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.filters import octave_edges, octave_matrix
from audioclass.descriptors.spectra import TINY, TOGETHER
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

SMALLEST_VARIANCE = np.float32(1e-10)  # of a spectrum that is one line, in squared parts of the Nyquist frequency


@component
class SpectralMoments:
    """Centroid and spread of the power in parts of the Nyquist frequency, its skewness, log(1 + kurtosis)."""

    name: ClassVar[str] = "spectral_moments"

    def columns(self, framing: Framing) -> list[str]:
        """Four moments."""
        return ["centroid", "spread", "spectral_skewness", "spectral_kurtosis"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """With p_k = |X_k|²/Σ|X|² and f from 0 to 1: Σpf, √Σp(f−c)², Σp(f−c)³/s³, log(1 + Σp(f−c)⁴/s⁴).

        At a lower speed no bin is left out: the first two are so much lower.
        """
        if spectra.recorded is not spectra and spectra.framing.speed <= 1:
            speed = np.float32(spectra.framing.speed)
            return spectra.recorded.values_of(self) * np.array([speed, speed, 1, 1], np.float32)
        frequency = _frequencies(spectra.framing)
        total = spectra.total_power[:, 0] + TINY
        centroid = spectra.power @ frequency / total
        sums = [
            _central_sums(spectra.power[first : first + TOGETHER], frequency - centroid[first : first + TOGETHER, None])
            for first in range(0, len(total), TOGETHER)
        ]
        second, third, fourth = np.concatenate([np.empty((3, 0), np.float32), *sums], axis=1) / total
        variance = np.maximum(second, SMALLEST_VARIANCE)
        return np.stack([centroid, np.sqrt(variance), third / variance**1.5, np.log1p(fourth / variance**2)], axis=1)


@component
class SpectralTilt:
    """How the magnitude falls: its centroid, the slope of its regression line, and its decrease from the first bin."""

    name: ClassVar[str] = "spectral_tilt"

    def columns(self, framing: Framing) -> list[str]:
        """Three values."""
        return ["magnitude_centroid", "slope", "decrease"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """With a_k = |X_k|/Σ|X|, f from 0 to 1: Σaf; Σ(f−f̄)a / Σ(f−f̄)²; Σ_{k≥1}(a_k − a_0)/k / Σ_{k≥1}a_k."""
        sums = spectra.magnitude @ _tilt_matrix(spectra.framing)
        total = sums[:, 0] + np.float32(1e-5)
        first = spectra.magnitude[:, 0]
        harmonic = _tilt_matrix(spectra.framing)[:, 3].sum()
        decrease = (sums[:, 3] - first * harmonic) / (total - first)
        return np.stack([sums[:, 1] / total, sums[:, 2] / total, decrease], axis=1)


@component
class RollOff:
    """log2(1 + bin) of the frequencies below which given parts of the power lie; 0 in digital silence."""

    name: ClassVar[str] = "roll_off"
    parts: tuple[float, ...] = parameter((0.85, 0.95), above=0.0, high=1.0, help="parts of the power")

    def __post_init__(self) -> None:
        if not self.parts or len({f"{part:g}" for part in self.parts}) < len(self.parts):
            raise ValueError(f"roll_off: parts={self.parts} must be one or more different numbers")

    def columns(self, framing: Framing) -> list[str]:
        """One for each part."""
        return [f"roll_off_{part:g}" for part in self.parts]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """The first bin k at which Σ_{i≤k}|X_i|² ≥ part · Σ|X|²; at a speed, the bin where its frequency would lie."""
        cumulated = spectra.recorded.cumulated
        last = min(spectra.framing.n_bins, cumulated.shape[1]) - 1
        bins = _first_reaching(cumulated, np.array(self.parts, np.float32) * cumulated[:, last : last + 1])
        return np.asarray(np.log2(1 + spectra.framing.speed * bins).astype(np.float32))


@component
class Flux:
    """Change of the spectrum since the frame before: Σ|a_t − a_{t−1}| of magnitudes that sum to one; 0 at the start."""

    name: ClassVar[str] = "flux"
    context: ClassVar[int] = 1

    def columns(self, framing: Framing) -> list[str]:
        """One value, from 0 to 2."""
        return ["flux"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Differences of neighbouring rows; at a lower speed no bin is left out: they are those of the recording."""
        if spectra.recorded is not spectra and spectra.framing.speed <= 1:
            return spectra.recorded.values_of(self)
        totals = spectra.magnitude.sum(axis=1, keepdims=True) + np.float32(1e-5)
        flux = np.zeros((len(totals), 1), np.float32)
        for first in range(0, len(totals) - 1, TOGETHER):
            some = slice(first, first + TOGETHER + 1)
            unit = spectra.magnitude[some] / totals[some]
            change = unit[1:] - unit[:-1]
            flux[some][1:, 0] = np.abs(change, out=change).sum(axis=1)
        return flux


@component
class Flatness:
    """How noise-like the spectrum is: log of geometric over arithmetic mean of the power, overall and per octave."""

    name: ClassVar[str] = "flatness"

    def columns(self, framing: Framing) -> list[str]:
        """One for the whole and one for each octave band."""
        return ["flatness", *_octave_names("flatness", framing)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """mean(log p) − log(mean p): 0 for a flat spectrum, far below for a line."""
        means = spectra.values_of(_Means())
        logarithms = spectra.log_power @ octave_matrix(spectra.framing)
        whole = spectra.log_power.mean(axis=1, keepdims=True)
        return np.asarray(np.concatenate([whole, logarithms], axis=1) - means)


@component
class Crest:
    """How peaked the spectrum is: log of maximum over mean of the power, overall and per octave band."""

    name: ClassVar[str] = "crest"

    def columns(self, framing: Framing) -> list[str]:
        """One for the whole and one for each octave band."""
        return ["crest", *_octave_names("crest", framing)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """log(max p) − log(mean p), 0 for a flat spectrum."""
        edges = octave_edges(spectra.framing)
        peaks = [spectra.log_power[:, low:high].max(axis=1) for low, high in pairwise(edges)]
        return np.asarray(np.stack([np.max(peaks, axis=0), *peaks], axis=1) - spectra.values_of(_Means()))


@dataclass(frozen=True)
class _Means:
    """Logarithm of the mean power, overall and per octave band, which flatness and crest share."""

    name: ClassVar[str] = "means"

    def columns(self, framing: Framing) -> list[str]:
        return ["mean", *_octave_names("mean", framing)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        whole = spectra.total_power / np.float32(spectra.framing.n_bins)
        means = np.concatenate([whole, spectra.power @ octave_matrix(spectra.framing)], axis=1)
        return np.asarray(np.log(means + TINY))


@component
class Irregularity:
    """Jaggedness of the spectrum (Jensen): Σ(a_k − a_{k+1})² / Σa_k², from 0 to 2."""

    name: ClassVar[str] = "irregularity"

    def columns(self, framing: Framing) -> list[str]:
        """One value."""
        return ["irregularity"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Differences of neighbouring bins; 0 in digital silence."""
        change = np.diff(spectra.magnitude, axis=1)
        return np.asarray(np.einsum("ij,ij->i", change, change)[:, None] / (spectra.total_power + TINY))


def _central_sums(power: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """(3, n_frames): the power times the second, third and fourth power of the distance from the centroid.

    They are summed as they stand: the difference of raw moments has no digits left for narrow spectra.
    """
    square = distance * distance
    weighted = power * square
    higher = [np.einsum("ij,ij->i", weighted, factor) for factor in (distance, square)]
    return np.stack([weighted.sum(axis=1), *higher])


def _first_reaching(rising: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """(n, k): the first column of each row that is at least a bound, for (n, k) bounds that the last column reaches.

    All rows are searched together, each time half of what is left.
    """
    n_columns = rising.shape[1]
    values, first = rising.reshape(-1), np.arange(len(rising))[:, None] * n_columns
    below, last = np.broadcast_to(first - 1, bounds.shape), first + n_columns - 1  # what is below the bound for sure
    step = 1 << max(n_columns - 1, 1).bit_length() - 1
    while step:
        further = np.minimum(below + step, last)
        below = np.where(values.take(further) < bounds, further, below)
        step //= 2
    return np.asarray(below + 1 - first)


def _octave_names(what: str, framing: Framing) -> list[str]:
    return [f"{what}_octave_{i}" for i in range(len(octave_edges(framing)) - 1)]


@cache
def _frequencies(framing: Framing) -> np.ndarray:
    return np.linspace(0, _highest(framing), framing.n_bins, dtype=np.float32)


def _highest(framing: Framing) -> float:
    """The frequency of the last bin in parts of the Nyquist frequency: 1, or a little less at a speed."""
    return (framing.n_bins - 1) * framing.speed / max(framing.frame_length // 2, 1)


@cache
def _tilt_matrix(framing: Framing) -> np.ndarray:
    """(n_bins, 4): sum, mean frequency, regression slope on frequency, and sum of a_k/k.

    At a speed, bins lie that much further apart: a sum over frequencies counts each so many times.
    """
    n_bins, speed = framing.n_bins, framing.speed
    frequency = np.linspace(0, _highest(framing), n_bins)
    centred = frequency - frequency.mean()
    slope = centred / (speed * (centred**2).sum())
    harmonic = np.concatenate([[0.0], 1 / (speed * np.arange(1, n_bins))])
    return np.stack([np.ones(n_bins), frequency, slope, harmonic], axis=1).astype(np.float32)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """The shape of the spectrum, each part by itself."""
    return [SpectralMoments, SpectralTilt, RollOff, Flux, Flatness, Crest, Irregularity]

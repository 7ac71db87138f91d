"""Patterns of log-mel bands in time and frequency: onsets, ripples, and the loudest and quietest frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks


@component
class OnsetStatistics:
    """Statistics of the change of each mel band from frame to frame, and of its rising part alone."""

    name: ClassVar[str] = "onset_statistics"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")
    statistics: ClassVar[tuple[str, ...]] = (
        "change", "deviation", "skewness", "kurtosis", "rise_mean", "rise_deviation", "fastest_rise", "fastest_fall",
    )  # fmt: skip

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the name of the statistic."""
        return tracks.suffixed(tracks.numbered(columns, min(self.bands, len(columns))), self.statistics)

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Of half the difference between the frame after and the frame before."""
        change = tracks.derivative(tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands), reach=1)
        rise = np.maximum(change, 0)
        pooled = [np.abs(change).mean(axis=1), *tracks.moments(change, 4)[1:], *tracks.moments(rise, 2)]
        return np.concatenate([*pooled, change.max(axis=1), change.min(axis=1)], axis=1)


@component
class Ripples:
    """Two-dimensional modulation of patches of log-mel: ripple density over frequency by rate over time.

    Rising and falling ripples are kept apart; the mean of the logarithms over all patches of the window.
    """

    name: ClassVar[str] = "ripples"
    bands: int = parameter(64, low=2, high=512, help="bands of frequency, merged from the descriptor's")
    frames: int = parameter(64, low=8, high=1024, help="length of a patch, in frames; half of it is the hop")
    densities: int = parameter(12, low=1, high=256, help="how many ripple densities, from none on")
    rates: int = parameter(8, low=2, high=64, help="how many edges of log-spaced rates")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Rates, falling and rising, with the number of the ripple density."""
        rates = ["still" if not first else f"{direction}{first}" for first, _, direction in self._rates()]
        return [f"ripple_{rate}_{i}" for rate in rates for i in range(self._densities(len(columns)))]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """A window shorter than a patch is continued by its mean spectrum."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        missing = self.frames - levels.shape[1]
        if missing > 0:
            filling = np.repeat(levels.mean(axis=1, keepdims=True), missing, axis=1)
            levels = np.concatenate([levels, filling], axis=1)
        power = self._patch_power(levels)
        parts = [self._between(power, *rate).mean(axis=2) for rate in self._rates()]
        ripples = np.log(np.stack(parts, axis=2) + 1).mean(axis=1)
        return tracks.flat(ripples)

    def _patch_power(self, levels: np.ndarray) -> np.ndarray:
        """(n_windows, n_patches, n_rates, n_densities)."""
        views = np.lib.stride_tricks.sliding_window_view(levels, self.frames, axis=1)[:, :: self.frames // 2]
        taper = (0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, self.frames + 2)))[1:-1].astype(np.float32)
        patches = (views - views.mean(axis=(2, 3), keepdims=True)) * taper
        over_bands = scipy.fft.rfft(patches, axis=2)[:, :, : self._densities(levels.shape[2])]
        both = scipy.fft.fft(over_bands.transpose(0, 1, 3, 2), axis=2)
        return np.asarray(both.real**2 + both.imag**2)

    def _between(self, power: np.ndarray, first: int, last: int, direction: str) -> np.ndarray:
        low, high = (first, last) if direction == "falling" else (self.frames - last + 1, self.frames - first + 1)
        return power[:, :, low:high]

    def _rates(self) -> list[tuple[int, int, str]]:
        """First and last bin of each rate, with its direction; the slowest holds what does not move."""
        edges = np.unique(np.concatenate([[0], np.geomspace(1, self.frames // 2 - 1, self.rates).astype(int)]))
        pairs = [(int(a), int(b)) for a, b in pairwise(edges)]
        return [(a, b, direction) for a, b in pairs for direction in (("falling", "rising") if a else ("falling",))]

    def _densities(self, n_columns: int) -> int:
        return min(self.densities, min(self.bands, n_columns) // 2 + 1)


@component
class LoudAndQuiet:
    """Mean spectrum of the loudest and of the quietest frames of a window."""

    name: ClassVar[str] = "loud_and_quiet"
    share: float = parameter(0.1, above=0.0, high=1.0, help="share of the frames at each end, at least one")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band, loud and quiet."""
        return tracks.suffixed(columns, ["loud", "quiet"])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Frames are ranked by the mean of their level-free bands; ties in order of time."""
        levels = tracks.level_free(windows, self.depth)
        count = max(1, round(self.share * levels.shape[1]))
        order = np.argsort(levels.mean(axis=2), axis=1, kind="stable")
        ends = [np.take_along_axis(levels, rows[:, :, None], axis=1) for rows in (order[:, -count:], order[:, :count])]
        return np.concatenate([end.mean(axis=1) for end in ends], axis=1)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Patterns in time and frequency."""
    return [OnsetStatistics, Ripples, LoudAndQuiet]

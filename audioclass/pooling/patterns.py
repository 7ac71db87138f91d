"""Patterns of log-mel bands in time and frequency: onsets, ripples, ranks of loudness, and what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

MOMENTS = ("mean", "deviation", "skewness", "kurtosis")
ONSET_VALUES = (
    "change", "deviation", "skewness", "kurtosis", "rise_mean", "rise_deviation", "fastest_rise", "fastest_fall",
)  # fmt: skip
RISES = ("rise_skewness", "rise_kurtosis")


@component
class OnsetStatistics:
    """Statistics of the change of each mel band from frame to frame, and of its rising part alone."""

    name: ClassVar[str] = "onset_statistics"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")
    reach: int = parameter(1, low=1, high=16, help="frames on either side that the change is the slope over")
    values: tuple[str, ...] = parameter(ONSET_VALUES, choices=(*ONSET_VALUES, *RISES), help="which statistics")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the name of the statistic."""
        return tracks.suffixed(tracks.numbered(columns, min(self.bands, len(columns))), self.values)

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """With a reach of 1 the change is half the difference between the frame after and the frame before."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        change = tracks.derivative(levels, self.reach)
        rises = tracks.moments(np.maximum(change, 0), 4 if set(RISES) & set(self.values) else 2)
        known = dict(zip(MOMENTS, tracks.moments(change, 4), strict=True))
        known |= {f"rise_{name}": value for name, value in zip(MOMENTS, rises, strict=False)}
        known |= {"fastest_rise": change.max(axis=1), "fastest_fall": change.min(axis=1)}
        if "change" in self.values:
            known["change"] = np.abs(change).mean(axis=1)
        return np.concatenate([known[value] for value in self.values], axis=1)


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
    height: int = parameter(0, low=0, high=512, help="bands of a patch; half of it is the step; 0 takes all bands")
    log_of_mean: bool = parameter(False, help="whether the logarithm is taken of the mean over patches")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Rates, falling and rising, with the number of the ripple density, for each place of a patch."""
        rates = ["still" if not first else f"{direction}{first}" for first, _, direction in self._rates()]
        places = self._places(min(self.bands, len(columns)))
        names = ["ripple" if len(places) == 1 else f"ripple_from{place.start}" for place in places]
        n_densities = self._densities(places[0].stop - places[0].start)
        return [f"{name}_{rate}_{i}" for name in names for rate in rates for i in range(n_densities)]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """A window shorter than a patch is continued by its mean spectrum."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        missing = self.frames - levels.shape[1]
        if missing > 0:
            filling = np.repeat(levels.mean(axis=1, keepdims=True), missing, axis=1)
            levels = np.concatenate([levels, filling], axis=1)
        power = self._patch_power(levels)
        if self.log_of_mean:
            power = power.mean(axis=1, keepdims=True)
        ripples = np.log(power @ _means_of_rates(self) + 1).mean(axis=1)
        return tracks.flat(ripples.transpose(0, 1, 3, 2))

    def _places(self, n_bands: int) -> list[slice]:
        """The bands of each row of patches, from low to high."""
        height = min(self.height or n_bands, n_bands)
        return [slice(low, low + height) for low in range(0, n_bands - height + 1, max(height // 2, 1))]

    def _patch_power(self, levels: np.ndarray) -> np.ndarray:
        """(n_windows, n_patches, n_places, n_densities, n_frames): of each bin of modulation.

        Bands are transformed once for all patches, by a product; the mean of a patch is in its density 0 alone.
        """
        over_bands = np.asarray(levels @ _transform(self, levels.shape[2]), np.float32).view(np.complex64)
        views = np.lib.stride_tricks.sliding_window_view(over_bands, self.frames, axis=1)[:, :: self.frames // 2]
        places = self._places(levels.shape[2])
        shape = len(places), self._densities(places[0].stop), self.frames
        patches = np.array(views, order="C").reshape(*views.shape[:2], *shape)
        patches[:, :, :, 0] -= patches[:, :, :, 0].mean(axis=3, keepdims=True)
        patches *= (0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, self.frames + 2)))[1:-1].astype(np.float32)
        both = scipy.fft.fft(patches, axis=4, overwrite_x=True)
        return np.asarray(both.real**2 + both.imag**2)

    def _rates(self) -> list[tuple[int, int, str]]:
        """First and last bin of each rate, with its direction; the slowest holds what does not move."""
        edges = np.unique(np.concatenate([[0], np.geomspace(1, self.frames // 2 - 1, self.rates).astype(int)]))
        pairs = [(int(a), int(b)) for a, b in pairwise(edges)]
        return [(a, b, direction) for a, b in pairs for direction in (("falling", "rising") if a else ("falling",))]

    def _densities(self, n_bands: int) -> int:
        return min(self.densities, n_bands // 2 + 1)


@lru_cache(maxsize=16)
def _transform(ripples: Ripples, n_bands: int) -> np.ndarray:
    """(n_bands, n_places · n_densities · 2): real and imaginary part of e^(−2πi · density · band / height)."""
    places = ripples._places(n_bands)
    height = places[0].stop
    angles = 2 * np.pi / height * np.outer(np.arange(height), np.arange(ripples._densities(height)))
    waves = np.stack([np.cos(angles), -np.sin(angles)], axis=2).reshape(height, -1)
    transform = np.zeros((n_bands, len(places), waves.shape[1]), np.float32)
    for i, place in enumerate(places):
        transform[place, i] = waves
    return transform.reshape(n_bands, -1)


@lru_cache(maxsize=16)
def _means_of_rates(ripples: Ripples) -> np.ndarray:
    """(n_frames, n_rates): from bins of modulation to means over those of each rate."""
    rates, n_frames = ripples._rates(), ripples.frames
    matrix = np.zeros((n_frames, len(rates)), np.float32)
    for column, (first, last, direction) in enumerate(rates):
        low, high = (first, last) if direction == "falling" else (n_frames - last + 1, n_frames - first + 1)
        matrix[low:high, column] = 1 / (high - low)
    return matrix


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


@component
class LoudnessRanks:
    """Mean spectrum of the frames of a window between given ranks of loudness, from the quietest to the loudest."""

    name: ClassVar[str] = "loudness_ranks"
    bands: int = parameter(64, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    edges: tuple[float, ...] = parameter((0, 10, 40, 70, 90, 100), low=0.0, high=100.0, help="ranks, in percent")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(b <= a for a, b in pairwise(self.edges)):
            raise ValueError(f"loudness_ranks: edges={self.edges} must be at least two rising percentages")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the ranks."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        return tracks.suffixed(bands, [f"rank{a:g}_{b:g}" for a, b in pairwise(self.edges)])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Frames are ranked by the power of all bands, ties in order of time; at least one frame is between ranks."""
        spectra = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        order = np.argsort(tracks.levels(windows, self.depth), axis=1, kind="stable")
        ranked = np.take_along_axis(spectra, order[:, :, None], axis=1)
        last = ranked.shape[1] - 1
        cuts = [(min(int(a / 100 * (last + 1)), last), round(b / 100 * (last + 1))) for a, b in pairwise(self.edges)]
        return np.concatenate([ranked[:, a : max(a + 1, b)].mean(axis=1) for a, b in cuts], axis=1)


@component
class Sharpness:
    """How far bands stand out from those beside them (tonal) and from the frames around them (percussive)."""

    name: ClassVar[str] = "sharpness"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency that what stands out is merged into")
    beside: int = parameter(4, low=1, high=64, help="bands on either side")
    around: int = parameter(7, low=1, high=256, help="frames before and after")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the name of the statistic, tonal and percussive."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        kinds = [f"{band}_{kind}" for kind in ("tonal", "percussive") for band in bands]
        return tracks.suffixed(kinds, [*MOMENTS[:3], "maximum"])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """The positive part of the level minus the mean level on both sides and here; the ends are repeated."""
        levels = tracks.level_free(windows, self.depth)
        means = (tracks.moving_mean(levels, self.beside, axis=2), tracks.moving_mean(levels, self.around, axis=1))
        above = [np.subtract(levels, mean, out=mean) for mean in means]
        merged = [tracks.merge_bands(np.maximum(each, 0, out=each), self.bands) for each in above]
        both = np.concatenate(merged, axis=2)
        return np.concatenate([*tracks.moments(both, 3), both.max(axis=1)], axis=1)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Patterns in time and frequency."""
    return [OnsetStatistics, Ripples, LoudAndQuiet, LoudnessRanks, Sharpness]

"""What follows the strongest onsets of a window: a spectrogram around the moments at which its level rises most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks


@component
class OnsetPatches:
    """Mean patch of log-mel around the strongest rises of level, how many there are and how strong they are."""

    name: ClassVar[str] = "onset_patches"
    bands: int = parameter(32, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    most: int = parameter(5, low=1, high=64, help="how many rises at most")
    apart: float = parameter(0.25, above=0.0, help="seconds between two rises, at least")
    before: float = parameter(0.04, low=0.0, high=10.0, help="seconds of a patch before the rise")
    after: float = parameter(0.22, low=0.0, high=10.0, help="seconds of a patch after the rise")
    step: float = parameter(0.02, above=0.0, help="seconds of each column of a patch")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def __post_init__(self) -> None:
        if (self.before + self.after) / self.step > 1024:
            raise ValueError(f"onset_patches: step={self.step:g} must be at least a 1024th of a patch")

    @property
    def _n_columns(self) -> int:
        return round((self.before + self.after) / self.step) + 1

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the number of the column of time, then three values of the rises."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        patch = [f"{band}_step{i}" for i in range(self._n_columns) for band in bands]
        return [*patch, "n_rises", "strongest_rise", "mean_rise"]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Each patch is in decibels below its maximum; rises are those of the level of all bands, per frame.

        The strongest rise counts in any case, others only where they rise; beyond its ends a window is continued.
        """
        spectra = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        rises = tracks.derivative(tracks.levels(windows, self.depth)[:, :, None])[:, :, 0]
        if not len(windows):
            return np.empty((0, self._n_columns * spectra.shape[2] + 3), np.float32)
        apart = self.apart * frame_rate
        return np.stack([self._pool_one(*window, apart, frame_rate) for window in zip(spectra, rises, strict=True)])

    def _pool_one(self, spectrum: np.ndarray, rise: np.ndarray, apart: float, frame_rate: float) -> np.ndarray:
        peaks = _strongest(rise, self.most, apart)
        at = np.arange(self._n_columns) * self.step - self.before
        width = max(1, round(self.step * frame_rate))
        frames = np.floor(at * frame_rate + 0.5).astype(int)[:, None] + np.arange(width)
        places = np.clip(np.array(peaks)[:, None, None] + frames, 0, len(rise) - 1)
        patches = spectrum[places].mean(axis=2)
        patches -= patches.max(axis=(1, 2), keepdims=True)
        values = [len(peaks), rise[peaks].max(), rise[peaks].mean()]
        return np.concatenate([patches.mean(axis=0).reshape(-1), np.array(values, np.float32)])


def _strongest(rise: np.ndarray, most: int, apart: float) -> list[int]:
    """The frames of the strongest rises, the strongest first, each at least `apart` frames from those before it."""
    left = rise.copy()
    frames = np.arange(len(rise))
    chosen: list[int] = []
    while len(chosen) < most:
        best = int(left.argmax())
        if chosen and left[best] <= 0:
            break
        chosen.append(best)
        left[np.abs(frames - best) < apart] = -np.inf
    return chosen


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Patches around onsets."""
    return [OnsetPatches]

"""The sounding part of a window as an image of so many frames and bands, however long it is: words by their course."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks


@component
class SoundingImage:
    """Level-free bands of the sounding part of a window, brought to a number of frames.

    With `change`, time runs faster where the spectrum stays: a vowel that is held takes no more room than one that is
    not (trace segmentation).
    """

    name: ClassVar[str] = "sounding_image"
    frames: int = parameter(20, low=1, high=512, help="frames of the image")
    bands: int = parameter(40, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    centred: bool = parameter(False, help="whether the mean of each band is taken out")
    change: float = parameter(
        0.0, low=0.0, high=1.0, help="how far time runs with the change of the spectrum instead of the clock"
    )
    depth: float = parameter(35.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")
    active: float = parameter(20.0, above=0.0, help="decibels below the loudest at which sound begins and ends")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each band with the number of the frame."""
        bands = tracks.numbered(columns, min(self.bands, len(columns)))
        return tracks.suffixed(bands, [f"frame{i}" for i in range(self.frames)])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Sounding parts differ in length, so windows are taken one by one."""
        levels = tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)
        pooled = np.empty((len(windows), self.frames, levels.shape[2]), np.float32)
        for image, level, window in zip(pooled, levels, windows, strict=True):
            image[:] = self._image(level[tracks.sounding(window, self.active)].astype(np.float64))
        return tracks.flat(pooled)

    def _image(self, levels: np.ndarray) -> np.ndarray:
        image = resize(levels, self.frames, tracks.cumulated(self._lengths(levels)))
        return image - image.mean(axis=0) if self.centred else image

    def _lengths(self, levels: np.ndarray) -> np.ndarray:
        """How long each frame lasts in the time of the image, of 1 in all."""
        even = np.full(len(levels), 1 / len(levels))
        moves = np.sqrt((np.diff(levels, axis=0, prepend=levels[:1]) ** 2).mean(axis=1))
        if not self.change or not moves.sum():
            return even
        return np.asarray(even + self.change * (moves / moves.sum() - even))


def resize(levels: np.ndarray, n_frames: int, edges: np.ndarray) -> np.ndarray:
    """(n_frames, d): means over equal parts of the time in which frame i lasts from edges[i] to edges[i + 1].

    >>> resize(np.array([[0.0], [3.0]]), 3, np.array([0, 3, 6])).tolist()
    [[0.0], [1.5], [3.0]]
    """
    total = tracks.cumulated(levels * np.diff(edges)[:, None])
    times = np.linspace(0, edges[-1], n_frames + 1)
    frame = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(levels) - 1)
    up_to = total[frame] + (times - edges[frame])[:, None] * levels[frame]
    return np.asarray(np.diff(up_to, axis=0) * (n_frames / edges[-1]))


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """The image of the sounding part."""
    return [SoundingImage]

"""The frames of windows, a track for each set of descriptors, and which of them features describe.

Digital silence that lasts is padding: somebody put it there, between recordings or to make them longer. A window that
holds some is described by its sounding frames alone. Two tenths of a second of zeros are enough for the shipped model
to take music for something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from audioclass.contracts import Descriptor
from audioclass.data import QUIETEST
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import Recipe


@dataclass(frozen=True)
class FrameTrack:
    """Values of every frame that parts read: those of descriptors and of their derivatives, at one speed.

    Without descriptors it is the samples, which embeddings read at every speed. `frame_length` is that of parts whose
    frames are shorter than those of the recipe.
    """

    descriptors: tuple[Descriptor, ...] = ()
    derivatives: int = 0
    speed: float = 1.0
    frame_length: int | None = None

    @classmethod
    def of(cls, part: Part, speed: float) -> FrameTrack:
        """The one that a part reads."""
        if part.embedding is not None:
            return SAMPLES
        return cls(part.descriptors, part.derivatives, speed, part.frame_length)


SAMPLES = FrameTrack()


def tracks_of(recipe: Recipe) -> list[FrameTrack]:
    """Every track that a recipe needs, once; windows are cut also where it has no part."""
    return list(dict.fromkeys(FrameTrack.of(part, speed) for speed in recipe.versions for part in recipe.parts)) or [
        SAMPLES
    ]


def is_digital(spectra: CachedSpectra) -> np.ndarray:
    """(n_frames, 1): whether the samples about the middle of each frame, a hop of them, are zeros or dither."""
    length = spectra.framing.frame_length
    n_samples = min(spectra.framing.hop_length, length)
    first = (length - n_samples) // 2
    about = spectra.frames[:, first : first + n_samples]
    return np.asarray(np.einsum("ts,ts->t", about, about)[:, None] <= n_samples * QUIETEST**2)


@dataclass(frozen=True, eq=False)
class WindowFrames:
    """Windows by their first frames: (n_windows, n_frames, d) of each track, and which frames are padding.

    Padding is digital silence for `SHORTEST_PADDING` or longer. A window is described by its other frames; one that has
    no others, by all.
    """

    starts: list[int]
    tracks: dict[FrameTrack, np.ndarray]
    is_padding: np.ndarray

    @classmethod
    def of(cls, starts: list[int], tracks: Sequence[FrameTrack], frames: Sequence[np.ndarray], shortest: float) -> Self:
        """From the frames of all tracks and, last, whether each frame is digital silence."""
        *values, digital = frames
        return cls(starts, dict(zip(tracks, values, strict=True)), _long_runs(digital[..., 0], shortest))

    def sounding(self, window: int) -> dict[FrameTrack, np.ndarray]:
        """(1, n_sounding, d) of each track, of one window; samples, which embeddings read, stay together."""
        of_window = {track: frames[window : window + 1] for track, frames in self.tracks.items()}
        is_sounding = ~self.is_padding[window]
        if is_sounding.all():
            return of_window
        return {track: frames if track == SAMPLES else frames[:, is_sounding] for track, frames in of_window.items()}


def _long_runs(is_digital: np.ndarray, shortest: float) -> np.ndarray:
    """(n_windows, n_frames): what is digital for so many frames or more, unless all of a window is."""
    is_long = np.zeros_like(is_digital)
    for i in np.flatnonzero(is_digital.any(axis=1) & ~is_digital.all(axis=1)):
        changes = np.flatnonzero(np.diff(is_digital[i].astype(np.int8), prepend=0, append=0))
        for first, last in changes.reshape(-1, 2):
            is_long[i, first:last] = last - first >= shortest
    return is_long

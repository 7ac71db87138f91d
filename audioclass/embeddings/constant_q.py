"""The constant-Q transform, bins at equal steps of pitch, and what is read from it: chroma and tonal centroids."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from audioclass.contracts import Embedding
from audioclass.embeddings.windows import hop_length_at, mean_and_deviation, mono_windows, padded
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.threads import one_thread

CLASSES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
CIRCLES = ("fifths", "minor_thirds", "major_thirds")
CHROMA_BINS = 36  # bins an octave: three for a semitone, so that a note a little out of tune stays in its class
QUIETEST = 1e-7  # a window whose loudest bin is below is silence


@component
class _ConstantQ:
    """A vector of a window from its constant-Q transform."""

    name: ClassVar[str]

    sample_rate: int = parameter(22050, low=8000, high=48000, help="samples per second")
    lowest: float = parameter(32.70319566257483, low=10.0, high=4000.0, help="lowest bin, in hertz (C1)")
    octaves: int = parameter(7, low=1, high=10, help="octaves from the lowest bin up")

    def __post_init__(self) -> None:
        _check_range(self.name, self.lowest, self.octaves, self.sample_rate)

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window."""
        (vector,) = self.embed_many(samples[None], sample_rate)
        return np.asarray(vector)

    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vectors of many windows."""
        raise NotImplementedError


@component
class Cqt(_ConstantQ):
    """Level of each constant-Q bin, in decibels below the window's loudest: mean and deviation over time."""

    name: ClassVar[str] = "cqt"

    bins_per_octave: int = parameter(12, low=1, high=96, help="bins an octave")
    depth: float = parameter(80.0, above=0.0, high=120.0, help="decibels below the loudest bin that count")

    def columns(self) -> list[str]:
        """One for each bin, by its frequency in hertz."""
        hertz = self.lowest * 2 ** (np.arange(self.octaves * self.bins_per_octave) / self.bins_per_octave)
        return [f"cqt_{value}_{one:.4g}" for value in ("mean", "deviation") for one in hertz]

    @one_thread()
    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """Means, then deviations; −`depth` and 0 in silence."""
        windows = mono_windows(windows, sample_rate, self.sample_rate)
        magnitude = constant_q(windows, sample_rate, self.lowest, self.octaves, self.bins_per_octave)
        loudest = magnitude.max(axis=(1, 2), keepdims=True)
        shares = np.where(loudest > QUIETEST, magnitude / np.maximum(loudest, QUIETEST), 0)
        return mean_and_deviation(np.maximum(20 * np.log10(np.maximum(shares, QUIETEST)), -self.depth))


@component
class ChromaCqt(_ConstantQ):
    """Strength of the twelve pitch classes from a constant-Q transform: mean and deviation over time."""

    name: ClassVar[str] = "chroma_cqt"

    key_invariant: bool = parameter(False, help="count classes from the strongest: the same in every key")

    def columns(self) -> list[str]:
        """From C to B, or by semitones above the strongest class."""
        classes = [f"{i}_above" for i in range(12)] if self.key_invariant else CLASSES
        return [f"chroma_cqt_{value}_{one}" for value in ("mean", "deviation") for one in classes]

    @one_thread()
    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """Means, then deviations, of frames in which the strongest class is 1; 0 in silence."""
        windows = mono_windows(windows, sample_rate, self.sample_rate)
        pooled = mean_and_deviation(chroma(windows, sample_rate, self.lowest, self.octaves))
        return _from_the_strongest(pooled) if self.key_invariant else pooled


@component
class Tonnetz(_ConstantQ):
    """Tonal centroids, chroma on the circles of fifths, minor and major thirds: mean, deviation and mean's radius."""

    name: ClassVar[str] = "tonnetz"

    def columns(self) -> list[str]:
        """Two coordinates on each circle, then how far the mean is from each centre, which no transposition changes."""
        coordinates = [f"{circle}_{axis}" for circle in CIRCLES for axis in ("x", "y")]
        pooled = [f"tonnetz_{value}_{one}" for value in ("mean", "deviation") for one in coordinates]
        return pooled + [f"tonnetz_radius_{circle}" for circle in CIRCLES]

    @one_thread()
    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """Means, deviations and radii; 0 in silence."""
        import librosa

        windows = mono_windows(windows, sample_rate, self.sample_rate)
        pooled = mean_and_deviation(
            librosa.feature.tonnetz(chroma=chroma(windows, sample_rate, self.lowest, self.octaves))
        )
        return np.concatenate([pooled, np.hypot(pooled[:, 0:6:2], pooled[:, 1:6:2])], axis=1)


def constant_q(windows: np.ndarray, sample_rate: int, lowest: float, octaves: int, bins_per_octave: int) -> np.ndarray:
    """(n_windows, n_bins, n_frames), the magnitude; bins lie where the parameters say, no tuning is estimated."""
    return _constant_q(windows.tobytes(), len(windows), sample_rate, lowest, octaves, bins_per_octave)


def chroma(windows: np.ndarray, sample_rate: int, lowest: float, octaves: int) -> np.ndarray:
    """(n_windows, 12, n_frames), from C to B, the strongest class of each frame 1; 0 in silence."""
    import librosa

    return librosa.feature.chroma_cqt(
        C=constant_q(windows, sample_rate, lowest, octaves, CHROMA_BINS),
        sr=sample_rate,
        fmin=lowest,
        bins_per_octave=CHROMA_BINS,
        tuning=0.0,
    )


@lru_cache(maxsize=1)  # of the windows at hand: chroma and tonal centroids in one recipe read the same transform
def _constant_q(
    samples: bytes, n_windows: int, sample_rate: int, lowest: float, octaves: int, bins_per_octave: int
) -> np.ndarray:
    import librosa

    windows = np.frombuffer(samples, np.float32).reshape(n_windows, -1)
    hop_length = hop_length_at(sample_rate)
    transform = librosa.cqt(  # most of its time makes the filters, once for all windows
        padded(windows, _longest_filter(sample_rate, lowest, bins_per_octave)),
        sr=sample_rate,
        hop_length=hop_length,
        fmin=lowest,
        n_bins=octaves * bins_per_octave,
        bins_per_octave=bins_per_octave,
        tuning=0.0,
    )
    magnitude: np.ndarray = np.abs(transform[..., : 1 + windows.shape[1] // hop_length])
    magnitude.setflags(write=False)
    return magnitude


def _from_the_strongest(pooled: np.ndarray) -> np.ndarray:
    """(n_windows, 24), means and deviations of the classes, turned so that the class of the largest mean is first."""
    turned = (pooled[:, :12].argmax(axis=1)[:, None] + np.arange(12)) % 12
    return np.take_along_axis(pooled, np.concatenate([turned, turned + 12], axis=1), axis=1)


def _check_range(name: str, lowest: float, octaves: int, sample_rate: int) -> None:
    highest, half = lowest * 2**octaves, sample_rate / 2
    if highest > half:
        raise ValueError(
            f"{name}: {octaves} octaves from {lowest:.4g} Hz reach {highest:.4g} Hz, must stay within {half:g} Hz, "
            f"half the sample rate"
        )


def _longest_filter(sample_rate: int, lowest: float, bins_per_octave: int) -> int:
    """Samples under the filter of the lowest bin, as the power of two that its transform takes."""
    step = 2 ** (2 / bins_per_octave)
    return 1 << int(np.ceil(np.log2((step + 1) / (step - 1) * sample_rate / lowest)))


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    """The transform, chroma and tonal centroids."""
    return [Cqt, ChromaCqt, Tonnetz]

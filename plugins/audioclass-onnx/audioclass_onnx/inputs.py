"""What a network takes: samples, or log-mel frames of them, with or without axes for batch and channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.data import Framing

CORE_AXES = {"waveform": 1, "log_mel": 2}
NATURAL = np.float32(np.log(10) / 10)  # of a decibel


@dataclass(frozen=True)
class Frames:
    """Log-mel frames: how samples are cut, the bands and their lowest frequency, and the logarithm."""

    framing: Framing
    bands: int
    lowest: float
    scale: str

    def of(self, samples: np.ndarray) -> np.ndarray:
        """(n_frames, bands) of whole frames; fewer samples than a frame are followed by silence."""
        from audioclass.descriptors.spectra import CachedSpectra

        missing = self.framing.frame_length - len(samples)
        padded = np.pad(samples, (0, max(missing, 0)))
        level = CachedSpectra(padded, self.framing).log_mel(self.bands, self.lowest)
        return level * NATURAL if self.scale == "natural" else level

    def n_samples(self, n_frames: int) -> int:
        """As many as give so many frames."""
        return (n_frames - 1) * self.framing.hop_length + self.framing.frame_length


@dataclass(frozen=True)
class Layout:
    """The axes of an input: `shape` with None for any size, as (batch, channel, samples) or (…, frames, bands).

    Batch and channel may be missing; `bands_first` turns the last two axes of frames around.
    """

    form: str
    shape: tuple[int | None, ...]
    bands_first: bool = False

    def __post_init__(self) -> None:
        extra = len(self.shape) - CORE_AXES[self.form]
        if extra not in (0, 1, 2):
            core = CORE_AXES[self.form]
            raise ValueError(f"input of {len(self.shape)} axes, a {self.form} has {core} to {core + 2}")
        if extra == 2 and self.shape[1] not in (1, None):
            raise ValueError(f"input of {self.shape[1]} channels, must have 1")
        if extra and self.shape[0] not in (1, None):
            raise ValueError(f"input of {self.shape[0]} windows at a time, must take any number or 1")

    @property
    def has_batch(self) -> bool:
        """Whether the first axis counts windows."""
        return len(self.shape) > CORE_AXES[self.form]

    @property
    def takes_many(self) -> bool:
        """Whether several windows can be given at once."""
        return self.has_batch and self.shape[0] is None

    @property
    def length(self) -> int | None:
        """How many samples or frames it takes; None where any number goes."""
        return self.shape[-2] if self.form == "log_mel" and not self.bands_first else self.shape[-1]

    def arranged(self, values: np.ndarray) -> np.ndarray:
        """(n, n_samples) or (n, n_frames, bands) as the input; n is 1 unless it takes many."""
        values = values.swapaxes(1, 2) if self.bands_first else values
        extra = len(self.shape) - CORE_AXES[self.form]
        return values[0] if extra == 0 else values if extra == 1 else values[:, None]


def find_bands(shape: tuple[int | None, ...], asked: int | None) -> tuple[int | None, bool]:
    """How many bands a log-mel input has, and whether they come before the frames.

    The axis of the asked size, the last where both have it; without one, the only axis of fixed size.
    """
    before, last = (None, None, *shape)[-2:]
    if asked is not None:
        return asked, last not in (asked, None) or (last is None and before == asked)
    if last is not None:
        return (last, False) if before is None else (None, False)
    return before, before is not None


def cut(samples: np.ndarray, length: int | None) -> np.ndarray:
    """(…, n_samples) into windows of a length, (…, n_windows, length): side by side, the last ending with the samples.

    Fewer samples than a window are followed by silence; without a length all samples are one window.
    """
    n_samples = samples.shape[-1]
    if length is None:
        return samples[..., None, :]
    if n_samples < length:
        return np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(0, length - n_samples)])[..., None, :]
    starts = list(range(0, n_samples - length + 1, length))
    starts += [n_samples - length] if starts[-1] + length < n_samples else []
    return np.stack([samples[..., start : start + length] for start in starts], axis=-2)

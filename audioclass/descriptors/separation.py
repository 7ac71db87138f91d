"""Harmonic-percussive separation: what lasts along time against what lasts along frequency."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.spectra import TINY
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Hpss:
    """Shares of the harmonic and of the percussive part in a frame's power; what is neither is the rest to one.

    Medians along time and along frequency of the magnitudes are compared, by librosa: a bin is harmonic in so far as
    the median along time is the larger by `margin`. A median sees only so many frames, so blocks give the same bits.
    """

    name: ClassVar[str] = "hpss"

    frames_around: int = parameter(15, low=1, high=200, help="frames before and after that the harmonic median sees")
    bins_around: int = parameter(
        15, low=1, high=2000, help="bins or bands on each side that the percussive median sees"
    )
    margin: float = parameter(2.0, low=1.0, help="how many times larger one median must be than the other")
    bands: int | None = parameter(None, low=4, high=512, help="separate so many mel bands (default: all bins, slower)")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first mel band, in hertz")

    @property
    def context(self) -> int:
        """Frames on each side that a row depends on."""
        return self.frames_around

    def columns(self, framing: Framing) -> list[str]:
        """Two shares."""
        return ["harmonic_share", "percussive_share"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Σ_k m_k p_k / Σ_k p_k for the soft masks m of both parts, p the power; 0 in silence."""
        import librosa

        power = spectra.power if self.bands is None else spectra.mel(self.bands, self.lowest)
        if not len(power):
            return np.empty((0, 2), np.float32)
        masks = librosa.decompose.hpss(
            np.sqrt(power).T,
            kernel_size=(2 * self.frames_around + 1, 2 * self.bins_around + 1),
            margin=self.margin,
            mask=True,
        )
        total = power.sum(axis=1) + TINY
        return np.stack([(mask.T * power).sum(axis=1) / total for mask in masks], axis=1).astype(np.float32)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Harmonic-percussive separation."""
    return [Hpss]

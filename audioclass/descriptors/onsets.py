"""Onset strength: how much louder a frame is than the one before, band by band."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class OnsetStrength:
    """Mean over mel bands of the rise since the frame before, in decibels: mean_b max(0, L_t − L_{t−1})."""

    name: ClassVar[str] = "onset_strength"
    context: ClassVar[int] = 1
    bands: int = parameter(64, low=1, high=512, help="number of mel bands")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first band, in hertz")

    def columns(self, framing: Framing) -> list[str]:
        """One value."""
        return ["onset_strength"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Differences of neighbouring rows, their negative parts left out; 0 at the start."""
        levels = spectra.log_mel(self.bands, self.lowest)
        strength = np.zeros((len(levels), 1), np.float32)
        strength[1:, 0] = np.maximum(levels[1:] - levels[:-1], 0).mean(axis=1)
        return strength


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Onset strength."""
    return [OnsetStrength]

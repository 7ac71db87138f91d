"""Spectral contrast: peaks against valleys within regions of the spectrum."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Contrast:
    """Mean of the two highest minus mean of the two lowest of each eight neighbouring log-mel bands, in decibels."""

    name: ClassVar[str] = "contrast"
    bands: int = parameter(64, low=8, high=512, help="number of mel bands, a multiple of 8")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first band, in hertz")
    together: ClassVar[int] = 8

    def __post_init__(self) -> None:
        if self.bands % self.together:
            raise ValueError(f"contrast: bands={self.bands} must be a multiple of {self.together}")

    def columns(self, framing: Framing) -> list[str]:
        """One for each region, from low to high."""
        return [f"contrast_{i}" for i in range(self.bands // self.together)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Mel bands are sorted within each region: mel regions are few, bins would be many."""
        levels = spectra.log_mel(self.bands, self.lowest)
        ranked = np.sort(levels.reshape(len(levels), self.bands // self.together, self.together), axis=2)
        return np.asarray((ranked[:, :, -1] + ranked[:, :, -2] - ranked[:, :, 0] - ranked[:, :, 1]) * np.float32(0.5))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Spectral contrast."""
    return [Contrast]

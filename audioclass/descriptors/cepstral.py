"""Mel-frequency cepstral coefficients."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Mfcc:
    """Cosine transform of the log-mel bands: c_j = Σ_b L_b cos(πj(b + ½)/B), orthonormal; the 0th carries the level."""

    name: ClassVar[str] = "mfcc"
    coefficients: int = parameter(20, low=1, high=128, help="how many, from the 0th on")
    bands: int = parameter(40, low=1, high=512, help="number of mel bands")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first band, in hertz")

    def __post_init__(self) -> None:
        if self.coefficients > self.bands:
            raise ValueError(f"mfcc: coefficients={self.coefficients} must be at most bands={self.bands}")

    def columns(self, framing: Framing) -> list[str]:
        """One for each coefficient."""
        return [f"mfcc_{i}" for i in range(self.coefficients)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """scipy's transform, type II."""
        levels = spectra.log_mel(self.bands, self.lowest)
        return np.asarray(scipy.fft.dct(levels, norm="ortho", axis=1)[:, : self.coefficients])


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Cepstral coefficients."""
    return [Mfcc]

"""Mel bands in decibels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class LogMel:
    """Power in bands of equal width on the mel scale, in decibels: 10 log10 Σ_k w_bk |X_k|², floored at −100."""

    name: ClassVar[str] = "log_mel"
    bands: int = parameter(64, low=1, high=512, help="number of bands")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first band, in hertz")

    def columns(self, framing: Framing) -> list[str]:
        """One for each band, from low to high."""
        return [f"mel_{band}" for band in range(self.bands)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """The shared view itself."""
        return spectra.log_mel(self.bands, self.lowest)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Mel bands."""
    return [LogMel]

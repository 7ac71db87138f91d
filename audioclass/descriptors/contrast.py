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
        """Of mel bands, which are few, and of all regions at a time."""
        levels = spectra.log_mel(self.bands, self.lowest)
        columns = np.array(levels.reshape(-1, self.together).T, order="C")
        highest, high = _leading(columns, np.maximum, np.minimum)
        lowest, low = _leading(columns, np.minimum, np.maximum)
        return np.asarray((highest + high - lowest - low) * np.float32(0.5)).reshape(
            len(levels), self.bands // self.together
        )


def _leading(columns: np.ndarray, leader: np.ufunc, other: np.ufunc) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second of each column's values, by what leads of two."""
    first, second = leader(columns[0], columns[1]), other(columns[0], columns[1])
    for values in columns[2:]:
        second = leader(second, other(first, values))
        first = leader(first, values)
    return first, second


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Spectral contrast."""
    return [Contrast]

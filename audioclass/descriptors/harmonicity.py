"""Harmonicity: how periodic a frame is, and with which pitch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import check_parameters, parameter


@dataclass(frozen=True)
class Harmonicity:
    """Strength of the pitch, the highest peak of the autocorrelation, and log2 of the pitch in hertz."""

    name: ClassVar[str] = "harmonicity"
    lowest: float = parameter(80.0, above=0.0, help="lowest pitch, in hertz")
    highest: float = parameter(600.0, above=0.0, high=4000.0, help="highest pitch, in hertz")

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.lowest >= self.highest:
            raise ValueError(f"harmonicity: lowest={self.lowest:g} must be below highest={self.highest:g}")

    def columns(self, framing: Framing) -> list[str]:
        """Strength, about 1 for a periodic frame and 0 for noise, and pitch."""
        return ["pitch_strength", "pitch"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """max_τ r(τ)/r(0) over the lags of the pitches allowed, r without the bias of the window; log2 of 1/τ."""
        n_lags = spectra.autocorrelation.shape[1]
        first = min(max(int(spectra.lag_rate / self.highest), 1), n_lags - 1)
        last = max(min(int(spectra.lag_rate / self.lowest) + 1, n_lags), first + 1)
        lags = spectra.autocorrelation[:, first:last]
        best = lags.argmax(axis=1) if len(lags) else np.zeros(0, int)
        strength = np.take_along_axis(lags, best[:, None], axis=1)
        pitch = np.log2(spectra.lag_rate / (first + best))[:, None]
        return np.concatenate([strength, pitch], axis=1).astype(np.float32)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Harmonicity."""
    return [Harmonicity]

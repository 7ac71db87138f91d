"""How loud a frame is: its level, and the level as the ear weighs it."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.filters import bin_frequencies
from audioclass.descriptors.spectra import decibels, hann
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Level:
    """Level of a frame in decibels, 0 for a mean square of 1: 10 log10 Σ w²x² / Σ w², floored at −100."""

    name: ClassVar[str] = "level"

    def columns(self, framing: Framing) -> list[str]:
        """One level."""
        return ["level"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """By Parseval's theorem from the power of all bins."""
        return decibels(spectra.power @ _energy_weights(spectra.framing))


@component
class Loudness:
    """Level in decibels after A-weighting, the ear's sensitivity at moderate levels (IEC 61672)."""

    name: ClassVar[str] = "loudness"

    def columns(self, framing: Framing) -> list[str]:
        """One level."""
        return ["loudness"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """10 log10 of the weighted power of all bins, floored at −100."""
        return decibels(spectra.power @ _loudness_weights(spectra.framing))


def a_weighting(hertz: np.ndarray) -> np.ndarray:
    """Gain of the A curve as a factor of power, 1 at 1 kHz."""
    square = hertz**2
    ends = (square + 20.598997**2) * (square + 12194.217**2)
    gain = 12194.217**2 * square**2 / (ends * np.sqrt((square + 107.65265**2) * (square + 737.86223**2)))
    return (gain * 10**0.1) ** 2


@cache
def _energy_weights(framing: Framing) -> np.ndarray:
    """(n_bins, 1): from the power of the bins to the mean square of the frame under its window."""
    n = framing.frame_length
    weights = np.full((framing.n_bins, 1), 2.0)
    weights[0] = 1
    weights[n // 2 : n // 2 + 1] = 2 if n % 2 else 1
    return np.asarray((weights / (n * (hann(n).astype(float) ** 2).sum())).astype(np.float32))


@cache
def _loudness_weights(framing: Framing) -> np.ndarray:
    return np.asarray((_energy_weights(framing) * a_weighting(bin_frequencies(framing))[:, None]).astype(np.float32))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Level and loudness."""
    return [Level, Loudness]

"""What is read from the waveform itself: zero crossings."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.filters import bin_frequencies
from audioclass.descriptors.spectra import TINY
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class ZeroCrossings:
    """Share of the neighbouring samples of a frame between which the sign changes, from 0 to 1."""

    name: ClassVar[str] = "zero_crossings"

    def columns(self, framing: Framing) -> list[str]:
        """One share."""
        return ["zero_crossings"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """#{i: (x_i < 0) ≠ (x_{i−1} < 0)} / (frame_length − 1); compared once a sample, not once a frame.

        At a speed the share of the recording is multiplied by how much more often signs change.
        """
        if spectra.recorded is not spectra:
            return np.asarray(np.minimum(spectra.recorded.values_of(self) * _quickening(spectra), 1))
        length = spectra.framing.frame_length
        if length < 2 or not spectra.n_frames:
            return np.zeros((spectra.n_frames, 1), np.float32)
        negative = spectra.samples < 0
        changes = np.flatnonzero(negative[1:] != negative[:-1])
        first = np.arange(spectra.n_frames) * spectra.framing.hop_length
        count = np.searchsorted(changes, first + length - 1) - np.searchsorted(changes, first)
        return np.asarray((count / (length - 1)).astype(np.float32)[:, None])


def _quickening(spectra: Spectra) -> np.ndarray:
    """(n_frames, 1): how many times as often the sign changes between samples at the speed of the spectra.

    By Rice's formula for a Gaussian signal of the same power: the share is arccos(r)/π, r the correlation of
    neighbouring samples. It is exact for tones, and allows for what comes to lie beyond the Nyquist frequency.
    """
    parts = np.minimum(spectra.power @ _distances(spectra.framing) / (spectra.total_power + TINY), 1)
    angles = np.arcsin(np.sqrt(parts))
    played, recorded = angles[:, :1], angles[:, 1:]
    quickening = np.full_like(played, spectra.framing.speed)
    return np.asarray(np.divide(played, recorded, out=quickening, where=recorded > 0))


@cache
def _distances(framing: Framing) -> np.ndarray:
    """(n_bins, 2): half of 1 − r of a tone in each bin, at the speed of the framing and as it was recorded."""
    hertz = bin_frequencies(framing)[:, None] / np.array([1.0, framing.speed])
    return np.asarray(np.sin(np.pi * hertz / framing.sample_rate) ** 2, np.float32)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Zero crossings."""
    return [ZeroCrossings]

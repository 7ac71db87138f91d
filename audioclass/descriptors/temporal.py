"""What is read from the waveform itself: zero crossings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
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
        """#{i: (x_i < 0) ≠ (x_{i−1} < 0)} / (frame_length − 1); compared once a sample, not once a frame."""
        length = spectra.framing.frame_length
        if length < 2 or not spectra.n_frames:
            return np.zeros((spectra.n_frames, 1), np.float32)
        negative = spectra.samples < 0
        changes = np.concatenate([[0], np.cumsum(negative[1:] != negative[:-1], dtype=np.int32)])
        first = np.arange(spectra.n_frames) * spectra.framing.hop_length
        share = ((changes[first + length - 1] - changes[first]) / (length - 1)).astype(np.float32)[:, None]
        return share if spectra.framing.speed == 1 else np.asarray(np.minimum(share * _quickening(spectra), 1))


def _quickening(spectra: Spectra) -> np.ndarray:
    """(n_frames, 1): how many times as often the sign changes between samples at the speed of the spectra.

    By Rice's formula for a Gaussian signal of the same power: the share is arccos(r)/π, r the correlation of
    neighbouring samples. It is exact for tones, and allows for what comes to lie beyond the Nyquist frequency.
    """
    frequencies, rate = spectra.frequencies[:, None], spectra.framing.sample_rate
    distances = [np.sin(np.pi * hertz / rate) ** 2 for hertz in (frequencies, frequencies / spectra.framing.speed)]
    fast, slow = (spectra.power @ distance.astype(np.float32) for distance in distances)
    played = np.arcsin(np.sqrt(np.minimum(fast / (spectra.total_power + TINY), 1)))
    recorded = np.arcsin(np.sqrt(np.minimum(slow / (spectra.total_power + TINY), 1)))
    return np.divide(played, recorded, out=np.full_like(played, spectra.framing.speed), where=recorded > 0)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Zero crossings."""
    return [ZeroCrossings]

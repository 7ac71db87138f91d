"""What is read from the waveform itself: zero crossings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
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
        changes = np.concatenate([[0], np.cumsum(negative[1:] != negative[:-1])])
        first = np.arange(spectra.n_frames) * spectra.framing.hop_length
        return np.asarray(((changes[first + length - 1] - changes[first]) / (length - 1)).astype(np.float32)[:, None])


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Zero crossings."""
    return [ZeroCrossings]

"""Octave-band intensities and the ratios of neighbouring ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.filters import octave_edges, octave_matrix
from audioclass.descriptors.spectra import decibels
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Octaves:
    """Mean power of each octave band in decibels, then the ratio of each band to the one below, in decibels."""

    name: ClassVar[str] = "octaves"

    def columns(self, framing: Framing) -> list[str]:
        """Bands (below 250 Hz, then doubling), then one ratio fewer."""
        count = len(octave_edges(framing)) - 1
        return [f"octave_{i}" for i in range(count)] + [f"octave_ratio_{i}" for i in range(1, count)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """10 log10 of Σ_{k∈band}|X_k|²/n_band; ratios are differences of these."""
        levels = decibels(spectra.power @ octave_matrix(spectra.framing))
        return np.concatenate([levels, np.diff(levels, axis=1)], axis=1)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Octave bands."""
    return [Octaves]

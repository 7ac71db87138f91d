"""Chroma: how the power is shared among the twelve pitch classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.spectra import TINY
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

CLASSES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


@component
class Chroma:
    """Share of each pitch class in the power between 200 and 4000 Hz; the shares sum to one, or to 0 in silence."""

    name: ClassVar[str] = "chroma"

    def columns(self, framing: Framing) -> list[str]:
        """One for each class from C to B."""
        return [f"chroma_{name}" for name in CLASSES]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """c_j / Σc, c_j the power of the bins weighted by their distance to class j."""
        return np.asarray(spectra.chroma / (spectra.chroma.sum(axis=1, keepdims=True) + TINY))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Chroma."""
    return [Chroma]

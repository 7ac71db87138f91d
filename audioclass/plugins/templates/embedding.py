"""Octave levels: the logarithm of the mean power in each octave of a window."""

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Embedding


@component
class ExampleName:
    """Level of each octave below half the sample rate, over a whole window."""

    name: ClassVar[str] = "example_name"
    sample_rate: int = parameter(16000, low=8000, high=192000, help="samples per second it wants")
    octaves: int = parameter(6, low=1, high=10, help="how many octaves, from the top down")

    def columns(self) -> list[str]:
        return [f"example_name_{i}" for i in range(self.octaves)]

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        if sample_rate != self.sample_rate:
            raise ValueError(f"sample_rate={sample_rate} must be {self.sample_rate}")
        if not len(samples) or not np.isfinite(samples).all():
            raise ValueError("samples must be finite numbers, at least one")
        power = np.abs(np.fft.rfft(samples)) ** 2 / len(samples) ** 2
        edges = np.round(len(power) / 2.0 ** np.arange(self.octaves, -1, -1)).astype(int)
        bands = np.diff(np.concatenate([[0.0], np.cumsum(power)])[edges])
        return np.asarray(np.log(bands + 1e-10))


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    return [ExampleName]

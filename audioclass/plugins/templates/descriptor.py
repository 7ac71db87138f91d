"""Balance: the share of the power of a frame that lies above a frequency."""

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing


@component
class ExampleName:
    """Share of the power above `split` hertz, from 0 to 1; 0 in digital silence."""

    name: ClassVar[str] = "example_name"
    split: float = parameter(1000.0, above=0.0, scale="log", search=(100.0, 8000.0), help="frequency, in hertz")

    def columns(self, framing: Framing) -> list[str]:
        return ["example_name"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        total = spectra.power.sum(axis=1)
        above = spectra.power[:, spectra.frequencies > self.split].sum(axis=1)
        return np.asarray(above / np.maximum(total, 1e-20))[:, None]


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    return [ExampleName]

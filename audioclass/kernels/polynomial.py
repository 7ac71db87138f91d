"""Polynomial kernel: k(x, y) = (scale x'y + offset)^degree."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from audioclass.contracts import Kernel
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

LARGEST = 1e150


@component
class Polynomial:
    """Similarity through products of up to `degree` features."""

    name: ClassVar[str] = "polynomial"
    statistic: ClassVar[str] = "dot"
    is_mercer: ClassVar[bool] = True  # a whole degree, a positive scale and offset ≥ 0 make it so

    degree: int = parameter(2, low=1, search=(1, 5), help="how many features are multiplied at most")
    scale: float = parameter(1.0, above=0.0, scale="log", search=(1e-3, 1e1), help="factor of the dot product")
    offset: float = parameter(1.0, low=0.0, search=(0.0, 10.0), help="0 keeps only products of exactly `degree`")

    def of(self, S: np.ndarray) -> np.ndarray:
        """(scale S + offset)^degree, with a warning where it grows past 1e150 or overflows."""
        with np.errstate(over="ignore"):
            K = (self.scale * S + self.offset) ** self.degree
        if K.size and not float(np.abs(K).max()) <= LARGEST:
            warnings.warn(
                f"polynomial: values beyond {LARGEST:g} at degree {self.degree}; standardise the features",
                RuntimeWarning,
                stacklevel=2,
            )
        return K

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        """By scale and offset; a whole degree cannot be climbed."""
        slope = self.degree * (self.scale * S + self.offset) ** (self.degree - 1)
        return {"scale": slope * S, "offset": slope}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    """The polynomial kernel."""
    return [Polynomial]

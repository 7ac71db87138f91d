"""Hyperbolic tangent kernel: k(x, y) = tanh(slope x'y − offset), the sigmoid of neural networks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Kernel
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Tanh:
    """Similarity that saturates; never a Mercer kernel around the origin, so trainers get no guarantee."""

    name: ClassVar[str] = "tanh"
    statistic: ClassVar[str] = "dot"
    is_mercer: ClassVar[bool] = False  # the Taylor series of tanh always has a negative coefficient

    slope: float = parameter(0.1, above=0.0, scale="log", search=(1e-4, 1.0), help="factor of the dot product")
    offset: float = parameter(0.0, search=(-2.0, 2.0), help="dot product, times slope, at which it is 0")

    def of(self, S: np.ndarray) -> np.ndarray:
        """tanh(slope S − offset)."""
        return np.tanh(self.slope * S - self.offset)

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        """∂K/∂slope = (1 − K²) S, ∂K/∂offset = −(1 − K²)."""
        rise = 1 - K**2
        return {"slope": rise * S, "offset": -rise}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    """The hyperbolic tangent kernel."""
    return [Tanh]

"""Cauchy kernel: k(x, y) = 1 / (1 + ‖x−y‖² / (d σ²)), d the number of features."""

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Kernel


@component
class ExampleName:
    """Similarity that fades with the distance, but never as fast as a Gaussian."""

    name: ClassVar[str] = "example_name"
    statistic: ClassVar[str] = "mean_squared_distance"
    is_mercer: ClassVar[bool] = True
    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="where it is one half")

    def of(self, S: np.ndarray) -> np.ndarray:
        return 1 / (1 + S / self.sigma**2)

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        return {"sigma": K**2 * S * (2 / self.sigma**3)}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    return [ExampleName]

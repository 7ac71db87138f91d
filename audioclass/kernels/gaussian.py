"""Gaussian kernels in the two usual normalisations (specification 2.2).

    gaussian            k(x, y) = exp(−‖x−y‖² / (d σ²)), d the number of features
    gaussian_unscaled   k(x, y) = exp(−‖x−y‖² / (2 σ²))

gaussian(σ) is gaussian_unscaled(σ √(d/2)). On standardised features σ ≈ 1 is a sensible start for the first,
whatever d; the second is the density that Parzen windows use.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Kernel
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Gaussian:
    """Similarity that fades over a distance of about `sigma` per feature."""

    name: ClassVar[str] = "gaussian"
    statistic: ClassVar[str] = "mean_squared_distance"
    is_mercer: ClassVar[bool] = True

    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="how far apart is no longer alike")

    def of(self, S: np.ndarray) -> np.ndarray:
        """exp(−S/σ²)."""
        return np.exp(-S / self.sigma**2)

    def minus_one(self, S: np.ndarray) -> np.ndarray:
        """exp(−S/σ²) − 1."""
        return np.expm1(-S / self.sigma**2)

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        """∂K/∂σ = K · 2S/σ³."""
        return {"sigma": K * S * (2 / self.sigma**3)}


@component
class UnscaledGaussian:
    """Similarity that fades over a distance of about `sigma` over all features."""

    name: ClassVar[str] = "gaussian_unscaled"
    statistic: ClassVar[str] = "squared_distance"
    is_mercer: ClassVar[bool] = True

    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 100.0), help="how far apart is no longer alike")

    def of(self, S: np.ndarray) -> np.ndarray:
        """exp(−S/(2σ²))."""
        return np.exp(-S / (2 * self.sigma**2))

    def minus_one(self, S: np.ndarray) -> np.ndarray:
        """exp(−S/(2σ²)) − 1."""
        return np.expm1(-S / (2 * self.sigma**2))

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        """∂K/∂σ = K · S/σ³."""
        return {"sigma": K * S / self.sigma**3}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    """Both normalisations."""
    return [Gaussian, UnscaledGaussian]

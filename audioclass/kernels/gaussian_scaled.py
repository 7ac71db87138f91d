"""Gaussian kernel with a factor for each feature: k(x, y) = exp(−Σ (f_j (x_j − y_j))² / (2 σ²)).

With one factor for each group of features it is a product of Gaussian kernels, one a group; a factor of 0 leaves a
feature out.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Kernel
from audioclass.hookspecs import hookimpl
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.parameters import component, parameter


@component
class ScaledGaussian:
    """Similarity in which each feature counts by its own factor, as a selection learns them."""

    name: ClassVar[str] = "gaussian_scaled"
    is_mercer: ClassVar[bool] = True

    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 100.0), help="how far apart is no longer alike")
    factors: tuple[float, ...] = parameter((), low=0.0, help="one for each feature; empty: all 1")

    def gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """From features of as many columns as there are factors."""
        if self.factors and len(self.factors) != X.shape[1]:
            raise ValueError(f"gaussian_scaled: {len(self.factors)} factors for {X.shape[1]} features")
        S = pairwise(squared_distance, self._scaled(X), None if Y is X else self._scaled(Y))
        return np.asarray(np.exp(-S / (2 * self.sigma**2)))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return X * np.array(self.factors, X.dtype) if self.factors else X


def window_of(kernel: Kernel, n_features: int) -> float | None:
    """The σ of exp(−‖x−y‖²/(2σ²)) that a kernel is, of so many features or of scaled ones; None if it is no Gaussian.

    >>> window_of(Gaussian(2.0), 8), window_of(UnscaledGaussian(2.0), 8)
    (4.0, 2.0)
    """
    if isinstance(kernel, Gaussian):
        return float(kernel.sigma * (n_features / 2) ** 0.5)
    return float(kernel.sigma) if isinstance(kernel, (UnscaledGaussian, ScaledGaussian)) else None


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    """The Gaussian with factors."""
    return [ScaledGaussian]

"""Laplacian kernel: k(x, y) = exp(−‖x−y‖₁ / (d σ)), d the number of features."""

from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Kernel


def mean_absolute_distance(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Σ|x−y|/d of every pair; the statistic that every sigma shares."""
    return np.asarray(cdist(X, Y, "cityblock").astype(X.dtype) / X.shape[1])


@component
class Laplacian:
    """Similarity that fades with the sum of the differences; outliers weigh less than in a Gaussian."""

    name: ClassVar[str] = "laplacian"
    statistic = staticmethod(mean_absolute_distance)
    is_mercer: ClassVar[bool] = True
    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="difference per feature")

    def of(self, S: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-S / self.sigma))

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        return {"sigma": K * S / self.sigma**2}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    return [Laplacian]

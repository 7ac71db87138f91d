"""Exponential chi-squared kernel: k(x, y) = exp(−Σ (x−y)²/(x+y) / σ), for histograms and other features ≥ 0."""

from typing import ClassVar

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Kernel


def chi2_distance(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Σ (x−y)²/(x+y) of every pair, 0 where both are 0; features below 0 are refused."""
    if min(X.min(), Y.min()) < 0:
        raise ValueError(f"the chi2 kernel needs features of at least 0, found {min(X.min(), Y.min()):.3g}")
    return np.asarray(-additive_chi2_kernel(X, Y))


@component
class Chi2:
    """Similarity of histograms: differences count less where the bins are full."""

    name: ClassVar[str] = "chi2"
    statistic = staticmethod(chi2_distance)
    is_mercer: ClassVar[bool] = True
    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.01, 100.0), help="distance where it fades")

    def of(self, S: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-S / self.sigma))

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        return {"sigma": K * S / self.sigma**2}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    return [Chi2]

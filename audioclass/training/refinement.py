"""A chosen Gaussian kernel made finer: on fewer features, as a `gaussian_scaled` kernel with a factor for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.contracts import Kernel
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.gaussian_scaled import ScaledGaussian
from audioclass.training.objective import SelectionSample


def as_unscaled(kernel: Kernel, n_features: int) -> UnscaledGaussian | None:
    """The same kernel without its number of features; None where it is no Gaussian."""
    if isinstance(kernel, Gaussian):
        return UnscaledGaussian(kernel.sigma * (n_features / 2) ** 0.5)
    return kernel if isinstance(kernel, UnscaledGaussian) else None


def thin_features(sample: SelectionSample, kernel: UnscaledGaussian, shares: Sequence[float]) -> list[ScaledGaussian]:
    """Kernels on the features that tell the sides apart best one by one, one kernel for each share of them.

    A feature's worth is its class separability: scatter between the sides over scatter within, the mean over the
    dichotomies. What is left is scaled so that the mean squared distance stays.
    """
    order = np.argsort(-_separabilities(sample), kind="stable")
    spreads = sample.X.var(axis=0)
    kernels = []
    for share in shares:
        best = order[: max(1, round(share * len(order)))]
        factors = np.zeros(len(order))
        factors[best] = np.sqrt(spreads.sum() / max(spreads[best].sum(), np.finfo(float).tiny))
        kernels.append(ScaledGaussian(kernel.sigma, tuple(factors.tolist())))
    return kernels


def _separabilities(sample: SelectionSample) -> np.ndarray:
    """(n_features,): tr S_b / tr S_w of the linear kernel on each feature alone; 0 where it does not vary."""
    ratios = []
    for target in sample.targets:
        X = sample.X[target.rows]
        total = X.var(axis=0) * len(X)
        sides = [X[target.y == side] for side in np.unique(target.y)[::-1]]
        within = sum(side.var(axis=0) * len(side) for side in sides)
        ratios.append(np.divide(total - within, within, out=np.zeros_like(total), where=within > 0))
    return np.asarray(np.mean(ratios, axis=0))

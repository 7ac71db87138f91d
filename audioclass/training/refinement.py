"""A chosen Gaussian kernel made finer: weights of groups of features by the gradient of a criterion, fewer features.

Both give a `gaussian_scaled` kernel, a factor for each feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from audioclass.contracts import Criterion, Kernel
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.gaussian_scaled import ScaledGaussian
from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.problems import Axis, Point
from audioclass.training.config import ErrorFactorRule
from audioclass.training.objective import C_AXIS, CriterionObjective, SelectionSample

HEAVIEST = 30.0  # weight of a group over that of the others, and the other way round


def as_unscaled(kernel: Kernel, n_features: int) -> UnscaledGaussian | None:
    """The same kernel without its number of features; None where it is no Gaussian."""
    if isinstance(kernel, Gaussian):
        return UnscaledGaussian(kernel.sigma * (n_features / 2) ** 0.5)
    return kernel if isinstance(kernel, UnscaledGaussian) else None


class GroupWeightObjective(CriterionObjective):
    """Weights of groups of features as points: exp(−Σ_g w_g ‖x_g − y_g‖² / (2σ²)), σ as it was chosen, and C."""

    def __init__(
        self,
        sample: SelectionSample,
        kernel: UnscaledGaussian,
        criterion: Criterion,
        *,
        C: float,
        c_rule: ErrorFactorRule = "fixed",
        feature_groups: Sequence[str],
    ) -> None:
        if len(feature_groups) != sample.X.shape[1]:
            raise ValueError(f"{len(feature_groups)} names of groups for {sample.X.shape[1]} features")
        self._sigma = kernel.sigma
        self._names, self._codes = np.unique(feature_groups, return_inverse=True)
        parts = [sample.X[:, self._codes == code] for code in range(len(self._names))]
        self._distances = np.stack([pairwise(squared_distance, part) for part in parts])
        super().__init__(sample, kernel, criterion, C=C, c_rule=c_rule, S=self._distances[0], climbs=True)

    def axes(self, only: Sequence[str] | None = None) -> list[Axis]:
        """A weight for each group, all from 1 on."""
        return [Axis(_weight(name), 1 / HEAVIEST, HEAVIEST, "log", 1.0) for name in self._names]

    def at(self, point: Point) -> tuple[Kernel, float]:
        """The kernel with the factors of the weights, and C."""
        factors = np.sqrt(self._weights(point))[self._codes]
        kernel = ScaledGaussian(self._sigma, tuple(factors.tolist()))
        return kernel, point[C_AXIS] if C_AXIS in point else self._c_of(kernel)

    def _matrices(self, point: Point, kernel: Kernel) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        scale = 1 / (2 * self._sigma**2)
        K = np.exp(-scale * np.tensordot(self._weights(point), self._distances, axes=1))
        slopes = {_weight(name): -scale * K * D for name, D in zip(self._names, self._distances, strict=True)}
        return K, slopes

    def _weights(self, point: Point) -> np.ndarray:
        return np.array([point[_weight(name)] for name in self._names])


def _weight(group: str) -> str:
    return f"weight of {group}"


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

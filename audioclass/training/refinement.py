"""A chosen Gaussian kernel made finer: weights of groups of features by the gradient of a criterion, fewer features.

Both give a `gaussian_scaled` kernel, a factor for each feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audioclass.contracts import Kernel
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.gaussian_scaled import ScaledGaussian
from audioclass.kernels.statistics import squared_distance
from audioclass.problems import Axis, Point
from audioclass.training.objective import C_AXIS, CriterionObjective, Problem, axis_of

HEAVIEST = 30.0  # weight of a group over that of the others, and the other way round


def as_unscaled(kernel: Kernel, n_features: int) -> UnscaledGaussian | None:
    """The same kernel without its number of features; None where it is no Gaussian."""
    if isinstance(kernel, Gaussian):
        return UnscaledGaussian(kernel.sigma * (n_features / 2) ** 0.5)
    return kernel if isinstance(kernel, UnscaledGaussian) else None


class GroupWeightObjective(CriterionObjective):
    """Judges weights of groups of features: exp(−Σ_g w_g ‖x_g − y_g‖² / (2σ²)), σ as it was chosen, and C."""

    def __init__(
        self, problem: Problem, kernel: UnscaledGaussian, C: float, groups: Sequence[str], criterion: Any
    ) -> None:
        if len(groups) != problem.X.shape[1]:
            raise ValueError(f"{len(groups)} names of groups for {problem.X.shape[1]} features")
        self._names, self._codes = np.unique(groups, return_inverse=True)
        parts = [problem.X[:, self._codes == code] for code in range(len(self._names))]
        self._distances = np.stack([squared_distance(part, part) for part in parts])
        super().__init__(problem, kernel, criterion, "fixed", C, self._distances[0])
        self.climbs = True

    def axes(self, only: Sequence[str] | None = None) -> list[Axis]:
        """A weight for each group, all from 1 on."""
        return [Axis(_weight(name), 1 / HEAVIEST, HEAVIEST, "log", 1.0) for name in self._names]

    def at(self, point: Point) -> tuple[Kernel, float]:
        """The kernel with the factors of the weights, and C."""
        factors = np.sqrt(self._weights(point))[self._codes]
        return ScaledGaussian(self.kernel.sigma, tuple(factors.tolist())), point.get(C_AXIS, self.C)

    def _matrices(self, point: Point, kernel: Kernel) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        scale = 1 / (2 * self.kernel.sigma**2)
        K = np.exp(-scale * np.tensordot(self._weights(point), self._distances, axes=1))
        slopes = {_weight(name): -scale * K * D for name, D in zip(self._names, self._distances, strict=True)}
        return K, slopes

    def _weights(self, point: Point) -> np.ndarray:
        return np.array([point[_weight(name)] for name in self._names])


def _weight(group: str) -> str:
    return f"weight of {group}"


def weigh_groups(
    judge: GroupWeightObjective, c_range: tuple[float, float] | None, search: Any, rng: np.random.Generator
) -> Any:
    """What the search finds over the weights, and over C where a range is given."""
    more = [] if c_range is None else [axis_of(C_AXIS, c_range, "log", judge.C)]
    return search.search([*judge.axes(), *more], judge.objective, rng)


def thin_features(problem: Problem, kernel: UnscaledGaussian, shares: Sequence[float]) -> list[ScaledGaussian]:
    """Kernels on the features that tell the sides apart best one by one, one kernel for each share of them.

    A feature's worth is its class separability: scatter between the sides over scatter within, the mean over the
    dichotomies. What is left is scaled so that the mean squared distance stays.
    """
    order = np.argsort(-_separabilities(problem), kind="stable")
    spreads = problem.X.var(axis=0)
    kernels = []
    for share in shares:
        kept = order[: max(1, round(share * len(order)))]
        factors = np.zeros(len(order))
        factors[kept] = np.sqrt(spreads.sum() / max(spreads[kept].sum(), np.finfo(float).tiny))
        kernels.append(ScaledGaussian(kernel.sigma, tuple(factors.tolist())))
    return kernels


def _separabilities(problem: Problem) -> np.ndarray:
    """(n_features,): tr S_b / tr S_w of the linear kernel on each feature alone; 0 where it does not vary."""
    total = problem.X.var(axis=0) * len(problem.X)
    ratios = []
    for y in problem.Y.T:
        sides = [problem.X[y == side] for side in (1, -1)]
        within = sum(side.var(axis=0) * len(side) for side in sides)
        ratios.append(np.divide(total - within, within, out=np.zeros_like(total), where=within > 0))
    return np.mean(ratios, axis=0)

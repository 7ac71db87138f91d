"""Sigmoids fitted to regularised targets by the robust Newton of Lin, Lin and Weng (specification 4.1), many at once.

A problem is a stretch of neighbouring examples. All problems walk together, each with its own steps and its own end,
so that a result does not depend on which others are fitted with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

TOLERANCE = 1e-10  # of the gradient, in units of the deviation of each column; and 1e-14 more for each unit of weight
RIDGE = 1e-12
CONSTANT = 1e-12  # a column whose deviation is below this part of its size does not vary; a factor below it is 0


@dataclass(frozen=True, eq=False)
class Problems:
    """Problems one after another: `columns` (k, n) and `positive`, `weights` (n,); problem j begins at `starts[j]`."""

    columns: np.ndarray
    positive: np.ndarray
    weights: np.ndarray
    starts: np.ndarray

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many examples each problem has."""
        return np.diff(self.starts, append=len(self.weights))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the examples of each problem: (…, n) to (…, n_problems)."""
        return np.add.reduceat(values, self.starts, axis=-1)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Weighted mean over the examples of each problem."""
        return self.sums(self.weights * values) / self.sums(self.weights)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """The value of its problem for each example: (…, n_problems) to (…, n), or to (…, 1) where there is one."""
        return values if len(self.starts) == 1 else np.repeat(values, self.sizes, axis=-1)


def falling_sigmoid(z: np.ndarray) -> np.ndarray:
    """1/(1+e^z), without overflow."""
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, e, 1) / (1 + e)


def regularised_targets(problems: Problems) -> np.ndarray:
    """t₊ = (N₊+1)/(N₊+2) and t₋ = 1/(N₋+2), N weighted counts: (n,)."""
    n_positive, n_negative = _sides(problems)
    above, below = (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    return np.where(problems.positive, problems.spread(above), problems.spread(below))


def constant_offset(problems: Problems, targets: np.ndarray) -> np.ndarray:
    """The offset that is best where every factor is 0: P is the mean target of the problem."""
    mean = problems.means(targets)
    return np.log((1 - mean) / mean)


def fit_logistic(problems: Problems, targets: np.ndarray) -> np.ndarray:
    """(k + 1, n_problems): factors of the columns, then the offset, of z in P = 1/(1+e^z).

    They minimise −Σ w [t log P + (1−t) log(1−P)]. A column that does not vary has factor 0.
    """
    mean, scale = _location(problems)
    F = np.ones((len(problems.columns) + 1, len(targets)))
    F[:-1] = (problems.columns - problems.spread(mean)) / problems.spread(scale)
    theta = _Descent(problems, targets, F).minimum()
    factors = np.where(np.abs(theta[:-1]) > CONSTANT, theta[:-1], 0) / scale
    return np.vstack([factors, theta[-1] - (factors * mean).sum(axis=0)])


def _sides(problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """N₊ and N₋ of each problem."""
    return problems.sums(problems.weights * problems.positive), problems.sums(problems.weights * ~problems.positive)


def _location(problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each column in each problem; a deviation of infinity where it does not vary."""
    mean = problems.means(problems.columns)
    deviation = np.sqrt(problems.means((problems.columns - problems.spread(mean)) ** 2))
    return mean, np.where(deviation > CONSTANT * (np.abs(mean) + deviation), deviation, np.inf)


class _Descent:
    """Newton's walk over columns F (k, n) of mean 0 and deviation 1, the last of them 1."""

    def __init__(self, problems: Problems, targets: np.ndarray, F: np.ndarray) -> None:
        self.problems, self.targets, self.F, self.weighted = problems, targets, F, F * problems.weights
        self.tolerance = TOLERANCE + 1e-14 * problems.sums(problems.weights)

    def minimum(self) -> np.ndarray:
        """The factors, (k, n_problems), from 0 and the offset log((N₋+1)/(N₊+1)) on."""
        n_positive, n_negative = _sides(self.problems)
        theta = np.zeros((len(self.F), len(n_positive)))
        theta[-1] = np.log((n_negative + 1) / (n_positive + 1))
        loss = self.loss(theta)
        moving = np.ones(len(n_positive), dtype=bool)
        for _ in range(100):
            gradient, direction = self.direction()
            moving &= np.abs(gradient).max(axis=0) >= self.tolerance
            if not moving.any():
                break
            theta, loss, step = self.shortened(theta, loss, direction * moving, (gradient * direction).sum(axis=0))
            moving &= step > 0
        return theta

    def shortened(
        self, theta: np.ndarray, loss: np.ndarray, direction: np.ndarray, slope: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the loss has fallen enough, the loss there, and the step: halved until it has, 0 below 1e−10."""
        step = np.ones_like(loss)
        while True:
            new = theta + step * direction
            new_loss = self.loss(new)
            # Near the optimum the loss moves by less than its own rounding, which must not stop the last steps.
            high = (step > 0) & (new_loss > loss + 1e-4 * step * slope + 1e-14 * loss)
            if not high.any():
                return new, new_loss, step
            step[high] = np.where(step[high] < 2e-10, 0, step[high] / 2)

    def loss(self, theta: np.ndarray) -> np.ndarray:
        """Σ w [tz + log(1+e^−z)] where z ≥ 0, Σ w [(t−1)z + log(1+e^z)] elsewhere; keeps z and e^−|z|."""
        self.z = z = (self.problems.spread(theta) * self.F).sum(axis=0)
        self.e = e = np.exp(-np.abs(z))
        return self.problems.sums(self.problems.weights * (self.targets * z - np.minimum(z, 0) + np.log1p(e)))

    def direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Gradient g = Σ w (t−p) F and −H⁻¹g, H = Σ w p(1−p) FF' + 1e−12 I, where the loss was last asked for."""
        larger = 1 / (1 + self.e)  # of p and 1−p
        smaller = self.e * larger
        p = np.where(self.z >= 0, smaller, larger)
        gradient = self.problems.sums(self.weighted * (self.targets - p))
        H = self.problems.sums(self.F[:, None] * (self.weighted * (smaller * larger)))
        H = H.transpose(2, 0, 1) + RIDGE * np.eye(len(self.F))
        return gradient, -np.linalg.solve(H, gradient.T[:, :, None])[:, :, 0].T

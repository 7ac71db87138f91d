"""Shared maths of probabilities: one log-loss, softmax, sigmoid, Platt's targets, logistic fit and bounded searches.

Every room may import it. Trained models must come out the same to the bit, so the order of operations is part of what
a function promises; where scipy's version would end in other digits of a posterior, ours stays and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  # as scikit-learn: an impossible truth costs 36 nats, not ∞

# --- probabilities --------------------------------------------------------------------------------------------------


def softmax(scores: np.ndarray, T: float = 1.0) -> np.ndarray:
    """e^(s/T) over its sum along the last axis, for scores of any size.

    >>> softmax(np.array([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    P = np.exp((scores - scores.max(axis=-1, keepdims=True)) / T)
    return np.asarray(P / P.sum(axis=-1, keepdims=True))


def sigmoid(z: np.ndarray) -> np.ndarray:
    """1/(1+e^−z), without overflow.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z > 0, 1, e) / (1 + e))


LEAD = 1e-6  # by how much the largest posterior is above the others where it was made the largest


def led_by(P: np.ndarray, leaders: np.ndarray) -> np.ndarray:
    """The nearest posteriors whose largest, in each row, is that of the label `leaders` says.

    Rows that it leads already stay as they are. In the others it and all above it get one value, their mean, and it
    `LEAD` more: of all rows of sum 1 in which it leads by so much, the one at the least Euclidean distance.

    >>> led_by(np.array([[0.5, 0.4, 0.1], [0.5, 0.4, 0.1]]), np.array([0, 1])).round(4).tolist()
    [[0.5, 0.4, 0.1], [0.45, 0.45, 0.1]]
    """
    leaders = np.asarray(leaders)
    if leaders.shape != P.shape[:1] or leaders.dtype.kind not in "iu":
        raise ValueError(f"leaders have shape {leaders.shape} and type {leaders.dtype}, must be {len(P)} label indices")
    if len(leaders) and not 0 <= leaders.min() <= leaders.max() < P.shape[1]:
        raise ValueError(f"leaders from {leaders.min()} to {leaders.max()}, must be label indices below {P.shape[1]}")
    others = np.flatnonzero(P.argmax(axis=1) != leaders)
    if not len(others):
        return P
    led = P.astype(np.float64)
    led[others] = _pooled(led[others], leaders[others])
    return led


def _pooled(P: np.ndarray, leaders: np.ndarray) -> np.ndarray:
    """Isotonic regression of a star: the level of the pool is the largest mean of the leader and the j largest."""
    rows = np.arange(len(P))
    rivals = P.copy()
    rivals[rows, leaders] = -np.inf
    rivals = -np.sort(-rivals, axis=1)
    rivals[:, 1:] = rivals[:, :-1]
    rivals[:, 0] = P[rows, leaders] - LEAD
    level = (np.cumsum(rivals, axis=1) / np.arange(1, P.shape[1] + 1)).max(axis=1)
    pooled: np.ndarray = np.minimum(P, level[:, None])
    pooled[rows, leaders] = level + LEAD
    return pooled


def log_losses(P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """−log of the probability of the right label, in nats, for each row; at least `SMALLEST_PROBABILITY` counts.

    `P` is (n, n_labels) and `y` holds the index of the right label of each row.
    """
    right = P[np.arange(len(y)), y]
    return np.asarray(-np.log(np.clip(right, SMALLEST_PROBABILITY, 1)) + 0.0)  # no −0 where all is certain


def log_loss(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Weighted mean of `log_losses`."""
    P, y, weights = check_labelled(P, y, weights, "P")
    return float(np.average(log_losses(P, y), weights=weights))


def independent_log_losses(P: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """The same where several labels may hold, (n,): the mean over labels, each right where it holds or does not.

    `P` and `holds` are (n, n_labels).
    """
    right = np.clip(np.where(holds, P, 1 - P), SMALLEST_PROBABILITY, 1)
    return np.asarray(-np.log(right).mean(axis=1) + 0.0)


def check_labelled(
    values: np.ndarray, y: np.ndarray, weights: np.ndarray | None, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finite values (n, n_labels), label indices (n,) and weights (n,), 1 where none are given; else a ValueError."""
    values, y = np.asarray(values, dtype=np.float64), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{name}: shape {values.shape}, must be examples by labels, at least one of each")
    if y.shape != values.shape[:1] or weights.shape != y.shape:
        raise ValueError(f"y has shape {y.shape} and weights {weights.shape} for {len(values)} rows")
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: NaN or infinite values")
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= values.shape[1]:
        raise ValueError(f"y holds {np.unique(y)[:5]}, must hold label indices below {values.shape[1]}")
    if not ((weights >= 0) & (weights < np.inf)).all() or not weights.any():
        raise ValueError("weights must be finite, at least 0 and not all 0")
    return values, y, weights


Count = TypeVar("Count", float, np.ndarray)


def platt_targets(n_positive: Count, n_negative: Count) -> tuple[Count, Count]:
    """(n₊+1)/(n₊+2) and 1/(n₋+2), what the sides of a dichotomy count as: separated sides keep a finite fit.

    >>> platt_targets(8, 3)
    (0.9, 0.2)
    """
    return (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)


def logistic_loss(z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
    """Σ w [log(1+e^z) − tz]: the log-loss of P = 1/(1+e^−z) against targets between 0 and 1."""
    return float(weights @ (np.logaddexp(0, z) - targets * z))


# --- the logistic fit -----------------------------------------------------------------------------------------------

TOLERANCE = 1e-10  # of the gradient, in units of the deviation of each column; and 1e-14 more for each unit of weight
RIDGE = 1e-12
CONSTANT = 1e-12  # a column whose deviation is below this part of its size does not vary; a factor below it is 0


@dataclass(frozen=True, eq=False)
class LogisticProblems:
    """Problems one after another: `columns` (k, n) and `positive`, `weights` (n,); problem j begins at `starts[j]`.

    All of them walk together in `fit_logistic`, each with its own steps and its own end, so that a result does not
    depend on which others are fitted with it.
    """

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
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Weighted mean over the examples of each problem."""
        return np.asarray(self.sums(self.weights * values) / self.sums(self.weights))

    def spread(self, values: np.ndarray) -> np.ndarray:
        """The value of its problem for each example: (…, n_problems) to (…, n), or to (…, 1) where there is one."""
        return values if len(self.starts) == 1 else np.repeat(values, self.sizes, axis=-1)


def regularised_targets(problems: LogisticProblems) -> np.ndarray:
    """Platt's target of each example's side in its problem: (n,)."""
    above, below = platt_targets(*_sides(problems))
    return np.where(problems.positive, problems.spread(above), problems.spread(below))


def constant_offset(problems: LogisticProblems, targets: np.ndarray) -> np.ndarray:
    """The offset that is best where every factor is 0: P is the mean target of the problem."""
    mean = problems.means(targets)
    return np.asarray(np.log((1 - mean) / mean))


def fit_logistic(problems: LogisticProblems, targets: np.ndarray) -> np.ndarray:
    """(k + 1, n_problems): factors of the columns, then the offset, of z in P = 1/(1+e^z).

    They minimise −Σ w [t log P + (1−t) log(1−P)], by the robust Newton of Lin, Lin and Weng (specification 4.1), many
    problems at once. A column that does not vary has factor 0.
    """
    mean, scale = _location(problems)
    F = np.ones((len(problems.columns) + 1, len(targets)))
    F[:-1] = (problems.columns - problems.spread(mean)) / problems.spread(scale)
    theta = _Descent(problems, targets, F).minimum()
    factors = np.where(np.abs(theta[:-1]) > CONSTANT, theta[:-1], 0) / scale
    return np.vstack([factors, theta[-1] - (factors * mean).sum(axis=0)])


def _sides(problems: LogisticProblems) -> tuple[np.ndarray, np.ndarray]:
    """N₊ and N₋ of each problem."""
    return problems.sums(problems.weights * problems.positive), problems.sums(problems.weights * ~problems.positive)


def _location(problems: LogisticProblems) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each column in each problem; a deviation of infinity where it does not vary."""
    mean = problems.means(problems.columns)
    deviation = np.sqrt(problems.means((problems.columns - problems.spread(mean)) ** 2))
    return mean, np.where(deviation > CONSTANT * (np.abs(mean) + deviation), deviation, np.inf)


class _Descent:
    """Newton's walk over columns F (k, n) of mean 0 and deviation 1, the last of them 1."""

    def __init__(self, problems: LogisticProblems, targets: np.ndarray, F: np.ndarray) -> None:
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


# --- bounded searches -----------------------------------------------------------------------------------------------


def rising_root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a rising function, given with its derivative, passes 0 between two positive ends; else the nearer end.

    Newton's step where it stays inside what is left of the interval, its geometric middle elsewhere. scipy's `brentq`
    ends in other digits, and temperatures are part of posteriors.
    """
    at = new = float(np.sqrt(low * high))
    for _ in range(200):
        value, slope = function(at)
        low, high = (at, high) if value < 0 else (low, at)
        new = at - value / slope if slope > 0 else low
        if slope > 0 and abs(new - at) <= 1e-14 * at:
            return float(at)
        if not low < new < high:
            new = float(np.sqrt(low * high))
        if abs(new - at) <= 1e-14 * at:
            break
        at = new
    return float(new)


def bounded_minimum(function: Callable[[float], float], low: float, high: float, steps: int = 60) -> float:
    """Where a function that falls and then rises is lowest, by thirds; 60 steps leave 3e-11 of the interval.

    scipy's `minimize_scalar` ends in other digits, and what is found here is part of posteriors.
    """
    for _ in range(steps):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if function(left) <= function(right):
            high = right
        else:
            low = left
    return (low + high) / 2


# --- weights of examples ---------------------------------------------------------------------------------------------


def balanced_sides(weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of mean 1, both sides of the same sum."""
    is_positive = y > 0
    positive = weights[is_positive].sum()
    sums = np.where(is_positive, positive, weights.sum() - positive)
    return np.asarray(weights * len(weights) / (2 * np.maximum(sums, np.finfo(float).tiny)))


def balanced_labels(weights: np.ndarray, y: np.ndarray, n_labels: int) -> np.ndarray:
    """Weights of the mean that they have, all labels of the same sum."""
    sums = np.bincount(y, weights=weights, minlength=n_labels)
    return np.asarray(weights * weights.sum() / (n_labels * np.maximum(sums[y], np.finfo(float).tiny)))

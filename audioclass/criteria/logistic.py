"""Log-loss of scores under the best rising logistic map of them."""

from __future__ import annotations

import numpy as np

from audioclass.numerics import logistic_loss

MOST_STEPS = 100


def smoothed_targets(y: np.ndarray) -> np.ndarray:
    """Platt's targets: (n₊+1)/(n₊+2) and 1/(n₋+2), so that separated sides keep a finite map."""
    n_positive, n_negative = (y > 0).sum(), (y <= 0).sum()
    return np.asarray(np.where(y > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)))


def best_log_loss(scores: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean log-loss of P = 1/(1 + exp(−slope·score − offset)) at its least, slope ≥ 0, and its slope by each score.

    At the least the map's own two numbers need no derivative. Where scores fall as they should rise, the best slope is
    0 and only the shares of the sides are known.
    """
    weights = weights / weights.sum()
    scale = float(np.abs(scores).max()) or 1.0
    rows = np.column_stack([scores / scale, np.ones(len(scores))])
    map_ = _minimised(rows, targets, weights)
    if map_[0] <= 0:
        mean = weights @ targets
        map_ = np.array([0.0, np.log(mean / (1 - mean))])
    z = rows @ map_
    return logistic_loss(z, targets, weights), weights * (_sigmoid(z) - targets) * map_[0] / scale


def _minimised(rows: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Newton steps, halved until they gain."""
    at = np.zeros(rows.shape[1])
    value = logistic_loss(rows @ at, targets, weights)
    for _ in range(MOST_STEPS):
        P = _sigmoid(rows @ at)
        slope = rows.T @ (weights * (P - targets))
        curvature = (rows.T * (weights * P * (1 - P))) @ rows + 1e-12 * np.eye(len(at))
        step = np.linalg.solve(curvature, slope)
        gain = float(slope @ step)
        if gain < 1e-14:
            return at - step
        size = 1.0
        new = logistic_loss(rows @ (at - step), targets, weights)
        while new > value - 1e-4 * size * gain and size > 1e-9:
            size /= 2
            new = logistic_loss(rows @ (at - size * step), targets, weights)
        at, value = at - size * step, new
    return at


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-np.logaddexp(0, -z)))

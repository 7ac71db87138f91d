"""One temperature for all posteriors: P = softmax(scores / T), T the one of the lowest log-loss.

In β = 1/T the log-loss is convex, with derivative Σ w (Σ_k P_k s_k − s_y) / Σ w, so its minimum is a root that Newton
finds and bisection guards.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

HOTTEST = 1e6  # limit of T, and its inverse the other, in units of the deviation of the scores within their row
LEAST = 1e-15  # a probability below this counts as this in a logarithm


def fit_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """T > 0 from held-out scores (n, n_labels) and the label index of each row; c times the scores give c times T.

    Never so cold that the log-loss falls below that of the rule of succession, −log((N+1)/(N+Q)), N the weight of all
    rows and Q the number of labels: scores that are always right would otherwise have no best T. Scores that tell
    nothing of the labels give the hottest T, with a warning; scores that are equal within every row give 1.
    """
    scores, y, weights = _check(scores, y, weights, "scores")
    centred = scores - scores.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((centred**2).mean()))
    if scale <= 1e-14 * np.abs(scores).max():
        return 1.0
    centred /= scale
    loss, derivative, _ = _loss_at(1 / HOTTEST, centred, y, weights)
    if derivative >= 0:
        warnings.warn(f"temperature: scores are no better than chance; T={HOTTEST * scale:.3g}", stacklevel=2)
        return HOTTEST * scale
    colder = _rising_root(lambda beta: _loss_at(beta, centred, y, weights)[1:], 1 / HOTTEST, HOTTEST)
    floor = np.log1p((scores.shape[1] - 1) / (weights.sum() + 1))
    if _loss_at(colder, centred, y, weights)[0] < floor < loss:
        colder = _rising_root(lambda beta: _excess(floor, *_loss_at(beta, centred, y, weights)), 1 / HOTTEST, colder)
    return scale / colder


def apply_temperature(scores: np.ndarray, T: float) -> np.ndarray:
    """softmax(scores / T), (n, n_labels), for scores of any size; rows sum to 1."""
    if not 0 < T < np.inf:
        raise ValueError(f"T={T} must be positive and finite")
    P = np.exp((scores - scores.max(axis=1, keepdims=True)) / T)
    return P / P.sum(axis=1, keepdims=True)


def log_loss(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Weighted mean of −log P of the right label, finite: a probability of 0 counts as 1e−15."""
    P, y, weights = _check(P, y, weights, "P")
    right = P[np.arange(len(y)), y]
    return float(np.average(-np.log(np.maximum(right, LEAST)), weights=weights))


def _loss_at(beta: float, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """Log-loss of softmax(β scores), and its first and second derivative by β."""
    rows = np.arange(len(y))
    P = np.exp(beta * (scores - scores.max(axis=1, keepdims=True)))
    total = P.sum(axis=1)
    P /= total[:, None]
    mean = np.einsum("ij,ij->i", P, scores)
    variance = np.einsum("ij,ij->i", P, (scores - mean[:, None]) ** 2)
    loss = np.log(total) + beta * (scores.max(axis=1) - scores[rows, y])
    return tuple(float(np.average(part, weights=weights)) for part in (loss, mean - scores[rows, y], variance))


def _excess(floor: float, loss: float, derivative: float, _: float) -> tuple[float, float]:
    """How far the loss is below the floor, and the derivative of that."""
    return floor - loss, -derivative


def _rising_root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a rising function, given with its derivative, passes 0 between two positive ends; else the nearer end.

    Newton's step where it stays inside what is left of the interval, its geometric middle elsewhere.
    """
    at = np.sqrt(low * high)
    for _ in range(200):
        value, slope = function(at)
        low, high = (at, high) if value < 0 else (low, at)
        new = at - value / slope if slope > 0 else low
        if not low < new < high:
            new = np.sqrt(low * high)
        if abs(new - at) <= 1e-14 * at:
            break
        at = new
    return float(new)


def _check(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores, y = np.asarray(scores, dtype=np.float64), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if scores.ndim != 2 or not scores.size:
        raise ValueError(f"{name}: shape {scores.shape}, must be examples by labels, at least one of each")
    if y.shape != scores.shape[:1] or weights.shape != y.shape:
        raise ValueError(f"y has shape {y.shape} and weights {weights.shape} for {len(scores)} rows")
    if not np.isfinite(scores).all():
        raise ValueError(f"{name}: NaN or infinite values")
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= scores.shape[1]:
        raise ValueError(f"y holds {np.unique(y)[:5]}, must hold label indices below {scores.shape[1]}")
    if not ((weights >= 0) & (weights < np.inf)).all() or not weights.any():
        raise ValueError("weights must be finite, at least 0 and not all 0")
    return scores, y, weights

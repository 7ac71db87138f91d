"""One temperature for all posteriors: P = softmax(scores / T), T the one of the lowest log-loss.

In β = 1/T the log-loss is convex, with derivative Σ w (Σ_k P_k s_k − s_y) / Σ w, so its minimum is a root that Newton
finds and bisection guards.
"""

from __future__ import annotations

import numpy as np

from audioclass.numerics import check_labelled, rising_root

HOTTEST = 1e6  # limit of T, and its inverse the other, in units of the deviation of the scores within their row


def best_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, bool]:
    """T > 0 from held-out scores (n, n_labels) and the label index of each row, and whether scores tell anything.

    c times the scores give c times T. Never so cold that the log-loss falls below that of the rule of succession,
    −log((N+1)/(N+Q)), N the weight of all rows and Q the number of labels: scores that are always right would otherwise
    have no best T. Scores that tell nothing of the labels give the hottest T; scores that are equal within every row
    give 1.
    """
    scores, y, weights = check_labelled(scores, y, weights, "scores")
    centred = scores - scores.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((centred**2).mean()))
    if scale <= 1e-14 * np.abs(scores).max():
        return 1.0, True
    centred /= scale
    loss, derivative, _ = _loss_at(1 / HOTTEST, centred, y, weights)
    if derivative >= 0:
        return HOTTEST * scale, False
    colder = rising_root(lambda beta: _loss_at(beta, centred, y, weights)[1:], 1 / HOTTEST, HOTTEST)
    floor = np.log1p((scores.shape[1] - 1) / (weights.sum() + 1))
    if _loss_at(colder, centred, y, weights)[0] < floor < loss:
        colder = rising_root(lambda beta: _excess(floor, *_loss_at(beta, centred, y, weights)), 1 / HOTTEST, colder)
    return scale / colder, True


def _loss_at(beta: float, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """Log-loss of softmax(β scores), and its first and second derivative by β."""
    rows = np.arange(len(y))
    P = np.exp(beta * (scores - scores.max(axis=1, keepdims=True)))
    total = P.sum(axis=1)
    P /= total[:, None]
    mean = np.einsum("ij,ij->i", P, scores)
    variance = np.einsum("ij,ij->i", P, (scores - mean[:, None]) ** 2)
    loss = np.log(total) + beta * (scores.max(axis=1) - scores[rows, y])
    of_rows = (loss, mean - scores[rows, y], variance)
    value, slope, curvature = (float(np.average(part, weights=weights)) for part in of_rows)
    return value, slope, curvature


def _excess(floor: float, loss: float, derivative: float, _: float) -> tuple[float, float]:
    """How far the loss is below the floor, and the derivative of that."""
    return floor - loss, -derivative

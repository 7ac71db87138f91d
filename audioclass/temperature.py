"""One temperature for all posteriors: P = softmax(scores / T), T the one of the lowest log-loss.

In β = 1/T the log-loss is convex, with derivative Σ w (Σ_k P_k s_k − s_y) / Σ w, so its minimum is a root that Newton
finds and bisection guards.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    curve = _Curve.of(centred / scale, y, weights)
    loss, derivative, _ = curve.at(1 / HOTTEST)
    if derivative >= 0:
        return HOTTEST * scale, False
    colder = rising_root(lambda beta: curve.at(beta)[1:], 1 / HOTTEST, HOTTEST)
    floor = np.log1p((scores.shape[1] - 1) / (weights.sum() + 1))
    if curve.at(colder)[0] < floor < loss:
        colder = rising_root(lambda beta: _excess(floor, *curve.at(beta)), 1 / HOTTEST, colder)
    return float(scale / colder), True


@dataclass(frozen=True, eq=False)
class _Curve:
    """The log-loss of softmax(β scores) over β; `scores` are those below the largest of their row."""

    scores: np.ndarray
    of_labels: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> _Curve:
        below = scores - scores.max(axis=1, keepdims=True)
        return cls(below, below[np.arange(len(y)), y], weights / weights.sum())

    def at(self, beta: float) -> tuple[float, float, float]:
        """The loss, and its first and second derivative by β."""
        P = self.scores * beta
        np.exp(P, out=P)
        total = P.sum(axis=1)
        P *= self.scores
        mean = P.sum(axis=1) / total
        square = np.einsum("ij,ij->i", P, self.scores) / total
        loss = np.log(total) - beta * self.of_labels
        parts = (loss, mean - self.of_labels, square - mean**2)
        value, slope, curvature = (float(self.share @ part) for part in parts)
        return value, slope, curvature


def _excess(floor: float, loss: float, derivative: float, _: float) -> tuple[float, float]:
    """How far the loss is below the floor, and the derivative of that."""
    return floor - loss, -derivative

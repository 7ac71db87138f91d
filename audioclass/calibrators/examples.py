"""What calibrators are fitted to: held-out scores of a dichotomy, sides in ±1 and weights, checked at the door."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from audioclass.contracts import Fitted


def check_examples(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three as float64, (n,) each: finite, y in ±1, weights at least 0 and not all 0."""
    scores, y, weights = (np.asarray(array, dtype=np.float64) for array in (scores, y, weights))
    if scores.ndim != 1 or not scores.size:
        raise ValueError(f"scores have shape {scores.shape}, must be a list of at least one")
    for name, array in (("y", y), ("weights", weights)):
        if array.shape != scores.shape:
            raise ValueError(f"{name} has shape {array.shape} for {len(scores)} scores")
    if not np.isfinite(scores).all():
        raise ValueError("scores hold NaN or infinite values")
    if not (np.abs(y) == 1).all():
        raise ValueError(f"y holds {np.unique(y)[:5]}, must hold -1 and +1")
    if not ((weights >= 0) & (weights < np.inf)).all() or not weights.any():
        raise ValueError("weights must be finite, at least 0 and not all 0")
    return scores, y, weights


def number(fitted: Fitted, name: str) -> float:
    """A fitted value that is one number."""
    value = fitted[name]
    if isinstance(value, list):
        raise ValueError(f"{name}={value} must be one number")
    return value


def side_weights(y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """N₊ and N₋: how much weight each side has."""
    return float(weights[y > 0].sum()), float(weights[y < 0].sum())


def has_order(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> bool:
    """Whether there is an order to be learnt: different scores and both sides."""
    return all(np.ptp(values[weights > 0]) > 0 for values in (scores, y))


def warn_of_order(where: str, depth: int = 3) -> None:
    """Scores that do not rise with the labels: a map that never falls can only be constant."""
    warnings.warn(
        f"{where}: the positive side has no higher scores; the probability is the same for every score: the two sides"
        " sound alike, have too few recordings, or windows that do not fit what is labelled (--window, --hop)",
        stacklevel=depth,
    )

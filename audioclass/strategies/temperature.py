"""One temperature for all posteriors of a strategy, with a warning where scores tell nothing."""

from __future__ import annotations

import warnings

import numpy as np

from audioclass.numerics import softmax
from audioclass.temperature import best_temperature


def fit_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """T as `best_temperature` has it, with a warning where scores are no better than chance."""
    T, tells = best_temperature(scores, y, weights)
    if not tells:
        warnings.warn(
            f"temperature: scores are no better than chance; T={T:.3g} makes all posteriors alike: more recordings, or"
            " windows that fit what is labelled (--window, --hop), may tell the labels apart",
            stacklevel=2,
        )
    return T


def apply_temperature(scores: np.ndarray, T: float) -> np.ndarray:
    """softmax(scores / T), (n, n_labels), for scores of any size; rows sum to 1."""
    if not 0 < T < np.inf:
        raise ValueError(f"T={T} must be positive and finite")
    return softmax(scores, T)

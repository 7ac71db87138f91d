"""Posteriors from the scores of a multi-class machine, of which only the differences f_k − f_l mean something.

Either a sigmoid for each pair of labels, fitted to f_k − f_l on the examples of both, and the pairs coupled; or the
softmax of all scores at one temperature.
"""

from __future__ import annotations

import numpy as np

from audioclass.calibrators.examples import number
from audioclass.calibrators.platt import Platt
from audioclass.contracts import Fitted
from audioclass.numerics import sigmoid
from audioclass.strategies.coupling import couple_wu_lin_weng, pair_matrix
from audioclass.strategies.temperature import apply_temperature, fit_temperature

FORMS = ("pairs", "temperature")


def fit_posteriors(form: str, scores: np.ndarray, y: np.ndarray) -> Fitted:
    """`slopes` and `offsets` of the pairs in order, or the `temperature`, from held-out scores (n, Q)."""
    if form == "temperature":
        return {"temperature": fit_temperature(scores, y)}
    first, second = np.triu_indices(scores.shape[1], 1)
    sides = (y[:, None] == first).astype(int) - (y[:, None] == second)
    both = (sides > 0).any(axis=0) & (sides < 0).any(axis=0)
    fits = np.full(len(first), None)
    fits[both] = Platt().fit_many(pair_scores(scores)[:, both], sides[:, both], np.ones(len(y)))
    if not both.all():
        fits[~both] = _fit_together(scores, y)
    return {"slopes": [fit["slope"] for fit in fits], "offsets": [fit["offset"] for fit in fits]}


def apply_posteriors(scores: np.ndarray, fitted: Fitted) -> np.ndarray:
    """Posteriors (n, Q) by what was fitted; the plain softmax where nothing was."""
    if "slopes" not in fitted:
        return apply_temperature(scores, number(fitted, "temperature") if fitted else 1.0)
    slopes, offsets = np.asarray(fitted["slopes"]), np.asarray(fitted["offsets"])
    pairs = sigmoid(-(slopes * pair_scores(scores) + offsets))  # Platt's, of all pairs at once
    return couple_wu_lin_weng(pair_matrix(pairs, scores.shape[1]))


def _fit_together(scores: np.ndarray, y: np.ndarray) -> Fitted:
    """One sigmoid for all pairs, for those of a label that no example was held out of."""
    rows = np.arange(len(y))
    others = np.arange(scores.shape[1]) != y[:, None]
    right = (scores[rows, y][:, None] - scores)[others]
    return Platt().fit(np.concatenate([right, -right]), np.repeat([1, -1], len(right)), np.ones(2 * len(right)))


def pair_scores(scores: np.ndarray) -> np.ndarray:
    """(n, Q(Q−1)/2): f_k − f_l for k < l in order."""
    first, second = np.triu_indices(scores.shape[1], 1)
    return np.asarray(scores[:, first] - scores[:, second])

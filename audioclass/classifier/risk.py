"""Sets of labels that hold the true one at a stated risk: conformal prediction from held-out posteriors.

A set is the likeliest label and all whose posterior reaches a threshold. The nonconformity of a clip with its true
label is 0 where that is the likeliest, else one minus its posterior; the threshold leaves a share of the training
groups that were held out beyond it, which is smaller than the risk by its standard error over so many groups. So the
true label of a new recording is in its set with a probability of one minus the risk at least, over groups and labels as
they were trained on, for five models of six; a share of the whole risk would promise that on average over models, and
half of them would break it. Nothing is drawn: the same posteriors always have the same set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

RISK_MEMBERS = ("windows", "window_weights", "clips", "clip_weights")
MOST_CALIBRATION = 8192  # of held-out windows, or clips, that a model keeps


@dataclass(frozen=True, eq=False)
class Risk:
    """Nonconformities of held-out windows and clips with their true labels, from the smallest up, and their weights.

    Those of a group sum to 1, so that many windows of one recording do not count as many.
    """

    windows: np.ndarray
    window_weights: np.ndarray
    clips: np.ndarray
    clip_weights: np.ndarray

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Risk:
        """From arrays by name; a ValueError where they cannot be those of a risk."""
        risk = cls(**{name: arrays[name] for name in RISK_MEMBERS})
        for values, weights in ((risk.windows, risk.window_weights), (risk.clips, risk.clip_weights)):
            are_sizes = values.ndim == 1 and values.shape == weights.shape and 1 <= len(values) <= MOST_CALIBRATION
            if not are_sizes or values.dtype.kind != "f" or weights.dtype.kind != "f":
                raise ValueError(f"arrays of {values.shape} and {weights.shape} for values and their weights")
            if not (np.diff(values) >= 0).all() or not (weights > 0).all() or not 0 <= values[0] <= values[-1] <= 1:
                raise ValueError("nonconformities must rise from 0 to 1 at most, weights be positive")
        return risk

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by its name."""
        return {name: getattr(self, name) for name in RISK_MEMBERS}

    @property
    def n_groups(self) -> int:
        """How many groups were held out."""
        return round(float(self.clip_weights.sum()))

    def threshold(self, risk: float, *, windows: bool = False) -> float:
        """The largest nonconformity of a label in a set; infinite where so few groups can promise no such risk."""
        values, weights = (self.windows, self.window_weights) if windows else (self.clips, self.clip_weights)
        cumulated = np.cumsum(weights, dtype=np.float64)
        n_groups = cumulated[-1]
        least = 1 / (n_groups + 1)
        if risk < least * (1 - 1e-9):
            return float("inf")
        # Few groups cannot leave any beyond: then the strangest of them is the border.
        beyond = max(risk - np.sqrt(risk * (1 - risk) / n_groups), least)
        needed = (1 - beyond) * (n_groups + 1)
        return float(values[min(np.searchsorted(cumulated, needed * (1 - 1e-9)), len(values) - 1)])


def nonconformities(P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n,): 0 where the true label is the likeliest, else one minus its posterior."""
    true = P[np.arange(len(y)), y]
    return np.asarray(np.where(P.argmax(axis=1) == y, 0.0, 1 - true))


def members_of(P: np.ndarray, threshold: float) -> np.ndarray:
    """(n, n_labels): whether each label is in the set of each row."""
    # Thresholds are kept in single precision: a label at the border is within.
    inside = threshold + 1e-6 >= 1 - P
    inside[np.arange(len(P)), P.argmax(axis=1)] = True
    return inside


def sets_of(P: np.ndarray, labels: tuple[str, ...], inside: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """The labels that are `inside` each set, likelier ones first."""
    order = np.argsort(-P, axis=1, kind="stable")
    inside = np.take_along_axis(inside, order, axis=1)
    rows = zip(order.tolist(), inside.tolist(), strict=True)
    return tuple(tuple(labels[i] for i, is_in in zip(row, flags, strict=True) if is_in) for row, flags in rows)

"""Binary relevance: labels of which several hold at once, each told from windows without it by a machine of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.label_sets import LabelSets
from audioclass.parameters import component, parameter
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.taxonomy import Taxonomy

LOWEST, HIGHEST = 0.05, 0.95  # a threshold beyond would be of a few examples


@component
class BinaryRelevance:
    """A machine for each label, all windows with it against all without; probabilities are independent of one another.

    The strategy of corpora whose segments overlap. A label holds where its probability reaches its threshold: the one
    of the largest F1 on held-out windows, or one half.
    """

    name: ClassVar[str] = "binary_relevance"

    threshold: Literal["f1", "half"] = parameter(
        "f1", choices=("f1", "half"), help="probability from which a label holds: that of the largest F1, or one half"
    )

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """For each label the sets that hold it against those that do not."""
        sets = LabelSets.of_names(labels)
        for label, holds in zip(sets.labels, sets.membership.T, strict=True):
            if holds.all():
                raise ValueError(f"label {label!r} is in every window: nothing can tell it from what is without it")
        sides = (
            Dichotomy(tuple(np.flatnonzero(holds).tolist()), tuple(np.flatnonzero(~holds).tolist()))
            for holds in sets.membership.T
        )
        return Plan(len(labels), tuple(sides))

    def fit_combination(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Fitted:
        """The threshold of each label."""
        if self.threshold == "half":
            return {"thresholds": [0.5] * len(plan.dichotomies)}
        holds = (np.isin(y, dichotomy.positive) for dichotomy in plan.dichotomies)
        return {"thresholds": [best_threshold(p, h) for p, h in zip(probabilities.T, holds, strict=True)]}

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The calibrated probability of each label."""
        return np.asarray(np.clip(probabilities, 0.0, 1.0))

    def thresholds(self, fitted: Fitted) -> Sequence[float]:
        """Those that were fitted."""
        return [float(threshold) for threshold in np.asarray(fitted["thresholds"])]


def best_threshold(probabilities: np.ndarray, holds: np.ndarray) -> float:
    """The threshold of the largest F1, midway between two probabilities, from 0.05 to 0.95; the middle one of equals.

    >>> best_threshold(np.array([0.1, 0.3, 0.7, 0.9]), np.array([False, False, True, True]))
    0.5
    """
    order = np.argsort(-probabilities, kind="stable")
    p, hits = probabilities[order], np.cumsum(holds[order])
    n_given = np.arange(1, len(p) + 1)
    f1 = 2 * hits / (n_given + holds.sum())
    between = (p + np.append(p[1:], 0.0)) / 2
    ends = np.append(p[1:] < p[:-1], True) & (between >= LOWEST) & (between <= HIGHEST)
    if not ends.any() or not holds.any():
        return 0.5
    best = np.flatnonzero(ends & (f1 >= f1[ends].max() - 1e-12))
    return float(between[best[len(best) // 2]])


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """Binary relevance."""
    return [BinaryRelevance]

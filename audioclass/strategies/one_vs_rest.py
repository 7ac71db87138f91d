"""One machine for each label against all others; two labels need only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.taxonomy import Taxonomy


def each_against_the_rest(n_labels: int) -> tuple[Dichotomy, ...]:
    """A dichotomy for each label in order; of two labels, the first against the second and no more."""
    labels = range(n_labels)
    each = tuple(Dichotomy((k,), tuple(other for other in labels if other != k)) for k in labels)
    return each[:1] if n_labels == 2 else each


def share_probabilities(probabilities: np.ndarray) -> np.ndarray:
    """Posteriors f*_k/Σf* from the calibrated probability of each label; equal ones where all are 0."""
    if probabilities.shape[1] == 1:
        return np.hstack([probabilities, 1 - probabilities])
    total = probabilities.sum(axis=1, keepdims=True)
    equal = np.full_like(probabilities, 1 / probabilities.shape[1])
    return np.asarray(np.divide(probabilities, total, out=equal, where=total > 0))


def label_scores(scores: np.ndarray) -> np.ndarray:
    """A score for each label; the one machine of two labels gives f to the first and −f to the second."""
    return np.hstack([scores, -scores]) if scores.shape[1] == 1 else scores


@component
class OneVsRest:
    """A machine for each label against the rest, their calibrated probabilities made to sum to 1.

    The decision is the largest probability, not the largest score: scores of different machines share no scale.
    """

    name: ClassVar[str] = "one_vs_rest"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every label in order."""
        return Plan(len(labels), each_against_the_rest(len(labels)))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Each probability divided by their sum."""
        return share_probabilities(probabilities)

    def label_scores(self, plan: Plan | None, scores: np.ndarray) -> np.ndarray | None:
        """Those of the machines."""
        return label_scores(scores)


@component
class OneVsRestTemperature:
    """A machine for each label against the rest, and the softmax of their scores at one fitted temperature."""

    name: ClassVar[str] = "one_vs_rest_temperature"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every label in order."""
        return Plan(len(labels), each_against_the_rest(len(labels)))

    def fit_combination(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Fitted:
        """The temperature of the lowest log-loss on out-of-fold scores."""
        return {"temperature": fit_temperature(label_scores(scores), y)}

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The softmax of the scores over the temperature."""
        return apply_temperature(label_scores(scores), float(np.asarray(fitted["temperature"])))

    def label_scores(self, plan: Plan | None, scores: np.ndarray) -> np.ndarray | None:
        """Those of the machines."""
        return label_scores(scores)


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """One-vs-rest, by probabilities and by a softmax of scores."""
    return [OneVsRest, OneVsRestTemperature]

"""Each label against all others, their probabilities brought to a sum of one."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl
from audioclass.contracts import Fitted, Strategy
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.taxonomy import Taxonomy


@component
class ExampleName:
    """One machine for each label, one alone for two labels; posteriors in proportion to their odds."""

    name: ClassVar[str] = "example_name"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        every = range(len(labels))
        sides = [((k,), tuple(other for other in every if other != k)) for k in every]
        return Plan(len(labels), tuple(Dichotomy(*side) for side in (sides[:1] if len(sides) == 2 else sides)))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        P = np.clip(probabilities, 1e-7, 1 - 1e-7)
        if plan.n_labels == 2:
            return np.column_stack([P, 1 - P])
        odds = P / (1 - P)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    return [ExampleName]

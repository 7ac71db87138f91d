"""Each label against all others, their probabilities brought to a sum of one."""

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl
from audioclass.problems import Dichotomy, Plan


@component
class ExampleName:
    """One machine for each label, one alone for two labels; posteriors in proportion to their odds."""

    name: ClassVar[str] = "example_name"

    def plan(self, labels, geometry, taxonomy, rng):
        every = range(len(labels))
        sides = [((k,), tuple(other for other in every if other != k)) for k in every]
        return Plan(len(labels), tuple(Dichotomy(*side) for side in (sides[:1] if len(sides) == 2 else sides)))

    def combine(self, plan, probabilities, scores, counts, fitted):
        P = np.clip(probabilities, 1e-7, 1 - 1e-7)
        if plan.n_labels == 2:
            return np.column_stack([P, 1 - P])
        odds = P / (1 - P)
        return odds / odds.sum(axis=1, keepdims=True)


@hookimpl
def register_strategies():
    return [ExampleName]

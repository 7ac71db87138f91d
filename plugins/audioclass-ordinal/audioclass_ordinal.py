"""Labels that stand in an order, such as levels: a machine between every two neighbours (Frank and Hall 2001)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Fitted, Strategy
from audioclass.errors import UsageError
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.taxonomy import Taxonomy


@component
class Ordinal:
    """Everything above a place in the order against everything up to it; posteriors are differences of neighbours."""

    name: ClassVar[str] = "ordinal"
    order: tuple[str, ...] = parameter((), help="labels from lowest to highest; by name where none is given")

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        names = list(self.order) or sorted(labels)
        if sorted(names) != sorted(labels):
            raise UsageError(f"ordinal: order {', '.join(names)} must hold each of {', '.join(labels)} once")
        order = [list(labels).index(name) for name in names]
        cuts = [Dichotomy(tuple(order[k:]), tuple(order[:k])) for k in range(1, len(order))]
        return Plan(len(labels), tuple(cuts), {"order": order})

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        above = np.minimum.accumulate(probabilities, axis=1)  # what is above a place is above all lower ones
        ends = np.ones((len(above), 1)), np.zeros((len(above), 1))
        P = np.empty((len(above), plan.n_labels))
        P[:, plan.structure["order"]] = -np.diff(np.hstack([ends[0], above, ends[1]]), axis=1)
        return P


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    return [Ordinal]

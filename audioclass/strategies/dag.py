"""A list of labels from which each pair machine strikes one of the two ends (DAGSVM, specification 7.1 and 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.errors import UsageError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Geometry, Plan
from audioclass.strategies.coupling import pair_numbers
from audioclass.strategies.one_vs_one import every_pair
from audioclass.taxonomy import Taxonomy


@component
class Dag:
    """The first and last label left are compared and one is struck out, until one remains.

    A posterior is the probability of reaching a label when each comparison is drawn by its machine's probability.
    """

    name: ClassVar[str] = "dag"
    order: tuple[str, ...] = parameter((), help="labels in the order of the list; sorted by name where none is given")

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every pair of labels in the order of the list."""
        names = list(self.order) or sorted(labels)
        if sorted(names) != sorted(labels):
            raise UsageError(f"dag: order {', '.join(names)} must hold each of {', '.join(labels)} once")
        order = [list(labels).index(name) for name in names]
        return Plan(len(labels), every_pair(order), {"order": order})

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The sum over all paths to each label, added up one comparison at a time."""
        pair = pair_numbers(plan.n_labels)
        arrived = np.ones((len(probabilities), 1))  # at the lists of one length, by where they begin
        for length in range(plan.n_labels, 1, -1):
            begin = np.arange(plan.n_labels - length + 1)
            r = probabilities[:, pair[begin, begin + length - 1]]
            onward = np.zeros((len(arrived), len(begin) + 1))
            onward[:, :-1] = arrived * r
            onward[:, 1:] += arrived * (1 - r)
            arrived = onward
        P = np.empty_like(arrived)
        P[:, plan.structure["order"]] = arrived
        return P

    def decide(self, plan: Plan, P: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The label left when a positive score strikes the last of the list and any other the first."""
        pair, rows = pair_numbers(plan.n_labels), np.arange(len(scores))
        first, last = np.zeros(len(scores), dtype=int), np.full(len(scores), plan.n_labels - 1)
        for _ in range(plan.n_labels - 1):
            keeps_first = scores[rows, pair[first, last]] > 0
            last = last - keeps_first
            first = first + ~keeps_first
        return np.array(plan.structure["order"])[first]


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """The directed acyclic graph."""
    return [Dag]

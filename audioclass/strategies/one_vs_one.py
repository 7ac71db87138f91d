"""One machine for each pair of labels, their probabilities coupled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.coupling import couple_wu_lin_weng, pair_matrix
from audioclass.taxonomy import Taxonomy


@dataclass(frozen=True)
class OneVsOne:
    """A machine for each pair of labels, coupled by the second method of Wu, Lin and Weng."""

    name: ClassVar[str] = "one_vs_one"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every pair of labels in order."""
        pairs = combinations(range(len(labels)), 2)
        return Plan(len(labels), tuple(Dichotomy((k,), (other,)) for k, other in pairs))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """One linear system for each row."""
        return couple_wu_lin_weng(pair_matrix(probabilities, plan.n_labels))


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """One-vs-one."""
    return [OneVsOne]

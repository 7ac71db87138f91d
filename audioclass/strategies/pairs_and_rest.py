"""One-vs-rest names two candidates, one-vs-one chooses between them (Garcia-Pedrajas and Ortiz-Boyer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Geometry, Plan
from audioclass.strategies.coupling import couple_hastie_tibshirani, pair_matrix, pair_numbers, pair_weights
from audioclass.strategies.one_vs_one import every_pair
from audioclass.strategies.one_vs_rest import each_against_the_rest, share_probabilities
from audioclass.taxonomy import Taxonomy


@component
class PairsAndRest:
    """The pair machine of the two labels with the largest one-vs-rest scores decides (specification 5.6).

    What it combines is the average of one-vs-rest and coupled one-vs-one, whose largest need not be the decision; a
    classifier answers with the nearest posteriors whose largest is.
    """

    name: ClassVar[str] = "pairs_and_rest"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every label against the rest, then every pair; of two labels, their pair."""
        pairs = every_pair(range(len(labels)))
        return Plan(len(labels), pairs if len(labels) == 2 else each_against_the_rest(len(labels)) + pairs)

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The average of the shared probabilities (5.1) and of the coupled ones (5.3)."""
        rest, pairs = _split(plan, probabilities)
        coupled = couple_hastie_tibshirani(pair_matrix(pairs, plan.n_labels), pair_weights(counts))
        return (share_probabilities(rest) + coupled) / 2 if rest.size else coupled

    def decide(self, plan: Plan, P: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Of the two labels with the largest scores, the one that their pair prefers; at 0 the larger."""
        rest, pairs = _split(plan, scores)
        if not rest.size:
            return np.where(pairs[:, 0] >= 0, 0, 1)
        first, second = np.argsort(-rest, axis=1, kind="stable")[:, :2].T
        pair = pair_numbers(plan.n_labels)[np.minimum(first, second), np.maximum(first, second)]
        preference = pairs[np.arange(len(pairs)), pair]
        return np.asarray(np.where(np.where(first < second, preference, -preference) >= 0, first, second))


def _split(plan: Plan, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The answers of the machines against the rest, and those of the pairs."""
    n_pairs = plan.n_labels * (plan.n_labels - 1) // 2
    return answers[:, :-n_pairs], answers[:, -n_pairs:]


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """One-vs-rest and one-vs-one together."""
    return [PairsAndRest]

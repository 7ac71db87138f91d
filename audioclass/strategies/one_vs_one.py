"""One machine for each pair of labels: their probabilities coupled, or their votes counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.coupling import COUPLINGS, pair_matrix
from audioclass.taxonomy import Taxonomy

TIE = 1e-6  # what the sum of a label's probabilities counts beside a vote


def every_pair(labels: Sequence[int]) -> tuple[Dichotomy, ...]:
    """A dichotomy for each pair of labels, the one that comes first being the positive."""
    return tuple(Dichotomy((k,), (other,)) for k, other in combinations(labels, 2))


@component
class OneVsOne:
    """A machine for each pair of labels, their probabilities coupled."""

    name: ClassVar[str] = "one_vs_one"
    coupling: str = parameter("wu_lin_weng", choices=tuple(COUPLINGS), help="how pairs become posteriors")

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every pair of labels in order."""
        return Plan(len(labels), every_pair(range(len(labels))))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The coupling of each row by itself."""
        return COUPLINGS[self.coupling](pair_matrix(probabilities, plan.n_labels), counts)


@component
class OneVsOneVote:
    """A machine for each pair of labels, and Friedman's vote; a score of exactly 0 is a vote for neither.

    Each row is the share of votes, which orders the labels; the last step of a training makes probabilities of it.
    Equal votes are told apart by Σ_l r_kl, which counts a millionth of a vote, then the first label is taken.
    """

    name: ClassVar[str] = "one_vs_one_vote"

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """Every pair of labels in order."""
        return Plan(len(labels), every_pair(range(len(labels))))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Votes v_k = Σ_l H(f_kl), made to sum to 1."""
        votes = count_votes(scores, plan.n_labels)
        votes += TIE * pair_matrix(probabilities, plan.n_labels).sum(axis=2)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def count_votes(scores: np.ndarray, n_labels: int) -> np.ndarray:
    """(n, Q): how many pairs each label wins, from (n, Q(Q−1)/2) scores of the pairs in order."""
    first, second = np.triu_indices(n_labels, 1)
    labels = np.eye(n_labels)
    return (scores > 0) @ labels[first] + (scores < 0) @ labels[second]


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """One-vs-one, coupled and by vote."""
    return [OneVsOne, OneVsOneVote]

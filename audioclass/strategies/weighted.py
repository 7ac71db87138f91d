"""Weighted form of a tree: children of a node are told apart, and probabilities multiply on the way down (7.5, 7.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np

from audioclass.contracts import Fitted
from audioclass.errors import UsageError
from audioclass.problems import Dichotomy, Plan
from audioclass.strategies.coupling import COUPLINGS, SMALLEST, pair_matrix
from audioclass.strategies.descent import weigh_down
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.trees.branches import Branch

# --- machines -------------------------------------------------------------------------------------------------------


def oppose(group: Sequence[int], rest: Sequence[int]) -> tuple[Dichotomy, bool]:
    """The dichotomy between two sets of labels without those in both, and whether the group is its positive side.

    The side of the smallest label is positive, so that two nodes that ask the same question share a machine.
    """
    group_only, rest_only = (tuple(sorted(set(a) - set(b))) for a, b in ((group, rest), (rest, group)))
    if not group_only or not rest_only:
        raise UsageError(f"node {tuple(group)} against {tuple(rest)}: all labels of one are in the other")
    is_positive = group_only < rest_only
    return Dichotomy(*((group_only, rest_only) if is_positive else (rest_only, group_only))), is_positive


def distinct(dichotomies: Iterator[tuple[Dichotomy, bool]]) -> tuple[Dichotomy, ...]:
    """Each dichotomy once, in order of first appearance."""
    return tuple(dict.fromkeys(dichotomy for dichotomy, _ in dichotomies))


@dataclass(frozen=True, eq=False)
class NodeScores:
    """What the machines of a plan say of some rows, asked by group against rest.

    `counts` are the examples of each label, 1 where nobody told.
    """

    plan: Plan
    probabilities: np.ndarray
    scores: np.ndarray
    counts: np.ndarray | None = None

    @cached_property
    def columns(self) -> Mapping[Dichotomy, int]:
        """Where each dichotomy stands."""
        return {dichotomy: column for column, dichotomy in enumerate(self.plan.dichotomies)}

    def probability(self, group: Sequence[int], rest: Sequence[int]) -> np.ndarray:
        """(n,), of the group."""
        dichotomy, is_positive = oppose(group, rest)
        p = self.probabilities[:, self.columns[dichotomy]]
        return p if is_positive else 1 - p

    def count(self, group: Sequence[int]) -> float:
        """Examples of the labels of a group."""
        return float(len(group) if self.counts is None else np.asarray(self.counts)[list(group)].sum())

    def score(self, group: Sequence[int], rest: Sequence[int]) -> np.ndarray:
        """(n,), positive where the group is meant."""
        dichotomy, is_positive = oppose(group, rest)
        return self.scores[:, self.columns[dichotomy]] * (1 if is_positive else -1)


# --- the children of a node -----------------------------------------------------------------------------------------


class Solver(Protocol):
    """How the children of a node share what comes into it."""

    def questions(self, node: Branch) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """The groups and rests to train machines for."""

    def shares(self, node: Branch, node_scores: NodeScores, T: float) -> np.ndarray:
        """(n, n_children); `T` is the temperature of the node."""


class Binary:
    """Two children, one machine."""

    def questions(self, node: Branch) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """The first against the second."""
        yield node.children[0].labels, node.children[1].labels

    def shares(self, node: Branch, node_scores: NodeScores, T: float) -> np.ndarray:
        """Its probability and the rest."""
        p = node_scores.probability(*next(self.questions(node)))
        return np.stack([p, 1 - p], axis=1)


BINARY = Binary()


@dataclass(frozen=True)
class Pairs:
    """Every pair of children, coupled by one of `COUPLINGS`."""

    coupling: str = "wu_lin_weng"

    def questions(self, node: Branch) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Two children at a time; labels of the others are left out."""
        return ((a.labels, b.labels) for a, b in combinations(node.children, 2))

    def shares(self, node: Branch, node_scores: NodeScores, T: float) -> np.ndarray:
        """Examples of a child are those of its labels."""
        r = np.stack([node_scores.probability(*question) for question in self.questions(node)], axis=1)
        counts = np.array([node_scores.count(child.labels) for child in node.children])
        return COUPLINGS[self.coupling](pair_matrix(r, len(node.children)), counts)


class Rests:
    """Every child against its siblings, probabilities divided by their sum."""

    def questions(self, node: Branch) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """A child and the labels of its siblings."""
        for child in node.children:
            yield child.labels, [label for other in node.children if other is not child for label in other.labels]

    def shares(self, node: Branch, node_scores: NodeScores, T: float) -> np.ndarray:
        """Where no child is likely at all, all are equally so."""
        p = np.stack([node_scores.probability(*question) for question in self.questions(node)], axis=1)
        p = np.maximum(p, SMALLEST)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


class Softmax(Rests):
    """Every child against its siblings, a softmax of the scores with a temperature for each node."""

    def shares(self, node: Branch, node_scores: NodeScores, T: float) -> np.ndarray:
        """Scores divided by the temperature."""
        return apply_temperature(self.scores(node, node_scores), T)

    def scores(self, node: Branch, node_scores: NodeScores) -> np.ndarray:
        """(n, n_children)."""
        return np.stack([node_scores.score(*question) for question in self.questions(node)], axis=1)

    def temperature(self, node: Branch, node_scores: NodeScores, y: np.ndarray) -> float:
        """From the rows whose label is in one child only; 1 without any."""
        places = np.stack([np.isin(y, child.labels) for child in node.children], axis=1)
        rows = places.sum(axis=1) == 1
        return fit_temperature(self.scores(node, node_scores)[rows], places[rows].argmax(axis=1)) if rows.any() else 1.0


SOLVERS: Mapping[str, Callable[[str], Solver]] = {  # from the name of a coupling
    "one_vs_one": Pairs,
    "one_vs_rest": lambda coupling: Rests(),
    "softmax": lambda coupling: Softmax(),
}


# --- the two forms --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weighted:
    """Probabilities multiply on the way down."""

    solver: Solver

    def dichotomies(self, tree: Branch) -> tuple[Dichotomy, ...]:
        """What tells the children of each node apart."""
        groups = (node for node in tree.walk() if node.children)
        return distinct(oppose(*question) for node in groups for question in self._solver(node).questions(node))

    def fit(self, tree: Branch, node_scores: NodeScores, y: np.ndarray) -> Fitted:
        """A temperature for each wide node that has one."""
        if not isinstance(self.solver, Softmax):
            return {}
        return {"temperatures": [self.solver.temperature(node, node_scores, y) for node in _wide(tree)]}

    def posteriors(self, tree: Branch, node_scores: NodeScores, fitted: Fitted) -> np.ndarray:
        """By successive weighting."""
        wide = _wide(tree)
        T = dict(zip(wide, np.ravel(fitted.get("temperatures", np.ones(len(wide)))).tolist(), strict=True))

        def shares(node: Branch) -> np.ndarray:
            return self._solver(node).shares(node, node_scores, T.get(node, 1.0))

        return weigh_down(tree, shares, len(node_scores.scores))

    def _solver(self, node: Branch) -> Solver:
        return self.solver if len(node.children) > 2 else BINARY


def _wide(tree: Branch) -> list[Branch]:
    return list(dict.fromkeys(node for node in tree.walk() if len(node.children) > 2))

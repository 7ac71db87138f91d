"""Random binary trees of labels, the mean of their posteriors (Frank and Kramer 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Geometry, Plan
from audioclass.strategies.descent import weigh_down
from audioclass.strategies.weighted import BINARY, NodeScores, distinct, oppose
from audioclass.taxonomy import Taxonomy
from audioclass.trees.branches import Branch, random_tree


@component
class NestedDichotomies:
    """Trees drawn by chance, each with a machine at every node; machines that trees share are trained once."""

    name: ClassVar[str] = "nested_dichotomies"
    is_random: ClassVar[bool] = True
    trees: int = parameter(10, low=1, help="how many trees are drawn")
    balanced: bool = parameter(False, help="cut groups into equal halves instead of drawing among all trees")

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """The nodes of all trees; the trees are in the structure."""
        drawn = [random_tree(len(labels), rng, balanced=self.balanced) for _ in range(self.trees)]
        groups = (node for tree in drawn for node in tree.walk() if node.children)
        dichotomies = distinct(oppose(*question) for node in groups for question in BINARY.questions(node))
        return Plan(len(labels), dichotomies, {"trees": [tree.to_plain() for tree in drawn]})

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """The mean over trees of posteriors by successive weighting."""
        node_scores = NodeScores(plan, probabilities, scores)
        drawn = map(Branch.of_plain, plan.structure["trees"])
        P = [weigh_down(tree, lambda node: BINARY.shares(node, node_scores, 1.0), len(probabilities)) for tree in drawn]
        return np.asarray(np.mean(P, axis=0))


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """Nested dichotomies."""
    return [NestedDichotomies]

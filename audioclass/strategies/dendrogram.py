"""The hybrid dendrogram: a tree of groups of labels, learnt or given, with a binary machine or more at each node.

Two forms. *Weighted*: a machine tells the children of a node apart, several are coupled where there are more than two
children, and probabilities multiply on the way down (specification 7.5 and 7.6). *Additive*: every node, inner or leaf,
has a machine against all the rest; the score of a label is the weighted sum of the scores on its way from the root,
with one weight for each level, and a softmax over labels gives the posteriors. Without inner nodes that is one-vs-rest
with a temperature. The level of a node is ⌈log2 of its number of labels⌉: leaves share a level however deep they
lie, and so do pairs; in a balanced tree levels are depths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.errors import UsageError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import check_parameters, parameter
from audioclass.problems import Geometry, Plan
from audioclass.strategies import trees
from audioclass.strategies.additive import Additive
from audioclass.strategies.trees import Branch
from audioclass.strategies.weighted import SOLVERS, Answers, Weighted, greedy_path
from audioclass.taxonomy import Taxonomy

LEARNERS: Mapping[str, Callable[[np.ndarray], Branch]] = {
    **{linkage: partial(trees.agglomerate, linkage=linkage) for linkage in trees.LINKAGES},
    "half": trees.halve,
    "greedy": trees.split_greedily,
}


@dataclass(frozen=True)
class HybridDendrogram:
    """A tree of groups of labels, learnt or given, whose nodes have two children or more."""

    name: ClassVar[str] = "hybrid_dendrogram"
    tree: str = parameter(
        "average",
        choices=(*LEARNERS, "taxonomy"),
        help="a linkage of the distances between labels, half against half, greedy, or the given taxonomy",
    )
    absorb: float = parameter(
        0.8,
        search=(0.5, 1.0),
        help="a group joins the one above it when at least so many times as high; above 1 none does, at 0 all do",
    )
    below: str = parameter(
        "as given",
        choices=("as given", *LEARNERS),
        help="how a taxonomy's groups of more than two members are divided further",
    )
    form: str = parameter(
        "additive",
        choices=("additive", "weighted"),
        help="scores of nodes against the rest add up, or probabilities of children multiply",
    )
    wide: str = parameter(
        "one_vs_one", choices=tuple(SOLVERS), help="what a weighted node of more than two children is solved by"
    )
    decision: str = parameter(
        "label", choices=("label", "path"), help="the most probable label, or the end of the most probable path"
    )

    __post_init__ = check_parameters

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """The machines of the nodes; the tree is in the structure."""
        tree = self.grow(labels, geometry, taxonomy)
        return Plan(len(labels), self._form.dichotomies(tree), {"tree": tree.to_plain()})

    def grow(self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None) -> Branch:
        """The tree; groups of a taxonomy are kept, learnt ones may be absorbed."""
        D = np.sqrt(geometry.squared_distances)
        if self.tree != "taxonomy":
            return self._learn(self.tree, D)
        if taxonomy is None:
            raise UsageError("hybrid_dendrogram: tree='taxonomy' needs a taxonomy, none is given")
        given = trees.of_taxonomy(taxonomy, labels)
        if self.below == "as given":
            return trees.measure(given, D)
        return trees.learn_below(given, D, partial(self._learn, self.below))

    def fit_combination(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Fitted:
        """Weights of levels in the additive form; temperatures of wide nodes solved by a softmax; else nothing."""
        return self._form.fit(tree_of(plan), Answers(plan, probabilities, scores), y)

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Posteriors of the leaves; those of inner nodes are their sums (`node_posteriors`)."""
        return self._form.posteriors(tree_of(plan), Answers(plan, probabilities, scores), fitted)

    def decide(self, plan: Plan, P: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The label of the largest posterior, or the one at the end of the greedy path."""
        return P.argmax(axis=1) if self.decision == "label" else greedy_path(tree_of(plan), P)

    @property
    def _form(self) -> Additive | Weighted:
        return Additive() if self.form == "additive" else Weighted(SOLVERS[self.wide])

    def _learn(self, learner: str, D: np.ndarray) -> Branch:
        return trees.absorb(LEARNERS[learner](D), self.absorb)


def tree_of(plan: Plan) -> Branch:
    """The tree in the structure of a plan."""
    return Branch.of_plain(plan.structure["tree"])


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """The hybrid dendrogram."""
    return [HybridDendrogram]

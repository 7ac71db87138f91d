"""The hybrid dendrogram: a tree of groups of labels, learnt or given, with a binary machine or more at each node.

Two forms. *Additive* (`additive.py`): every node, inner or leaf, has a machine against all the rest; the score of a
label is the weighted sum of its own and of those of its groups, and a softmax over labels gives the posteriors.
*Weighted* (`weighted.py`): a machine tells the children of a node apart, several are coupled where there are more than
two, and probabilities multiply on the way down (specification 7.5 and 7.6).

A learnt tree is binary; merging a group into the one above it makes it hybrid. Merges are chosen by held-out log-loss
once all machines are trained, and the machines of merged groups dropped; or before, by heights or by separability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.errors import UsageError
from audioclass.hookspecs import hookimpl
from audioclass.numerics import log_loss
from audioclass.parameters import component, parameter
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.additive import Additive, group_scores, groups, leaf_scores
from audioclass.strategies.coupling import COUPLINGS
from audioclass.strategies.descent import greedy_path
from audioclass.strategies.merging import HEIGHTS, MOST_MACHINES, clarity, merge_clear
from audioclass.strategies.weighted import SOLVERS, NodeScores, Weighted
from audioclass.taxonomy import Taxonomy
from audioclass.trees import branches
from audioclass.trees.branches import Branch

LEARNERS: Mapping[str, Callable[[np.ndarray], Branch]] = {
    **{linkage: partial(branches.agglomerate, linkage=linkage) for linkage in branches.LINKAGES},
    "half": branches.halve,
    "greedy": branches.split_greedily,
}


@component
class HybridDendrogram:
    """A tree of groups of labels, learnt or given, whose nodes have two children or more.

    Measured with least-squares machines, as it is by default: a log-loss of 0.176 on ESC-10 with 14 machines, where
    one-vs-rest with a temperature has 0.183; 0.251 on FSDD, where that has 0.268; weighted form 0.244 on ESC-10. Of
    prices from 0 to 0.2, 0.05 and 0.08 had the lowest log-loss when cross-validated on the training rows alone, within
    0.001 of each other, and 0.08 the better accuracy.
    """

    name: ClassVar[str] = "hybrid_dendrogram"
    tree: str = parameter(
        "average",
        choices=(*LEARNERS, "taxonomy"),
        help="a linkage of the distances between labels, half against half, greedy, or the given taxonomy",
    )
    merge: str = parameter(
        "held_out",
        choices=("held_out", "height", "separability", "none"),
        help="what says that a learnt group joins the one above it; held-out log-loss decides on trained machines",
    )
    price: float = parameter(
        0.08,
        low=0.0,
        search=(0.0, 0.2),
        help="share of the held-out log-loss that a group must save for a weight like that of the leaves",
    )
    absorb: float = parameter(
        0.8,
        search=(0.5, 1.0),
        help="a group joins the one above it when at least so many times as high; above 1 none does, at 0 all do",
    )
    cuts: tuple[int, ...] = parameter(
        (), low=2, help="keep only the groups of learnt trees cut into so many; empty: all"
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
    coupling: str = parameter(
        "wu_lin_weng", choices=tuple(COUPLINGS), help="how the pairs of a wide node solved one_vs_one become its shares"
    )
    decision: str = parameter(
        "label", choices=("label", "path"), help="the most probable label, or the end of the most probable path"
    )

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """The machines of the nodes, of all trees that `prune` chooses from; those are in the structure."""
        tree, given = self.grow(labels, geometry, taxonomy)
        structure: dict[str, Any] = {"tree": tree.to_plain(), "given": given}
        candidates = self._candidates(tree, given) if self._chooses else [tree]
        if len(candidates) > 1:
            structure["trees"] = [candidate.to_plain() for candidate in candidates]
        return Plan(len(labels), self._machines(candidates), structure)

    def plan_for(self, tree: Branch) -> Plan:
        """The machines of a tree that is given as it is and never merged."""
        given = [list(node.labels) for node in tree.walk() if node.children]
        return Plan(len(tree.labels), self._form.dichotomies(tree), {"tree": tree.to_plain(), "given": given})

    def grow(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None
    ) -> tuple[Branch, list[list[int]]]:
        """The tree, and the labels of each group in it that was given: those are never merged."""
        D = np.sqrt(geometry.squared_distances)
        if self.tree != "taxonomy":
            return self._merged(self._learn(self.tree, D), geometry, []), []
        if taxonomy is None:
            raise UsageError("hybrid_dendrogram: tree='taxonomy' needs a taxonomy, none is given")
        top = branches.of_taxonomy(taxonomy, labels)
        given = [list(node.labels) for node in top.walk() if node.children]
        if self.below == "as given":
            return branches.measure(top, D), given
        return self._merged(branches.learn_below(top, D, partial(self._learn, self.below)), geometry, given), given

    def prune(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Plan:
        """The plan without the groups that save too little held-out log-loss, or with the best of its trees."""
        if self.merge != "held_out":
            return plan
        node_scores = NodeScores(plan, probabilities, scores, counts)
        tree = self._best(plan, node_scores, y) if "trees" in plan.structure else tree_of(plan)
        if isinstance(self._form, Additive):
            return self._without_idle(tree, self._form.worthy(tree, node_scores, y), node_scores.plan)
        return _smaller(plan, tree, self._form.dichotomies(tree))

    def fit_combination(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Fitted:
        """Weights of leaves and groups in the additive form; temperatures of wide nodes solved by a softmax."""
        return self._form.fit(tree_of(plan), NodeScores(plan, probabilities, scores, counts), y)

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Posteriors of the leaves; those of inner nodes are their sums."""
        return self._form.posteriors(tree_of(plan), NodeScores(plan, probabilities, scores, counts), fitted)

    def decide(self, plan: Plan, P: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The label of the largest posterior, or the one at the end of the greedy path."""
        return P.argmax(axis=1) if self.decision == "label" else greedy_path(tree_of(plan), P)

    def label_scores(self, plan: Plan | None, scores: np.ndarray) -> np.ndarray | None:
        """Those of the leaves against the rest; none in the weighted form."""
        return leaf_scores(NodeScores(plan, scores, scores)) if plan and self.form == "additive" else None

    def group_scores(self, plan: Plan, scores: np.ndarray) -> np.ndarray | None:
        """Those of the inner nodes against the rest; none in the weighted form."""
        if self.form != "additive":
            return None
        node_scores = NodeScores(plan, scores, scores)
        names = groups(tree_of(plan), node_scores)
        return group_scores(names, node_scores) if names else None

    def tree_in(self, plan: Plan) -> Branch:
        """The tree that the plan was made for, or what pruning left of it."""
        return tree_of(plan)

    @property
    def _form(self) -> Additive | Weighted:
        return Additive(self.price) if self.form == "additive" else Weighted(SOLVERS[self.wide](self.coupling))

    @property
    def _chooses(self) -> bool:
        return self.form == "weighted" and self.merge == "held_out"

    def _learn(self, learner: str, D: np.ndarray) -> Branch:
        tree = LEARNERS[learner](D)
        return branches.cut(tree, self.cuts) if self.cuts else tree

    def _merged(self, tree: Branch, geometry: Geometry, given: Sequence[Sequence[int]]) -> Branch:
        """The tree after the merges that need no machine."""
        if self.merge == "height":
            return merge_clear(tree, self.absorb, lambda node: node.height, given)
        if self.merge == "separability":
            return merge_clear(tree, self.absorb, lambda node: clarity(node, geometry), given)
        return tree

    def _candidates(self, tree: Branch, given: Sequence[Sequence[int]]) -> list[Branch]:
        """The tree itself, then with more and more groups merged while the machines of one are not too many."""
        most = MOST_MACHINES * len(tree.labels)
        merged = [merge_clear(tree, tau, lambda node: node.height, given) for tau in HEIGHTS]
        return [tree, *(t for t in dict.fromkeys(merged) if t != tree and len(self._form.dichotomies(t)) <= most)]

    def _machines(self, candidates: Sequence[Branch]) -> tuple[Dichotomy, ...]:
        return tuple(dict.fromkeys(machine for tree in candidates for machine in self._form.dichotomies(tree)))

    def _best(self, plan: Plan, node_scores: NodeScores, y: np.ndarray) -> Branch:
        """The tree of the lowest held-out log-loss, the first of equals."""

        def loss(tree: Branch) -> float:
            return log_loss(self._form.posteriors(tree, node_scores, self._form.fit(tree, node_scores, y)), y)

        return min(map(Branch.of_plain, plan.structure["trees"]), key=loss)

    def _without_idle(self, tree: Branch, groups: Sequence[tuple[int, ...]], plan: Plan) -> Plan:
        """With the machines of these groups only, those of weight, and without learnt groups that have none."""
        n_labels = len(tree.labels)
        worthy = {side for group in groups for side in _sides(group, n_labels)}
        idle = {node.labels for node in tree.walk() if node.children} - worthy - {tree.labels}
        given = {tuple(group) for group in plan.structure["given"]}
        machines = self._form.dichotomies(branches.merge(tree, lambda node, _: node.labels in idle))
        return _smaller(plan, branches.merge(tree, lambda node, _: node.labels in idle - given), machines)


def tree_of(plan: Plan) -> Branch:
    """The tree in the structure of a plan."""
    return Branch.of_plain(plan.structure["tree"])


def _sides(group: tuple[int, ...], n_labels: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A group and the rest, which its machine serves as well."""
    return group, tuple(sorted(set(range(n_labels)) - set(group)))


def _smaller(plan: Plan, tree: Branch, machines: Sequence[Dichotomy]) -> Plan:
    wanted = set(machines)
    structure = {"tree": tree.to_plain(), "given": plan.structure["given"]}
    return Plan(plan.n_labels, tuple(d for d in plan.dichotomies if d in wanted), structure)


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """The hybrid dendrogram."""
    return [HybridDendrogram]

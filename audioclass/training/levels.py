"""Which level of its tree each dichotomy of a plan stands on, for those that share a choice with their level."""

from __future__ import annotations

from collections.abc import Iterator

from audioclass.contracts import HasTree
from audioclass.problems import Dichotomy, Plan
from audioclass.trees.branches import Branch


def levels_of(strategy: HasTree, plan: Plan) -> list[int]:
    """The depth of the node of each dichotomy: of the group against the rest, or of that whose children are told apart.

    The root has depth 0; of nodes that fit equally, such as the two sides below the root, the first counts. A dichotomy
    of several candidate trees has its level in the tree that they are all merged from.
    """
    nodes = list(_with_depths(strategy.tree_in(plan), 0))
    of_node = _against_rest if strategy.form == "additive" else _between_children
    return [of_node(dichotomy, nodes) for dichotomy in plan.dichotomies]


def _with_depths(node: Branch, depth: int) -> Iterator[tuple[Branch, int]]:
    yield node, depth
    for child in node.children:
        yield from _with_depths(child, depth + 1)


def _against_rest(dichotomy: Dichotomy, nodes: list[tuple[Branch, int]]) -> int:
    sides = {tuple(sorted(dichotomy.positive)), tuple(sorted(dichotomy.negative))}
    return min((depth for node, depth in nodes if node.labels in sides), default=0)


def _between_children(dichotomy: Dichotomy, nodes: list[tuple[Branch, int]]) -> int:
    labels = {*dichotomy.positive, *dichotomy.negative}
    return max(depth for node, depth in nodes if labels <= {*node.labels})

"""Trees over labels, from the distances between them or from a taxonomy (specification 7.3 to 7.7).

A distance matrix `D` is (n_labels, n_labels), symmetric, at least 0. From the top down ties go to the smallest labels,
and values that differ by rounding alone are ties; from the bottom up see `agglomerate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from audioclass.errors import unknown_name
from audioclass.taxonomy import Node, Taxonomy

ROUNDING = 1e-12  # relative difference below which two values are a tie
LINKAGES = ("average", "single", "complete", "ward")
EXHAUSTIVE = 14  # labels of which every cut into halves is looked at


@dataclass(frozen=True)
class Branch:
    """A leaf, or a group of at least two children; a label may stand in several of them.

    `labels` are in order, children in order of their labels; no child is higher than its group, a leaf has height 0.
    """

    labels: tuple[int, ...]
    children: tuple[Branch, ...] = ()
    height: float = 0.0

    @classmethod
    def leaf(cls, label: int) -> Branch:
        """A label by itself."""
        return cls((int(label),))

    @classmethod
    def group(cls, children: Sequence[Branch], height: float = 0.0) -> Branch:
        """A group of nodes; one node alone is that node."""
        if len(children) == 1:
            return children[0]
        labels = {label for child in children for label in child.labels}
        height = max(float(height), *(child.height for child in children))
        return cls(tuple(sorted(labels)), tuple(sorted(children, key=lambda child: child.labels)), height)

    @classmethod
    def of_plain(cls, plain: Any) -> Branch:
        """What `to_plain` wrote."""
        if isinstance(plain, int):
            return cls.leaf(plain)
        return cls.group([cls.of_plain(node) for node in plain["nodes"]], plain["height"])

    def to_plain(self) -> Any:
        """A leaf as its label, a group as a table of its height and its nodes."""
        if not self.children:
            return self.labels[0]
        return {"height": self.height, "nodes": [child.to_plain() for child in self.children]}

    def walk(self) -> Iterator[Branch]:
        """This node, then everything below it, groups before their children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def ways(self) -> Iterator[tuple[int, tuple[Branch, ...]]]:
        """The label of each leaf with the nodes that lead to it, the leaf last and this node left out."""
        if not self.children:
            yield self.labels[0], ()
        for child in self.children:
            yield from ((label, (child, *path)) for label, path in child.ways())


# --- learnt trees ---------------------------------------------------------------------------------------------------


def agglomerate(D: np.ndarray, linkage: str = "average") -> Branch:
    """The binary dendrogram from the bottom up: the two nearest groups are joined, at the height of their distance.

    Of pairs that are equally near, `scipy.cluster.hierarchy` takes the one that its walk along nearest neighbours comes
    to first: the same each time, but not always that of the smallest labels.
    """
    from scipy.cluster import hierarchy  # trees of models are read without it
    from scipy.spatial.distance import squareform

    if linkage not in LINKAGES:
        raise unknown_name("linkage", linkage, LINKAGES)
    D = _check(D)
    nodes = [Branch.leaf(label) for label in range(len(D))]
    if len(D) > 1:
        for first, second, height, _ in hierarchy.linkage(squareform(D, checks=False), linkage):
            nodes.append(Branch.group([nodes[int(first)], nodes[int(second)]], height))
    return nodes[-1]


def halve(D: np.ndarray) -> Branch:
    """Half against half from the top down: every group is cut into equal halves, as far apart as they can be."""
    return _from_the_top(_check(D), _halves)


def split_greedily(D: np.ndarray) -> Branch:
    """From the top down: the farthest pair are the seeds, and labels join one of them, the clearest first."""
    return _from_the_top(_check(D), _greedy_sides)


def random_tree(n_labels: int, rng: np.random.Generator, *, balanced: bool = False) -> Branch:
    """A binary tree, all being equally likely; or, balanced, one whose groups are cut into equal halves by chance."""
    if balanced:
        return _halved(rng.permutation(n_labels))
    return _grown_by_chance(n_labels, rng)


# --- given trees, and trees from trees ------------------------------------------------------------------------------


def of_taxonomy(taxonomy: Taxonomy, labels: Sequence[str]) -> Branch:
    """The tree of a taxonomy; the height of a group is the number of levels below it."""
    taxonomy.check_labels(labels)
    index = {label: i for i, label in enumerate(labels)}

    def grow(node: Node) -> Branch:
        if not node.children:
            return Branch.leaf(index[node.name])
        children = [grow(child) for child in node.children]
        return Branch.group(children, 1 + max(child.height for child in children))

    return grow(taxonomy.root)


def measure(tree: Branch, D: np.ndarray) -> Branch:
    """The same tree with the mean distance between children as the height of a group, or that of a higher child."""
    if not tree.children:
        return tree
    children = [measure(child, D) for child in tree.children]
    between = _between(children, D)
    return Branch.group(children, between[np.triu_indices(len(children), 1)].mean())


def merge(tree: Branch, joins: Callable[[Branch, Branch], bool]) -> Branch:
    """The tree in which a group takes in the children of every group below it that joins it.

    `joins` is asked of a group and of the one above it that stays.
    """
    if not tree.children:
        return tree

    def members(node: Branch) -> Iterator[Branch]:
        for child in node.children:
            if child.children and joins(child, tree):
                yield from members(child)
            else:
                yield merge(child, joins)

    return Branch.group(list(members(tree)), tree.height)


def cut(tree: Branch, sizes: Sequence[int]) -> Branch:
    """The tree with no groups but those of cuts into so many, each cut made where the tree is highest."""
    wanted = {node for size in sizes for node in _cut(tree, size)}
    return merge(tree, lambda node, _: node not in wanted)


def _cut(tree: Branch, size: int) -> list[Branch]:
    parts = [tree]
    while len(parts) < size and any(part.children for part in parts):
        highest = max((part for part in parts if part.children), key=lambda part: part.height)
        parts.remove(highest)
        parts += highest.children
    return parts


def learn_below(tree: Branch, D: np.ndarray, learn: Callable[[np.ndarray], Branch]) -> Branch:
    """A given tree in which every group of more than two children is a learnt tree over them.

    `learn` is given the mean distances between the children; heights are distances throughout.
    """
    return measure(_learn_below(tree, _check(D), learn), D)


def _learn_below(tree: Branch, D: np.ndarray, learn: Callable[[np.ndarray], Branch]) -> Branch:
    children = [_learn_below(child, D, learn) for child in tree.children]
    if len(children) <= 2:
        return Branch.group(children) if children else tree
    return _graft(learn(_between(children, D)), children)


def _graft(tree: Branch, parts: Sequence[Branch]) -> Branch:
    """The tree with a part in the place of each leaf."""
    if not tree.children:
        return parts[tree.labels[0]]
    return Branch.group([_graft(child, parts) for child in tree.children])


def _between(nodes: Sequence[Branch], D: np.ndarray) -> np.ndarray:
    """Mean distances between the labels of nodes, 0 on the diagonal."""
    share = np.zeros((len(nodes), len(D)))
    for row, node in zip(share, nodes, strict=True):
        row[list(node.labels)] = 1 / len(node.labels)
    between = share @ D @ share.T
    np.fill_diagonal(between, 0)
    return np.asarray((between + between.T) / 2)


# --- how groups are cut ---------------------------------------------------------------------------------------------


def _from_the_top(D: np.ndarray, cut: Callable[[np.ndarray], np.ndarray]) -> Branch:
    """Cut until labels are alone; `cut` says of each row of a distance matrix whether it goes with the first."""

    def grow(labels: np.ndarray) -> Branch:
        if len(labels) == 1:
            return Branch.leaf(labels[0])
        first = cut(D[np.ix_(labels, labels)])
        return Branch.group([grow(labels[first]), grow(labels[~first])])

    return measure(grow(np.arange(len(D))), D)


def _halves(D: np.ndarray) -> np.ndarray:
    n = len(D)
    sizes = sorted({n // 2, n - n // 2})
    if n > EXHAUSTIVE:
        sides = np.array([_swapped(D, size) for size in sizes])
    else:
        chosen = sorted((0, *rest) for size in sizes for rest in combinations(range(1, n), size - 1))
        sides = np.array([np.isin(np.arange(n), group) for group in chosen])
    across = ((sides @ D) * ~sides).sum(axis=1)
    return np.asarray(sides[_first_largest(across)])


def _swapped(D: np.ndarray, size: int) -> np.ndarray:
    """A cut that no exchange of two labels makes better, from the `size` labels that lean most to one end."""
    a, b = _first_largest_pair(D)
    side = np.zeros(len(D), dtype=bool)
    side[np.argsort(D[a] - D[b], kind="stable")[:size]] = True
    while True:
        sign = np.where(side, 1, -1)
        lost = -sign * (D @ sign)  # what moving a label takes away from the sum across the cut
        gain = np.where(side[:, None] & ~side[None, :], 2 * D - lost[:, None] - lost[None, :], -np.inf)
        i, j = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[i, j] <= ROUNDING * D.sum():
            return side
        side[[i, j]] = False, True


def _greedy_sides(D: np.ndarray) -> np.ndarray:
    a, b = _first_largest_pair(D)
    side = np.zeros(len(D), dtype=int)  # 1 with a, −1 with b, 0 undecided
    side[[a, b]] = 1, -1
    while not side.all():
        lean = D[:, side < 0].mean(axis=1) - D[:, side > 0].mean(axis=1)
        label = _first_largest(np.where(side == 0, np.abs(lean), -np.inf))
        side[label] = 1 if lean[label] >= 0 else -1
    return side > 0


def _halved(labels: np.ndarray) -> Branch:
    if len(labels) == 1:
        return Branch.leaf(labels[0])
    middle = (len(labels) + 1) // 2
    return Branch.group([_halved(labels[:middle]), _halved(labels[middle:])])


def _grown_by_chance(n_labels: int, rng: np.random.Generator) -> Branch:
    """Each label in turn is joined to a node drawn from all those there are."""
    children: dict[int, list[int]] = {}  # groups are numbered from n_labels up; the top one stands below −1
    above = {0: -1}
    top = 0
    for label in range(1, n_labels):
        node = int(rng.choice(list(above)))
        group = n_labels + label - 1
        children[group] = [node, label]
        over = above[node]
        above |= {group: over, node: group, label: group}
        if over < 0:
            top = group
        else:
            children[over][children[over].index(node)] = group

    def grow(node: int) -> Branch:
        if node < n_labels:
            return Branch.leaf(node)
        return Branch.group([grow(child) for child in children[node]])

    return grow(top)


def _first_largest(values: np.ndarray) -> int:
    largest = values.max()
    return int(np.argmax(values >= largest - ROUNDING * abs(largest)))


def _first_largest_pair(values: np.ndarray) -> tuple[int, int]:
    """k < l of the largest value above the diagonal."""
    rows, columns = np.triu_indices(len(values), 1)
    at = _first_largest(values[rows, columns])
    return int(rows[at]), int(columns[at])


def _check(D: np.ndarray) -> np.ndarray:
    """A copy of a distance matrix that is one."""
    D = np.array(D, dtype=float)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not D.size:
        raise ValueError(f"distances have shape {D.shape}, must be labels by labels")
    if not np.isfinite(D).all() or (D < 0).any() or not np.allclose(D, D.T):
        raise ValueError("distances must be finite, at least 0 and symmetric")
    return D

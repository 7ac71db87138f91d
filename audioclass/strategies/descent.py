"""Posteriors on a tree: shared out from the root down, summed for every node, followed to a label or to a group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audioclass.trees.branches import Branch


def weigh_down(tree: Branch, shares: Callable[[Branch], np.ndarray], n_rows: int) -> np.ndarray:
    """Posteriors (n_rows, n_labels) by successive weighting: what comes into a node is shared among its children.

    `shares` gives (n_rows, n_children) for a group, rows summing to 1; a label has the sum over its leaves.
    """
    P = np.zeros((n_rows, tree.labels[-1] + 1))
    left = [(tree, np.ones(n_rows))]
    while left:
        node, weight = left.pop()
        if not node.children:
            P[:, node.labels[0]] += weight
            continue
        left += zip(node.children, shares(node).T * weight, strict=True)
    return P


def node_posteriors(tree: Branch, P: np.ndarray) -> np.ndarray:
    """(n, n_nodes): the sum over its labels for each node, in the order of `tree.walk()`."""
    return np.stack([P[:, list(node.labels)].sum(axis=1) for node in tree.walk()], axis=1)


def greedy_path(tree: Branch, P: np.ndarray) -> np.ndarray:
    """The label (n,) at the end of the path that takes the child of the largest posterior at every node."""
    labels = np.array([node.labels[0] for node in tree.walk()])
    return np.asarray(labels[deepest_nodes(tree, P, 0.0)])


def deepest_nodes(tree: Branch, P: np.ndarray, threshold: float) -> np.ndarray:
    """(n,): the last node on each row's greedy path whose posterior reaches the threshold, the root if none does.

    Nodes are numbered in the order of `tree.walk()`. Above ½ it is the deepest of all nodes that reach it.
    """
    found = np.zeros(len(P), dtype=int)
    left = [(0, tree, np.arange(len(P)))]
    while left:
        number, node, rows = left.pop()
        found[rows] = number
        if not node.children or not len(rows):
            continue
        sums = np.stack([P[np.ix_(rows, np.array(child.labels))].sum(axis=1) for child in node.children], axis=1)
        best = np.where(sums.max(axis=1) >= threshold, sums.argmax(axis=1), -1)
        first = number + 1
        for i, child in enumerate(node.children):
            left.append((first, child, rows[best == i]))
            first += sum(1 for _ in child.walk())
    return found

"""Posteriors on a tree: shared out from the root down, and followed to a label."""

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


def greedy_path(tree: Branch, P: np.ndarray) -> np.ndarray:
    """The label (n,) at the end of the path that takes the child of the largest posterior at every node."""
    labels = np.empty(len(P), dtype=int)
    left = [(tree, np.arange(len(P)))]
    while left:
        node, rows = left.pop()
        if not node.children:
            labels[rows] = node.labels[0]
            continue
        sums = np.stack([P[np.ix_(rows, np.array(c.labels))].sum(axis=1) for c in node.children], axis=1)
        best = sums.argmax(axis=1)
        left += [(child, rows[best == i]) for i, child in enumerate(node.children)]
    return labels

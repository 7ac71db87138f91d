"""Trees as arrays: any number of them side by side, walked by all rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

PAIRS_TOGETHER = 2**18  # of a row and a tree: what is walked at a time


@dataclass(frozen=True, eq=False)
class Trees:
    """Inner nodes are numbered first, leaves after them: node i sends x to children[i, x[feature_i] > threshold_i].

    `roots` is (n_trees,), `features` and `thresholds` (n_inner,), `children` (n_inner, 2), `values` (n_leaves,
    n_outputs). Features are compared in single precision, as they were when the trees grew.
    """

    roots: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    values: np.ndarray

    @classmethod
    def flatten(cls, trees: Sequence[Any], values: Sequence[np.ndarray]) -> Trees:
        """From the `tree_` of scikit-learn's trees and the values (n_nodes, n_outputs) that each gives its nodes."""
        is_leaf = [tree.children_left < 0 for tree in trees]
        n_inner = int(sum((~leaf).sum() for leaf in is_leaf))
        numbers = _numbers(is_leaf, n_inner)
        children = [
            np.stack([number[tree.children_left[~leaf]], number[tree.children_right[~leaf]]], axis=1)
            for tree, leaf, number in zip(trees, is_leaf, numbers, strict=True)
        ]
        inner = list(zip(trees, is_leaf, strict=True))
        return cls(
            np.array([number[0] for number in numbers], np.int32),
            np.concatenate([tree.feature[~leaf] for tree, leaf in inner]).astype(np.int32),
            np.concatenate([tree.threshold[~leaf] for tree, leaf in inner]),
            np.concatenate(children).astype(np.int32),
            np.concatenate([value[leaf] for value, leaf in zip(values, is_leaf, strict=True)]),
        )

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Trees:
        """Back from named arrays."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What a model saves."""
        return dict(vars(self))

    def leaves(self, X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of rows, and the leaf that each of them reaches in each tree, (n_rows, n_trees)."""
        X = np.ascontiguousarray(X, np.float32)
        n_together = max(1, PAIRS_TOGETHER // len(self.roots))
        for first in range(0, len(X), n_together):
            block = slice(first, first + n_together)
            yield block, self._walk(X[block])

    def _walk(self, X: np.ndarray) -> np.ndarray:
        """Every pair of row and tree goes one node down at a time, until all have reached a leaf."""
        n_inner, children, values = len(self.features), self.children.ravel(), X.ravel()
        at = np.tile(self.roots, len(X))
        walking = np.flatnonzero(at < n_inner)
        starts = np.repeat(np.arange(len(X)) * X.shape[1], len(self.roots))[walking]  # of the rows in `values`
        while len(walking):
            node = at[walking]
            goes_right = values[starts + self.features[node]] > self.thresholds[node]
            node = children[2 * node + goes_right]
            at[walking] = node
            goes_on = node < n_inner
            walking, starts = walking[goes_on], starts[goes_on]
        return at.reshape(len(X), len(self.roots)) - n_inner


def candidates(asked: int | None, n_features: int) -> int:
    """How many features a node tries: as many as asked for and there are, else the square root of all, rounded up."""
    return min(asked or int(np.ceil(np.sqrt(n_features))), n_features)


def _numbers(is_leaf: Sequence[np.ndarray], n_inner: int) -> list[np.ndarray]:
    """The number that each node of each tree gets: inner nodes from 0 on, leaves from `n_inner` on."""
    everything = np.concatenate(is_leaf)
    numbers = np.where(everything, n_inner + np.cumsum(everything) - 1, np.cumsum(~everything) - 1)
    return np.split(numbers, np.cumsum([len(leaf) for leaf in is_leaf])[:-1])

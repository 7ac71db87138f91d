"""Forests: trees that each see other examples and other features, their leaf frequencies averaged (14.2).

A label's score is the logarithm of its mean frequency, with one more tree that gives every label the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import DirectStrategy, Trainer
from audioclass_ensembles.bags import draw_bags
from audioclass_ensembles.labelled import (
    AllLabelsOutOfBag,
    Arrays,
    Dataset,
    DichotomiesOutOfBag,
    OfAllLabels,
    OfDichotomies,
    smoothed_log,
)
from audioclass_ensembles.trees import Trees, candidates


@dataclass(frozen=True)
class Forest:
    """What both sorts of forest are told."""

    n_trees: int = parameter(100, low=1, high=100_000, help="how many trees are averaged")
    n_candidates: int | None = parameter(None, low=1, help="features tried at a node (default: √d, rounded up)")
    max_depth: int | None = parameter(
        None, low=1, help="nodes from the root to a leaf (default: until leaves are pure)"
    )
    min_leaf: int = parameter(1, low=1, help="fewest examples in a leaf")
    bootstrap: bool = parameter(True, help="whether a tree sees groups drawn with replacement, or every example")

    def fit_labels(self, examples: Dataset) -> Arrays:
        """The trees, each on a bag of single examples."""
        return self._grow(examples, self._bags(examples, np.arange(len(examples.y)))).arrays

    def fit_labels_out_of_bag(self, examples: Dataset, groups: np.ndarray) -> tuple[Arrays, np.ndarray]:
        """Trees on bags of whole groups; where trees see every example, a second forest of bags gives the scores."""
        bagged = replace(self, bootstrap=True)
        bags = bagged._bags(examples, groups)
        trees = bagged._grow(examples, bags)
        scores = smoothed_log(mean_values(trees, examples.X, bags.T == 0), self.n_trees)
        return trees.arrays if self.bootstrap else self.fit_labels(examples), scores

    def scores_of_labels(self, arrays: Arrays, X: np.ndarray) -> np.ndarray:
        """The smoothed logarithm of the mean leaf frequencies."""
        trees = Trees.of(arrays)
        return smoothed_log(mean_values(trees, X), len(trees.roots))

    def _bags(self, examples: Dataset, groups: np.ndarray) -> np.ndarray:
        if self.bootstrap:
            return draw_bags(examples.y, groups, self.n_trees, examples.rng)
        return np.ones((self.n_trees, len(examples.y)), int)

    def _grow(self, examples: Dataset, bags: np.ndarray) -> Trees:
        X = np.ascontiguousarray(examples.X, np.float32)
        seeds = examples.rng.integers(2**31, size=len(bags))
        grown = [self._grow_one(X, examples, bag, int(seed)) for bag, seed in zip(bags, seeds, strict=True)]
        return Trees.flatten([tree.tree_ for tree in grown], [frequencies(tree, examples.n_labels) for tree in grown])

    def _grow_one(self, X: np.ndarray, examples: Dataset, bag: np.ndarray, seed: int) -> Any:
        rows = np.flatnonzero(bag)
        tree = self._tree(
            max_features=candidates(self.n_candidates, X.shape[1]),
            max_depth=self.max_depth,
            min_samples_leaf=self.min_leaf,
            random_state=seed,
        )
        return tree.fit(X[rows], examples.y[rows], sample_weight=examples.weights[rows] * bag[rows])

    def _tree(self, **settings: Any) -> Any:
        """A tree of Gini splits at the best threshold of each candidate."""
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(**settings)


@dataclass(frozen=True)
class RandomThresholds(Forest):
    """What makes a forest of extremely randomised trees."""

    bootstrap: bool = parameter(False, help="whether a tree sees groups drawn with replacement, or every example")

    def _tree(self, **settings: Any) -> Any:
        """A tree of Gini splits, each candidate at one random threshold."""
        from sklearn.tree import ExtraTreeClassifier

        return ExtraTreeClassifier(**settings)


@component
class RandomForest(DichotomiesOutOfBag, OfDichotomies, Forest):
    """Trees on bags of examples, the best split among a few random features at each node."""

    name: ClassVar[str] = "random_forest"


@component
class RandomForestOfLabels(AllLabelsOutOfBag, OfAllLabels, Forest):
    """Trees of all labels on bags of examples, the best split among a few random features at each node."""

    name: ClassVar[str] = "random_forest"


@component
class ExtraTrees(DichotomiesOutOfBag, OfDichotomies, RandomThresholds):
    """Trees whose thresholds are drawn at random too; on noisy features smoother than a random forest."""

    name: ClassVar[str] = "extra_trees"


@component
class ExtraTreesOfLabels(AllLabelsOutOfBag, OfAllLabels, RandomThresholds):
    """Trees of all labels whose thresholds are drawn at random too."""

    name: ClassVar[str] = "extra_trees"


def frequencies(tree: Any, n_labels: int) -> np.ndarray:
    """The weighted share of each label in each node, (n_nodes, n_labels); labels the tree never saw have none."""
    shares = np.zeros((tree.tree_.node_count, n_labels))
    shares[:, tree.classes_.astype(int)] = tree.tree_.value[:, 0, :]
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def mean_values(trees: Trees, X: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
    """The mean of the leaf values over all trees, (n, n_outputs); over those of `counts` (n, n_trees) where given.

    NaN where no tree counts.
    """
    means = np.zeros((len(X), trees.values.shape[1]))
    for block, leaves in trees.leaves(X):
        for tree, reached in enumerate(leaves.T):
            values = trees.values[reached]
            means[block] += values if counts is None else values * counts[block, tree, None]
    n_counted = len(trees.roots) if counts is None else counts.sum(axis=1, dtype=float)[:, None]
    return np.divide(means, n_counted, out=np.full_like(means, np.nan), where=np.asarray(n_counted) > 0)


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [RandomForest, ExtraTrees]


@hookimpl
def register_direct_strategies() -> list[type[DirectStrategy]]:
    return [RandomForestOfLabels, ExtraTreesOfLabels]

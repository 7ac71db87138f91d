"""Gradient boosting: shallow trees, each fitted to what the sum of those before it leaves of the log-loss.

Scores are the raw ones, whose softmax (of two labels: whose sigmoid) is scikit-learn's posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import DirectStrategy, Trainer
from audioclass_ensembles.labelled import Arrays, Dataset, OfAllLabels, OfDichotomies
from audioclass_ensembles.trees import Trees, candidates


@dataclass(frozen=True)
class Boosting:
    """What gradient boosting is told."""

    n_stages: int = parameter(100, low=1, high=100_000, help="how many times a tree is added, for each label")
    learning_rate: float = parameter(0.1, above=0.0, high=1.0, scale="log", search=(0.01, 1.0), help="share of a tree")
    max_depth: int = parameter(3, low=1, high=64, help="nodes from the root to a leaf")
    subsample: float = parameter(0.5, above=0.0, high=1.0, help="share of the examples that a tree sees")
    n_candidates: int | None = parameter(None, low=1, help="features tried at a node (default: √d, rounded up)")

    def fit_labels(self, examples: Dataset) -> Arrays:
        """Trees with the learning rate in their leaves, stage after stage, and the scores they start from."""
        from sklearn.ensemble import GradientBoostingClassifier

        X = np.ascontiguousarray(examples.X, np.float32)
        model = GradientBoostingClassifier(
            n_estimators=self.n_stages,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            subsample=self.subsample,
            max_features=candidates(self.n_candidates, X.shape[1]),
            random_state=int(examples.rng.integers(2**31)),
        ).fit(X, examples.y, sample_weight=examples.weights)
        return boosted_arrays(model, X)

    def scores_of_labels(self, arrays: Arrays, X: np.ndarray) -> np.ndarray:
        """Raw scores; of two labels the first has 0 and the second the log-odds."""
        raw = raw_scores(arrays, X)
        return np.hstack([np.zeros_like(raw), raw]) if raw.shape[1] == 1 else raw


@component
class GradientBoosting(OfDichotomies, Boosting):
    """Shallow trees added one by one, each a step down the log-loss; scores are log-odds."""

    name: ClassVar[str] = "gradient_boosting"


@component
class GradientBoostingOfLabels(OfAllLabels, Boosting):
    """Shallow trees added one by one for each label, each a step down the log-loss."""

    name: ClassVar[str] = "gradient_boosting"


def boosted_arrays(model: Any, X: np.ndarray) -> Arrays:
    """A fitted model of scikit-learn as arrays; X is any row or more, to read the starting scores from."""
    grown = [tree for stage in model.estimators_ for tree in stage]
    trees = Trees.flatten(
        [tree.tree_ for tree in grown], [model.learning_rate * tree.tree_.value[:, 0, :] for tree in grown]
    )
    n_outputs = model.estimators_.shape[1]
    added = raw_scores({**trees.arrays, "start": np.zeros(n_outputs)}, X[:1])
    return {**trees.arrays, "start": (model.decision_function(X[:1]).reshape(1, -1) - added)[0]}


def raw_scores(arrays: Arrays, X: np.ndarray) -> np.ndarray:
    """The start and the trees of each output added up, (n, n_outputs)."""
    trees, start = Trees.of(arrays), arrays["start"]
    scores = np.empty((len(X), len(start)))
    for block, leaves in trees.leaves(X):
        steps = trees.values[:, 0][leaves].reshape(len(leaves), -1, len(start))
        scores[block] = start + steps.sum(axis=1)
    return scores


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [GradientBoosting]


@hookimpl
def register_direct_strategies() -> list[type[DirectStrategy]]:
    return [GradientBoostingOfLabels]

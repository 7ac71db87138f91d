"""SAMME: AdaBoost for all labels at once, with small trees (specification 14.3).

The score of a label is the sum of α_t over the trees that say it. A stump can name two labels only, which leaves many
labels to chance for a long time; trees of depth 3 name up to eight.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import DirectStrategy
from audioclass_ensembles.forests import frequencies, mean_values
from audioclass_ensembles.labelled import Arrays, Dataset, OfAllLabels
from audioclass_ensembles.rounds import TINY, Round, boost
from audioclass_ensembles.trees import Trees, candidates


@component
class Samme(OfAllLabels):
    """AdaBoost for all labels: small trees that each attend to what those before them got wrong."""

    name: ClassVar[str] = "adaboost"

    n_rounds: int = parameter(100, low=1, high=100_000, help="how many trees at most")
    max_depth: int = parameter(3, low=1, high=64, help="nodes from the root to a leaf; 1 is a stump")
    n_candidates: int | None = parameter(None, low=1, help="features tried at a node (default: √d, rounded up)")

    def fit_labels(self, examples: Dataset) -> Arrays:
        """The trees, each leaf with the weight of its vote for each label."""
        rounds = boost_trees(examples, self.n_rounds, self.max_depth, self.n_candidates)
        if not rounds:
            warnings.warn("adaboost: no tree is better than chance, every score is the majority's", stacklevel=3)
            return _majority(examples).arrays
        votes = [_votes(each, examples.n_labels) for each in rounds]
        return Trees.flatten([each.member.tree_ for each in rounds], votes).arrays

    def scores_of_labels(self, arrays: Arrays, X: np.ndarray) -> np.ndarray:
        """The sum of the votes for each label."""
        trees = Trees.of(arrays)
        return mean_values(trees, X) * len(trees.roots)


def boost_trees(examples: Dataset, n_rounds: int, max_depth: int, n_candidates: int | None = None) -> list[Round[Any]]:
    """The rounds of all labels; a tree says the heaviest label of the leaf, the first of equal ones."""
    from sklearn.tree import DecisionTreeClassifier

    X = np.ascontiguousarray(examples.X, np.float32)
    wanted = candidates(n_candidates, X.shape[1])

    def fit(w: np.ndarray) -> tuple[Any, np.ndarray]:
        seed = int(examples.rng.integers(2**31))
        tree = DecisionTreeClassifier(max_depth=max_depth, max_features=wanted, random_state=seed)
        tree.fit(X, examples.y, sample_weight=w)
        return tree, tree.predict(X)

    return list(boost(examples.y, examples.weights, examples.n_labels, n_rounds, fit))


def _votes(each: Round[Any], n_labels: int) -> np.ndarray:
    """What each node gives each label: α to the heaviest, nothing to the others."""
    return np.asarray(each.alpha * np.eye(n_labels)[frequencies(each.member, n_labels).argmax(axis=1)])


def _majority(examples: Dataset) -> Trees:
    """One leaf, barely for the label of most examples."""
    counts = np.bincount(examples.y, minlength=examples.n_labels)
    value = TINY * np.eye(examples.n_labels)[[counts.argmax()]]
    none = np.empty(0, np.int32)
    return Trees(np.zeros(1, np.int32), none, np.empty(0), none.reshape(0, 2), value)


@hookimpl
def register_direct_strategies() -> list[type[DirectStrategy]]:
    return [Samme]

"""The k nearest neighbours: the labels of the examples that lie nearest to a new one.

A label's score is the logarithm of its share of the neighbours, with one more who gives every label the same. What
would be said without a group is known exactly: its examples are no neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import DirectStrategy, Trainer
from audioclass_ensembles.labelled import (
    AllLabelsOutOfBag,
    Arrays,
    Dataset,
    DichotomiesOutOfBag,
    OfAllLabels,
    OfDichotomies,
    smoothed_log,
)

PAIRS_TOGETHER = 2**22  # of a new row and an example: distances that are held at a time


@dataclass(frozen=True)
class Neighbours:
    """What the nearest neighbours are told."""

    k: int = parameter(5, low=1, help="how many neighbours are asked")
    votes: str = parameter("equal", choices=("equal", "inverse_distance"), help="what a neighbour's vote weighs")

    def fit_labels(self, examples: Dataset) -> Arrays:
        """The examples themselves, and what the vote of each weighs for each label."""
        ballots = np.eye(examples.n_labels)[examples.y] * examples.weights[:, None]
        return {"examples": np.asarray(examples.X), "ballots": ballots}

    def fit_labels_out_of_bag(self, examples: Dataset, groups: np.ndarray) -> tuple[Arrays, np.ndarray]:
        """The examples, and what the other groups say of each."""
        arrays = self.fit_labels(examples)
        return arrays, self._log_shares(arrays, examples.X, np.unique(groups, return_inverse=True)[1])

    def scores_of_labels(self, arrays: Arrays, X: np.ndarray) -> np.ndarray:
        """The smoothed logarithm of each label's share of the votes."""
        return self._log_shares(arrays, X)

    def _log_shares(self, arrays: Arrays, X: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
        """With the groups of the rows, which are then the examples, only others are asked; NaN where there are none."""
        known, ballots = np.asarray(arrays["examples"], np.float64), arrays["ballots"]
        X = np.asarray(X, np.float64)
        shares = np.empty((len(X), ballots.shape[1]))
        for block in _blocks(len(X), len(known)):
            strangers = None if groups is None else groups[block, None] == groups
            nearest, squared = nearest_of(X[block], known, self.k, strangers)
            votes = (ballots[nearest] * self._weights(squared)[:, :, None]).sum(axis=1)
            total = votes.sum(axis=1, keepdims=True)
            shares[block] = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 0)
        return smoothed_log(shares, min(self.k, len(known)))

    def _weights(self, squared: np.ndarray) -> np.ndarray:
        """What each neighbour's vote weighs; at distance 0 nobody else counts, at infinity none does."""
        if self.votes == "equal":
            return np.asarray(np.isfinite(squared).astype(float))
        same = squared == 0
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(same.any(axis=1, keepdims=True), same, 1 / np.sqrt(squared)))


@component
class NearestNeighbours(DichotomiesOutOfBag, OfDichotomies, Neighbours):
    """Votes of the k examples that lie nearest; nothing is fitted, and the model holds every example."""

    name: ClassVar[str] = "nearest_neighbours"


@component
class NearestNeighboursOfLabels(AllLabelsOutOfBag, OfAllLabels, Neighbours):
    """Votes of the k examples of any label that lie nearest; the model holds every example."""

    name: ClassVar[str] = "nearest_neighbours"


def nearest_of(
    X: np.ndarray, known: np.ndarray, k: int, strangers: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest known rows of each row and their squared distances, (n, k); infinite for strangers."""
    squared = (known**2).sum(axis=1) - 2 * X @ known.T  # less a constant of each row
    if strangers is not None:
        squared[strangers] = np.inf
    k = min(k, len(known))
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    # Told by differences, equal rows are at distance 0 to the bit.
    exact = np.stack([((X - known[column]) ** 2).sum(axis=1) for column in nearest.T], axis=1)
    return nearest, np.where(np.isfinite(np.take_along_axis(squared, nearest, axis=1)), exact, np.inf)


def _blocks(n_rows: int, n_known: int) -> Iterator[slice]:
    n_together = max(1, PAIRS_TOGETHER // n_known)
    return (slice(first, first + n_together) for first in range(0, n_rows, n_together))


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [NearestNeighbours]


@hookimpl
def register_direct_strategies() -> list[type[DirectStrategy]]:
    return [NearestNeighboursOfLabels]

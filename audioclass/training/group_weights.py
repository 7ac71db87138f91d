"""Weights of groups of features by greedy search, kept only where they prove better on sources that it never saw.

Squared distances of every group of features are computed once on a sample of rows; a candidate is their weighted sum,
and one factorisation gives the held-out log-loss of all labels. Weights are chosen on two thirds of the sources, three
times on four fifths of these, and averaged: what a single search likes is mostly optimism. The average is judged on
the third that it did not see, for each third, and the mean of all nine, or half of it, replaces the given weights only
where the log-loss there is lower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audioclass.classifier.preprocessing import Preprocessing
from audioclass.errors import UsageError
from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.numerics import log_losses, softmax
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import spread_rows
from audioclass.training.folds import grouped_folds
from audioclass.training.label_machines import LabelMachines
from audioclass.training.normalising import NormalisationChoice, choose_normalisation

ROWS = 600  # most that are looked at
STEPS = (3.0, 1 / 3, 0.0)
SWEEPS = 2  # over all groups, each time in another order
GAIN = 1e-3  # relative, for which a step is taken
PARTS = 3  # of the sources: a search sees all but one
LEAST_SOURCES = 20  # with fewer, such as a handful of speakers, weights are chosen for these alone
REPEATS = 3  # searches on what is seen, whose mean is judged
LEFT_OUT = 5  # one of so many parts of what is seen is left out of each
SHARES = (0.5, 1.0)  # of the chosen weights, the rest being of the given ones
GAMMAS = (0.25, 0.5, 1.0, 2.0)  # of exp(−γ · distance), whose mean is 1
RIDGES = (0.005, 0.02, 0.1)


@dataclass(frozen=True)
class GroupWeights:
    """The weight of each group of features, of sum 1, and the log-losses on unseen sources that decided.

    `given` is that of the weights from which the search started, `chosen` that of what it found. Where
    `are_chosen` is false the weights are the given ones.
    """

    weights: Mapping[str, float]
    are_chosen: bool
    given: float | None = None
    chosen: float | None = None

    def to_plain(self) -> dict[str, Any]:
        """As a model keeps it; log-losses are left out where nothing was searched."""
        losses = {"log_loss_given": self.given, "log_loss_chosen": self.chosen}
        known = {name: loss for name, loss in losses.items() if loss is not None}
        return {"weights": dict(self.weights), "are_chosen": self.are_chosen, **known}


@dataclass(frozen=True, eq=False)
class FittedPreprocessing:
    """The preprocessing of training rows, how its normalisation was chosen, and weights of groups where any were."""

    preprocessing: Preprocessing
    normalisation: NormalisationChoice
    group_weights: GroupWeights | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """What was chosen on held-out groups, for the user."""
        return (str(self.normalisation),) if self.normalisation.losses else ()


def fit_preprocessing(
    X: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    config: TrainingConfig,
    *,
    sample_weights: np.ndarray,
    feature_groups: Sequence[str] | None,
    given: Mapping[str, float] | None = None,
    ranks: Preprocessing | None = None,
    seed: int = 0,
) -> FittedPreprocessing:
    """The preprocessing of training rows with labels `y`, and the weights of groups where the configuration asks.

    `groups` are the sources of rows, each its own where there are none; `given` are weights of the groups of features,
    equal where there are none. `ranks` are those of the rows where they are at hand. Axes come last: they are those of
    features as they are weighed.
    """
    if config.axes >= X.shape[1]:
        raise UsageError(f"axes={config.axes} has no effect: there are {X.shape[1]} features")
    sources = np.arange(len(y)) if groups is None else groups
    normalisation, preprocessing = choose_normalisation(
        X, y, sources, config, sample_weights=sample_weights, feature_groups=feature_groups, given=given, ranks=ranks
    )
    weights = None
    if config.group_weights != "equal" and feature_groups is not None:
        given = given or dict.fromkeys(feature_groups, 1.0)
        weights = choose_group_weights(
            preprocessing,
            X,
            feature_groups,
            y,
            sources,
            sample_weights=sample_weights,
            given=given,
            seed=seed,
        )
        if weights.are_chosen:
            preprocessing = _reweighed(preprocessing, feature_groups, given, weights)
    elif config.group_weights != "equal" and "group_weights" in config.chosen:
        raise UsageError(f"group_weights={config.group_weights} has no effect: the features are not in groups")
    return FittedPreprocessing(preprocessing.along_axes(X, config.axes), normalisation, weights)


def _reweighed(
    preprocessing: Preprocessing, feature_groups: Sequence[str], given: Mapping[str, float], chosen: GroupWeights
) -> Preprocessing:
    """The same with the chosen weights in the place of the given ones."""
    total = sum(given[name] for name in dict.fromkeys(feature_groups))
    ratios = {name: weight * total / given[name] if given[name] > 0 else 0.0 for name, weight in chosen.weights.items()}
    return replace(preprocessing, factors=preprocessing.factors * np.sqrt([ratios[name] for name in feature_groups]))


def choose_group_weights(
    preprocessing: Preprocessing,
    X: np.ndarray,
    feature_groups: Sequence[str],
    y: np.ndarray,
    groups: np.ndarray,
    *,
    sample_weights: np.ndarray,
    given: Mapping[str, float],
    seed: int = 0,
) -> GroupWeights:
    """Weights for the features of raw rows `X` with labels `y`; `groups` are the sources that rows come from.

    `preprocessing` has the `given` weights, of which those that are 0 stay so. All stay where there are too few sources
    or groups of features to choose.
    """
    names = list(dict.fromkeys(feature_groups))
    start = np.array([float(given[name]) for name in names])
    start /= start.sum()
    as_given = GroupWeights(dict(zip(names, start.tolist(), strict=True)), are_chosen=False)
    rows = spread_rows(y, ROWS)
    if np.count_nonzero(start) < 2 or len(np.unique(groups[rows])) < LEAST_SOURCES:
        return as_given
    prepared = preprocessing.apply(X[rows])
    sample = _Sample(
        _distances(prepared, np.asarray(feature_groups), names, start), y[rows], groups[rows], sample_weights[rows]
    )
    shape = min(((gamma, ridge) for gamma in GAMMAS for ridge in RIDGES), key=lambda at: sample.loss(start, *at))
    weights, losses = _search(sample, start, shape, np.random.default_rng(seed))
    share, is_better = _judged(losses, sample)
    if not is_better:
        return GroupWeights(as_given.weights, False, *_means(losses, sample, share))
    mixed = share * weights + (1 - share) * start
    return GroupWeights(dict(zip(names, mixed.tolist(), strict=True)), True, *_means(losses, sample, share))


def _distances(X: np.ndarray, feature_groups: np.ndarray, names: Sequence[str], start: np.ndarray) -> np.ndarray:
    """(n_groups, n, n), float32: squared distances within each group of features, on average 1."""
    parts = []
    for name, share in zip(names, start, strict=True):
        D = pairwise(squared_distance, X[:, feature_groups == name])
        parts.append((D / share if share > 0 else D).astype(np.float32))
    return np.stack(parts)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Rows of a sample: distances by group of features, labels, sources and weights."""

    distances: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    weights: np.ndarray

    @property
    def n_labels(self) -> int:
        return int(self.y.max()) + 1

    def take(self, rows: np.ndarray) -> _Sample:
        return _Sample(self.between(rows, rows), self.y[rows], self.groups[rows], self.weights[rows])

    def some(self, rng: np.random.Generator) -> _Sample:
        """Four of five sources of every label, by chance: searches that see different rows differ in their errors."""
        return self.take(np.flatnonzero(grouped_folds(self.y, self.groups, LEFT_OUT, rng) > 0))

    def between(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(n_groups, n_rows, n_columns), each group of features in one piece of memory."""
        return np.stack([D[np.ix_(rows, columns)] for D in self.distances])

    def summed(self, shares: np.ndarray) -> np.ndarray:
        """(n, n): the distances of groups of features times their shares."""
        return _summed(self.distances, shares)

    def machines(self, shares: np.ndarray, gamma: float, ridge: float, n_labels: int = 0) -> LabelMachines:
        return self._machines(self.summed(shares), shares.sum(), gamma, ridge, n_labels)

    def loss(self, shares: np.ndarray, gamma: float, ridge: float) -> float:
        """The mean log-loss of rows whose sources are held out."""
        return self.loss_of(self.summed(shares), shares.sum(), gamma, ridge)

    def loss_of(self, summed: np.ndarray, total: float, gamma: float, ridge: float) -> float:
        """The same from summed distances and the sum of their shares."""
        losses = self._machines(summed, total, gamma, ridge).held_out_losses(self.groups)
        return float(np.average(losses, weights=self.weights))

    def _machines(
        self, summed: np.ndarray, total: float, gamma: float, ridge: float, n_labels: int = 0
    ) -> LabelMachines:
        K = np.exp(summed * np.float32(-gamma / total), dtype=np.float64)
        return LabelMachines(K, self.y, n_labels or self.n_labels, ridge, self.weights)


def _summed(distances: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Group by group, so that the sum does not depend on how memory is cut."""
    summed = np.zeros(distances.shape[1:], np.float32)
    for D, share in zip(distances, shares.astype(np.float32), strict=True):
        if share:
            summed += share * D
    return summed


def _search(
    sample: _Sample, start: np.ndarray, shape: tuple[float, float], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the weights that searches on parts of the sources end in, and the losses on the other parts.

    The losses are (1 + n_shares, n): of the given weights, and of each share of the mean of the searches that did not
    see a row.
    """
    n_labels = sample.n_labels
    losses = np.zeros((1 + len(SHARES), len(sample.y)))
    weights = []
    parts = grouped_folds(sample.y, sample.groups, PARTS, rng)
    for part in range(PARTS):
        seen, unseen = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        inside, between = sample.take(seen), sample.between(unseen, seen)
        searched = np.mean([_descend(inside.some(rng), start, shape, rng) for _ in range(REPEATS)], axis=0)
        weights.append(searched)
        for row, share in enumerate((0.0, *SHARES)):
            mixed = share * searched + (1 - share) * start
            machines = inside.machines(mixed, *shape, n_labels=n_labels)
            T = machines.temperature(machines.held_out(inside.groups))
            K = np.exp(-shape[0] * _summed(between, mixed).astype(np.float64))
            losses[row, unseen] = log_losses(softmax(machines.scores(K), T), sample.y[unseen])
    return np.mean(weights, axis=0), losses


def _descend(sample: _Sample, start: np.ndarray, shape: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    """Weights of sum 1: each group of features in turn takes the best of the steps that gains enough."""
    weights, best = start.copy(), sample.loss(start, *shape)
    summed = sample.summed(weights)
    for _ in range(SWEEPS):
        has_moved = False
        for group in rng.permutation(np.flatnonzero(start)):
            candidates = [moved for step in STEPS if (moved := _stepped(weights, group, step)) is not None]
            losses = []
            for moved in candidates:  # of one group alone: the sum over the others is at hand
                change = np.float32(moved[group] - weights[group]) * sample.distances[group]
                losses.append(sample.loss_of(np.maximum(summed + change, 0), moved.sum(), *shape))
            lowest = int(np.argmin(losses)) if losses else 0
            if losses and losses[lowest] < best * (1 - GAIN):
                weights, best, has_moved = candidates[lowest], losses[lowest], True
                summed = sample.summed(weights)
        if not has_moved:
            break
    return np.asarray(weights / weights.sum())


def _stepped(weights: np.ndarray, group: int, step: float) -> np.ndarray | None:
    """The weights after a step of one of them; one of 0 can only come back. None where nothing changes or is left."""
    moved = weights.copy()
    if weights[group] == 0:
        moved[group] = weights[weights > 0].mean() if step > 1 else 0.0
    else:
        moved[group] *= step
    return moved if moved.any() and moved[group] != weights[group] else None


def _judged(losses: np.ndarray, sample: _Sample) -> tuple[float, bool]:
    """The share with the lowest loss on unseen sources, and whether that is lower than with the given weights.

    What is judged are means of a few searches; that of all, which is kept, does better.
    """
    means = np.average(losses, axis=1, weights=sample.weights)
    best = 1 + int(np.argmin(means[1:]))
    return SHARES[best - 1], bool(means[best] < means[0])


def _means(losses: np.ndarray, sample: _Sample, share: float) -> tuple[float, float]:
    """Of the given weights, and of the share of the searched ones."""
    means = np.average(losses, axis=1, weights=sample.weights)
    return float(means[0]), float(means[1 + SHARES.index(share)])

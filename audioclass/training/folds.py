"""Folds for held-out scores: groups stay together, sides are spread evenly, the smaller side sets how many."""

from __future__ import annotations

import numpy as np

N_FOLDS = 5


def fold_count(y: np.ndarray, groups: np.ndarray, n_folds: int = N_FOLDS) -> int:
    """How many folds a dichotomy allows: at most as many as its smaller side has groups; 1 is none."""
    return min(n_folds, *(len(np.unique(groups[y == side])) for side in np.unique(y)))


def grouped_folds(
    y: np.ndarray, groups: np.ndarray, n_folds: int, rng: np.random.Generator | None = None
) -> np.ndarray:
    """The fold of each example, (n,): examples of one group share it, and every fold has its part of each side.

    The sides are two or many labels. Groups are dealt out from the largest to the smallest, each to the fold where it
    evens the sides most; ties go to the first, so the same examples always get the same folds. With `rng`, groups of
    the same size come in the order that it draws.
    """
    sides, side_of = np.unique(y, return_inverse=True)
    names, group_of = np.unique(groups, return_inverse=True)
    counts = np.zeros((len(names), len(sides)))
    np.add.at(counts, (group_of, side_of), 1)
    shares = counts / counts.sum(axis=0)
    filled = np.zeros((n_folds, len(sides)))
    fold_of = np.empty(len(names), int)
    drawn = np.arange(len(names)) if rng is None else rng.permutation(len(names))
    for group in drawn[np.argsort(-counts[drawn].sum(axis=1), kind="stable")]:
        fold_of[group] = np.argmin(filled @ shares[group])  # adds least to the sum of squares
        filled[fold_of[group]] += shares[group]
    return fold_of[group_of]


def calibration_folds(y: np.ndarray, groups: np.ndarray, n_folds: int = N_FOLDS) -> np.ndarray | None:
    """The fold of each example for what is fitted on posteriors of all labels; None where there is a single group.

    A fold may hold all groups of a label: the others tell enough of how far posteriors can be trusted.
    """
    count = min(n_folds, len(np.unique(groups)))
    return grouped_folds(y, groups, count) if count > 1 else None


def held_out_folds(y: np.ndarray, groups: np.ndarray, n_folds: int) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """The fold of each example and the folds that can be held out; None where a side has a single group."""
    count = fold_count(y, groups, n_folds)
    if count < 2:
        return None
    folds = grouped_folds(y, groups, count)
    trainable = tuple(trainable_folds(y, folds))
    return (folds, trainable) if trainable else None


def trainable_folds(y: np.ndarray, folds: np.ndarray) -> list[int]:
    """Folds that leave both sides to train on; the others cannot be held out."""
    return [int(fold) for fold in np.unique(folds) if len(np.unique(y[folds != fold])) == len(np.unique(y))]

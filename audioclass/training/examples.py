"""What machines are trained on and with: the examples with their statistics, and the components of every dichotomy."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from audioclass.contracts import HasSpan, HoldsOutGroups, HoldsOutOfBag
from audioclass.training.folds import N_FOLDS
from audioclass.training.statistics import PairwiseStatistics

SMALL_GROUPS = 2  # examples to a group, on average, up to which the span is near the truth
MANY = 6000  # rows of one factorisation, whose cost is their cube; beyond the same cost in all, landmarks take over
HeldOut = Literal["auto", "folds", "span"]
Way = Literal["closed form", "out of bag", "span", "folds"]


@dataclass(frozen=True)
class FitOptions:
    """What every dichotomy is trained with, and where its held-out scores come from.

    `auto` takes closed form where the trainer knows it, what bags left out where it draws them, the span of the machine
    where it has one and groups are small, else `n_folds` folds. Measured with one-vs-one machines: on the clips of
    ESC-10 (1.6 to a group) the span takes 0.4 of the time of five folds at a log-loss of 0.384 against 0.369; on
    windows of them (60 to a group) leaving a group out changes too much for it, 1.00 against 0.88.
    `large` takes over where the factorisations of a plan would cost more in all than one of `many` rows, or where a
    Gram matrix would not fit the budget.
    """

    trainer: Any
    calibrator: Any
    held_out: HeldOut = "auto"
    n_folds: int = N_FOLDS
    seed: int = 0
    large: Any = None
    many: int = MANY

    def fitting(self, n_rows: int, statistics: PairwiseStatistics, n_sets: int = 1) -> FitOptions:
        """The components for a dichotomy of so many rows, one of `n_sets` that are factorised by themselves."""
        is_small = n_sets * n_rows**3 <= self.many**3 and statistics.fits(n_rows)
        if self.large is None or self.trainer.wants != "gram" or is_small:
            return self
        return replace(self, trainer=self.large, held_out="folds" if self.held_out == "span" else self.held_out)

    def way(self, groups: np.ndarray) -> Way:
        """How the scores of held-out groups are had, for rows of these groups."""
        if self.held_out != "auto":
            return self.held_out
        if isinstance(self.trainer, HoldsOutGroups):
            return "closed form" if len(np.unique(groups)) > 1 else "folds"
        if isinstance(self.trainer, HoldsOutOfBag):
            return "out of bag"
        are_small = len(groups) <= SMALL_GROUPS * len(np.unique(groups))
        return "span" if isinstance(self.trainer, HasSpan) and are_small else "folds"


@dataclass(frozen=True, eq=False)
class Examples:
    """Training rows with their pairwise statistics, the label index `y`, weight and group of each."""

    statistics: PairwiseStatistics
    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, groups: np.ndarray | None = None
    ) -> Examples:
        """Weights default to one, groups to each example by itself."""
        n = len(y)
        if len(X) != n:
            raise ValueError(f"X has {len(X)} rows for {n} labels")
        own = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
        return cls(PairwiseStatistics(X), np.asarray(y), np.ones(n) if weights is None else np.asarray(weights), own)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the examples: what was computed from the same ones is the same."""
        arrays = (self.statistics.X, self.y, self.weights, self.groups)
        digest = hashlib.sha256()
        for array in map(np.ascontiguousarray, arrays):
            digest.update(f"{array.dtype.str} {array.shape}".encode())
            digest.update(array.data)
        return digest.hexdigest()


def spread_rows(y: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows in all, evenly spaced within each label; every label keeps one at least."""
    if len(y) <= most:
        return np.arange(len(y))
    labels = np.unique(y)
    each = max(1, most // len(labels))
    parts = [_thinned(np.flatnonzero(y == label), each) for label in labels]
    return np.sort(np.concatenate(parts))


def _thinned(rows: Sequence[int] | np.ndarray, most: int) -> np.ndarray:
    rows = np.asarray(rows)
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(int)]

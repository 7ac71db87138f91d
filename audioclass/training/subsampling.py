"""Which rows a choice looks at: dichotomies of the same labels together, many rows thinned, statistics shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.contracts import Kernel
from audioclass.kernels.statistics import statistic_of
from audioclass.problems import Dichotomy
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.objective import Problem

SHARED_ROWS = 4000  # rows up to which one statistic is kept for all dichotomies

Numbered = list[tuple[int, Dichotomy]]


def shared(dichotomies: Sequence[Dichotomy], together: bool) -> list[Numbered]:
    """Dichotomies of the same labels in one list, or each in its own; with their numbers."""
    found: dict[Any, Numbered] = {}
    for index, dichotomy in enumerate(dichotomies):
        labels = frozenset(dichotomy.positive + dichotomy.negative)
        found.setdefault(labels if together else index, []).append((index, dichotomy))
    return list(found.values())


@dataclass(frozen=True, eq=False)
class Subsample:
    """The rows that are looked at, their sides in ±1 for each dichotomy, and the numbers of those."""

    rows: np.ndarray
    Y: np.ndarray
    indices: list[int]

    @classmethod
    def at(cls, own: Numbered, examples: Examples, most: int) -> Subsample:
        """At most so many rows, spread evenly over the labels, or over the sides of a dichotomy that stands alone."""
        first = own[0][1]
        rows = np.flatnonzero(np.isin(examples.y, first.positive + first.negative))
        labels = examples.y[rows]
        rows = rows[spread_rows(labels if len(own) > 1 else np.isin(labels, first.positive), most)]
        sides = [np.where(np.isin(examples.y[rows], dichotomy.positive), 1, -1) for _, dichotomy in own]
        return cls(rows, np.stack(sides, axis=1), [index for index, _ in own])

    def problem(self, examples: Examples, n_folds: int) -> Problem:
        """What is judged: the features of the rows, with weights and groups."""
        X = np.asarray(examples.statistics.X[self.rows], np.float64)
        return Problem(X, self.Y, examples.weights[self.rows], examples.groups[self.rows], n_folds)


class SharedStatistics:
    """The statistics of the kernels over all rows that are looked at, computed once where they are few enough."""

    def __init__(self, examples: Examples, looked_at: Sequence[np.ndarray], kernels: Sequence[Kernel]) -> None:
        self._rows = np.unique(np.concatenate([*looked_at, np.empty(0, int)])).astype(int)
        self._kept: dict[Any, np.ndarray] = {}
        if len(looked_at) > 1 and len(self._rows) <= SHARED_ROWS:
            X = np.asarray(examples.statistics.X[self._rows], np.float64)
            self._kept = {s: s(X, X) for s in map(statistic_of, kernels) if s is not None}

    def of(self, rows: np.ndarray) -> dict[Any, np.ndarray]:
        """Those among some of the rows, by statistic."""
        at = np.searchsorted(self._rows, rows)
        return {statistic: S[np.ix_(at, at)] for statistic, S in self._kept.items()}

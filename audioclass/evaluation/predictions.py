"""What a system predicted for labelled examples: checked once at the door, then measured in peace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.data import SUM_TOLERANCE, Segment, frozen_array

Pool = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Row i: the reference `y[i]`, posteriors `P[i]` over `labels`, the index decided for, a weight and a group.

    `files` and `segments` say where an example lies; they are empty where nobody needs to find it again.
    """

    labels: tuple[str, ...]
    y: np.ndarray
    P: np.ndarray
    estimated: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    files: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()

    def __post_init__(self) -> None:
        _check_posteriors(self.P, self.labels)
        for name in ("y", "estimated"):
            _check_indices(name, getattr(self, name), self.P)
        _check_weights(self.weights, len(self.P))
        for name in ("groups", "files", "segments"):
            _check_length(name, getattr(self, name), len(self.P), optional=name != "groups")
        for name, ndim in (("y", 1), ("P", 2), ("estimated", 1), ("weights", 1), ("groups", 1)):
            object.__setattr__(self, name, frozen_array(getattr(self, name), ndim, name))

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        y: Any,
        P: Any,
        groups: Any = None,
        *,
        files: Sequence[str] = (),
        segments: Sequence[Segment] = (),
        weights: Any = None,
        decisions: Any = None,
    ) -> Predictions:
        """With what is not given filled in: the most probable label, weight 1, files as groups or each its own."""
        P = np.asarray(P, float)
        _check_posteriors(P, labels)
        names = groups if groups is not None else files if len(files) else np.arange(len(P))
        return cls(
            tuple(labels),
            np.asarray(y),
            P,
            P.argmax(axis=1) if decisions is None else np.asarray(decisions),
            np.ones(len(P)) if weights is None else np.asarray(weights, float),
            np.asarray(names),
            tuple(map(str, files)),
            tuple(segments),
        )

    def __len__(self) -> int:
        return len(self.P)

    @property
    def is_right(self) -> np.ndarray:
        """Whether the decision is the reference, for each example."""
        return np.asarray(self.estimated == self.y)

    def take(self, rows: np.ndarray) -> Predictions:
        """The predictions of some examples, in the order of `rows`."""
        rows = np.arange(len(self))[rows]
        columns = (getattr(self, name)[rows] for name in ("y", "P", "estimated", "weights", "groups"))
        places = (tuple(given[row] for row in rows) if given else () for given in (self.files, self.segments))
        return Predictions(self.labels, *columns, *places)

    def recordings(self) -> list[np.ndarray]:
        """The rows of each recording, in order of first appearance; apart where a file holds several labels."""
        if not self.files:
            raise ValueError("predictions without files cannot be gathered by recording")
        places = np.unique(self.files, return_inverse=True)[1] * len(self.labels) + self.y
        _, first, part = np.unique(places, return_index=True, return_inverse=True)
        together = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])
        return [together[one] for one in np.argsort(first)]

    def per_recording(self, pool: Pool | None = None) -> Predictions:
        """One prediction for each recording, its posteriors pooled from those of its windows (by default their mean).

        A recording that holds several labels counts once for each, over the windows of that label. Where decisions are
        not the most probable label they are put to the vote, a tie going to the more probable. A recording weighs what
        its windows weigh on average, and belongs to the group of its first.
        """
        parts = self.recordings()
        pooled = np.array([(pool or mean_posteriors)(self.P[rows], self.weights[rows]) for rows in parts])
        return Predictions(
            self.labels,
            np.array([self.y[rows[0]] for rows in parts]),
            pooled,
            self._voted(parts, pooled),
            np.array([self.weights[rows].mean() for rows in parts]),
            np.array([self.groups[rows[0]] for rows in parts]),
            tuple(self.files[rows[0]] for rows in parts),
            tuple(_span([self.segments[row] for row in rows]) for rows in parts) if self.segments else (),
        )

    def _voted(self, parts: list[np.ndarray], pooled: np.ndarray) -> np.ndarray:
        if np.array_equal(self.estimated, self.P.argmax(axis=1)):
            return np.asarray(pooled.argmax(axis=1))
        votes = [np.bincount(self.estimated[rows], self.weights[rows], len(self.labels)) for rows in parts]
        return np.array([np.lexsort((-p, -vote))[0] for vote, p in zip(votes, pooled, strict=True)])


def mean_posteriors(P: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted mean of rows of posteriors; plain where all weights are 0."""
    return np.average(P, axis=0, weights=weights if weights.any() else None)


def _span(segments: list[Segment]) -> Segment:
    return Segment(min(one.start for one in segments), max(one.end for one in segments), segments[0].label)


def _check_posteriors(P: np.ndarray, labels: Sequence[str]) -> None:
    if P.ndim != 2 or P.shape[1] != len(labels):
        raise ValueError(
            f"P has shape {P.shape}, must have a row for each example and {len(labels)} columns, the labels"
        )
    if len(P) == 0 or not labels:
        raise ValueError("there is nothing to evaluate: at least one example and one label are needed")
    if len(set(labels)) != len(labels):
        raise ValueError(f"a label stands twice in {', '.join(labels)}")
    with np.errstate(invalid="ignore"):
        sums = P.sum(axis=1)
    wrong = ~((P >= 0).all(axis=1) & (np.abs(sums - 1) <= SUM_TOLERANCE))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"row {row} of P must be at least 0 and sum to 1, it sums to {sums[row]:.6g}")


def _check_indices(name: str, indices: np.ndarray, P: np.ndarray) -> None:
    if indices.shape != (len(P),) or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(f"{name} must hold one index of a label for each of {len(P)} examples")
    wrong = (indices < 0) | (indices >= P.shape[1])
    if wrong.any():
        raise ValueError(f"{name} holds {indices[wrong][0]}, must hold indices from 0 to {P.shape[1] - 1}")


def _check_weights(weights: np.ndarray, n: int) -> None:
    _check_length("weights", weights, n)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise ValueError("weights must be finite, at least 0, and not all 0")


def _check_length(name: str, given: Sequence[Any] | np.ndarray, n: int, *, optional: bool = False) -> None:
    if len(given) != n and not (optional and len(given) == 0):
        raise ValueError(f"{len(given)} {name} for {n} examples")

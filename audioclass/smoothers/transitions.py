"""Transitions between the labels of successive windows: from a mean duration, given, or counted in a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

SUM_TOLERANCE = 1e-6


def transitions_of_duration(n_labels: int, duration: float, minimum: int) -> np.ndarray:
    """Row i: where a segment of label i that has its minimum length goes next; it stays so that segments last
    `duration` windows on average, and all other labels are alike.
    """
    leave = 1 / (duration - minimum + 1) if n_labels > 1 else 0.0
    A = np.full((n_labels, n_labels), leave / max(n_labels - 1, 1))
    np.fill_diagonal(A, 1 - leave)
    return A


def given_transitions(values: Sequence[float], n_labels: int) -> np.ndarray:
    """The matrix of values that were given row by row, each row summing to 1."""
    if len(values) != n_labels**2:
        raise ValueError(f"hmm: {len(values)} transitions, {n_labels} labels have {n_labels**2}")
    A = np.reshape(np.asarray(values, dtype=np.float64), (n_labels, n_labels))
    if not np.allclose(A.sum(axis=1), 1, rtol=0, atol=SUM_TOLERANCE):
        raise ValueError(f"hmm: rows of transitions must sum to 1, not {A.sum(axis=1).round(6).tolist()}")
    return A


def learn_transitions(paths: Iterable[Sequence[int]], n_labels: int, prior: float = 1.0) -> tuple[float, ...]:
    """The transitions that reference labels of successive windows show, row by row, as the `transitions` of `hmm`.

    Each path is one recording, as indices of labels. `prior` counts every pair as seen so many times more: no change
    of labels is impossible only because it was not seen.
    """
    if not prior > 0:
        raise ValueError(f"prior={prior} must be positive")
    counts = np.full((n_labels, n_labels), float(prior))
    for path in paths:
        np.add.at(counts, (np.asarray(path[:-1], dtype=int), np.asarray(path[1:], dtype=int)), 1)
    return tuple((counts / counts.sum(axis=1, keepdims=True)).ravel().tolist())

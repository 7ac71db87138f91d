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


def transitions_of_durations(windows: np.ndarray) -> tuple[float, ...]:
    """Transitions of labels of which each lasts so many windows on average, row by row, as the `transitions` of `hmm`.

    All other labels follow alike.
    """
    rows = [transitions_of_duration(len(windows), duration, 1)[i] for i, duration in enumerate(windows)]
    return tuple(np.concatenate(rows).tolist())


def given_transitions(values: Sequence[float], n_labels: int) -> np.ndarray:
    """The matrix of values that were given row by row, each row summing to 1."""
    if len(values) != n_labels**2:
        raise ValueError(f"hmm: {len(values)} transitions, {n_labels} labels have {n_labels**2}")
    A = np.reshape(np.asarray(values, dtype=np.float64), (n_labels, n_labels))
    if not np.allclose(A.sum(axis=1), 1, rtol=0, atol=SUM_TOLERANCE):
        raise ValueError(f"hmm: rows of transitions must sum to 1, not {A.sum(axis=1).round(6).tolist()}")
    return A


def count_transitions(paths: Iterable[Sequence[int] | np.ndarray], n_labels: int) -> np.ndarray:
    """How often each label follows each, (n_labels, n_labels), in the labels of successive windows.

    Each path is one stretch of a recording without a gap, as indices of labels.
    """
    counts = np.zeros((n_labels, n_labels), dtype=np.int64)
    for path in paths:
        np.add.at(counts, (np.asarray(path[:-1], dtype=int), np.asarray(path[1:], dtype=int)), 1)
    return counts


def learn_transitions(counts: np.ndarray, duration: float = 10.0, prior: float = 1.0) -> tuple[float, ...]:
    """The transitions that counted ones show, row by row, as the `transitions` of `hmm`.

    Every label counts as seen in `prior` segments more, of `duration` windows on average and followed by any other
    label alike: no change of labels is impossible only because it was not seen, and a label that was not seen at all
    lasts as it does where nothing is known.
    """
    if not prior > 0:
        raise ValueError(f"prior={prior} must be positive")
    expected = counts + prior * duration * transitions_of_duration(len(counts), duration, 1)
    return tuple((expected / expected.sum(axis=1, keepdims=True)).ravel().tolist())

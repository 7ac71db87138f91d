"""Windows with their smoothed posteriors: a smoother that looks ahead gives rows later than it takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.contracts import Smoother, SmoothingStream, SmoothsStreams
from audioclass.data import Posteriors, Segment


class WindowSmoother:
    """Smooths the windows of one recording as they come; one that does not smooth streams gives all at the end."""

    def __init__(self, smoother: Smoother, labels: Sequence[str]) -> None:
        self._labels = tuple(labels)
        self._stream: SmoothingStream = (
            smoother.stream(len(labels)) if isinstance(smoother, SmoothsStreams) else _Held(smoother, self._labels)
        )
        self._waiting: list[Segment] = []
        self._strangeness: list[float] | None = None  # of those that wait, where it is known

    def push(self, posteriors: Posteriors) -> Posteriors:
        """Take in the next windows; give those that are final."""
        self._waiting += posteriors.segments
        if posteriors.strangeness is not None:
            self._strangeness = [*(self._strangeness or ()), *posteriors.strangeness.tolist()]
        return self._with_windows(self._stream.push(posteriors.P))

    def finish(self) -> Posteriors:
        """The windows that were held back, at the end of the recording."""
        return self._with_windows(self._stream.finish())

    def _with_windows(self, P: np.ndarray) -> Posteriors:
        windows, self._waiting = tuple(self._waiting[: len(P)]), self._waiting[len(P) :]
        if self._strangeness is None:
            return Posteriors(P, self._labels, windows)
        strangeness, self._strangeness = self._strangeness[: len(P)], self._strangeness[len(P) :]
        return Posteriors(P, self._labels, windows, np.array(strangeness))


class _Held:
    """A stream made of a smoother that wants the whole recording."""

    def __init__(self, smoother: Smoother, labels: tuple[str, ...]) -> None:
        self._smoother, self._labels = smoother, labels
        self._rows = [np.empty((0, len(labels)))]

    def push(self, P: np.ndarray) -> np.ndarray:
        self._rows.append(P)
        return P[:0]

    def finish(self) -> np.ndarray:
        P = np.concatenate(self._rows)
        windows = tuple(Segment(float(i), float(i + 1)) for i in range(len(P)))
        return self._smoother.smooth(Posteriors(P, self._labels, windows)).P

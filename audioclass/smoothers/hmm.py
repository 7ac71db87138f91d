"""Hidden Markov model: labels last, and change by known transitions; Viterbi's path, posteriors by forward-backward."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from audioclass.contracts import Smoother, SmoothingStream
from audioclass.data import Posteriors
from audioclass.errors import UsageError
from audioclass.hookspecs import hookimpl
from audioclass.numerics import led_by
from audioclass.parameters import component, parameter
from audioclass.smoothers.chains import Chain, backward, forward, likelihoods
from audioclass.smoothers.streams import smooth_whole
from audioclass.smoothers.transitions import (
    given_transitions,
    learn_transitions,
    transitions_of_duration,
    transitions_of_durations,
)
from audioclass.smoothers.viterbi import Viterbi

SHORTEST = 2.0  # windows that a label lasts on average, at least


@component
class HiddenMarkov:
    """Labels of the likeliest path (Viterbi), posteriors given all windows before and `look_ahead` after.

    Where another label has the largest of these, by forward-backward, they are the nearest in which that of the path
    has. Clips of ESC-10 joined to two recordings of five minutes, log-loss of windows: 0.783 and 1.239; by normalised
    max-marginals, whose largest lie on the best path too, 0.817 and 1.281.

    Posteriors of a window count as likelihoods of labels that are all as frequent. Segments last `duration` windows
    on average and at least `minimum` (but for those that the recording cuts), unless `transitions` says how labels
    follow one another from a segment's `minimum` window on. Chosen by its name, with `look_ahead` at most, it takes
    those that a model learnt from continuous recordings, or the mean durations of the segments that a model of clips
    was trained on.
    """

    name: ClassVar[str] = "hmm"

    duration: float = parameter(
        10.0, above=1.0, scale="log", search=(2, 100), help="mean length of segments in windows"
    )
    minimum: int = parameter(1, low=1, high=1000, help="shortest segment in windows")
    look_ahead: int = parameter(8, low=0, high=10_000, help="windows that are waited for before one is decided")
    transitions: tuple[float, ...] | None = parameter(
        None, low=0.0, high=1.0, help="probability of each label after each, row by row; instead of `duration`"
    )

    def __post_init__(self) -> None:
        if self.transitions is None and self.duration <= self.minimum:
            raise UsageError(f"hmm: duration={self.duration:g} must be above minimum={self.minimum}")

    def with_transitions(self, counts: np.ndarray) -> HiddenMarkov:
        """The same with the transitions that counted ones show, (n_labels, n_labels)."""
        return replace(self, transitions=learn_transitions(counts, self.duration))

    def with_durations(self, windows: np.ndarray) -> HiddenMarkov:
        """The same with labels that last so many windows on average, or two where that is more."""
        return replace(self, transitions=transitions_of_durations(np.maximum(windows, SHORTEST)))

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        """The path and its probabilities."""
        return smooth_whole(self, posteriors)

    def stream(self, n_labels: int) -> SmoothingStream:
        """A stream that holds `look_ahead` rows; what came before them is summed up in one."""
        if self.transitions is None:
            A = transitions_of_duration(n_labels, self.duration, self.minimum)
        else:
            A = given_transitions(self.transitions, n_labels)
        return HiddenMarkovStream(Chain(A, self.minimum), self.look_ahead)


class HiddenMarkovStream:
    """Rows in, rows out `look_ahead` later."""

    def __init__(self, chain: Chain, look_ahead: int) -> None:
        self._chain, self._look_ahead = chain, look_ahead
        self._viterbi = Viterbi(chain, look_ahead)
        self._filtered: list[np.ndarray] = []  # of the rows still to be given
        self._last: np.ndarray | None = None
        self._likelihoods = np.empty((0, chain.n_labels))

    def push(self, P: np.ndarray) -> np.ndarray:
        """The rows that are `look_ahead` behind."""
        new = likelihoods(P)
        path = [label for row in new for label in self._viterbi.push(row)]
        for row in new:
            self._last = forward(self._chain, self._last, row)
            self._filtered.append(self._last)
        self._likelihoods = np.concatenate([self._likelihoods, new])
        return self._give(len(path), path)

    def finish(self) -> np.ndarray:
        """The rows that were held back, at the end of the recording."""
        return self._give(len(self._filtered), self._viterbi.finish())

    def _give(self, n: int, path: list[int]) -> np.ndarray:
        after = backward(self._chain, self._likelihoods, n, self._look_ahead)
        before = np.reshape(self._filtered[:n], after.shape)
        joint = (before * after).sum(axis=2)
        self._filtered, self._likelihoods = self._filtered[n:], self._likelihoods[n:]
        return led_by(joint / joint.sum(axis=1, keepdims=True), np.array(path, dtype=int))


@hookimpl
def register_smoothers() -> list[type[Smoother]]:
    """The hidden Markov model."""
    return [HiddenMarkov]

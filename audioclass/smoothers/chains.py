"""A hidden Markov chain whose segments have a minimum length: each label is a row of `minimum` states passed in turn.

Arrays of states are (…, n_labels, minimum). A segment enters its label in the first state and moves on by one state a
window; in the last it follows the transitions: it stays there, or enters another label. A recording may begin and end
amid a segment. What is done for many rows at once is summed label by label: how many they are does not change a bit.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-6  # no window can forbid a label: its posterior is taken to be at least this


class Chain:
    """The sums over paths: forward over all rows before, backward over a few rows after."""

    def __init__(self, transitions: np.ndarray, minimum: int) -> None:
        self.n_labels, self.minimum = len(transitions), minimum
        self.stay = transitions.diagonal().copy()
        self.enter = transitions - np.diag(self.stay)  # (from, to), nothing on the diagonal

    def initial(self) -> np.ndarray:
        """Every label alike, however far its segment is."""
        return np.full((self.n_labels, self.minimum), 1 / (self.n_labels * self.minimum))

    def step(self, states: np.ndarray) -> np.ndarray:
        """Where states of one window lead in the next."""
        moved = np.zeros_like(states)
        moved[:, 1:] = states[:, :-1]
        moved[:, -1] += states[:, -1] * self.stay
        moved[:, 0] += states[:, -1] @ self.enter
        return moved

    def back(self, states: np.ndarray) -> np.ndarray:
        """The likelihood of what comes after a window from that of what comes after the next, for many rows at once."""
        before = np.empty_like(states)
        before[..., :-1] = states[..., 1:]
        before[..., -1] = states[..., -1] * self.stay
        for label in range(self.n_labels):
            before[..., -1] += states[..., label, :1] * self.enter[:, label]
        return before


def likelihoods(P: np.ndarray) -> np.ndarray:
    """What posteriors say of the labels where all are as frequent."""
    return np.asarray(np.maximum(P, FLOOR))


def forward(chain: Chain, filtered: np.ndarray | None, likelihood: np.ndarray) -> np.ndarray:
    """Probabilities of the states given all rows so far, from those one row before."""
    states = chain.initial() if filtered is None else chain.step(filtered)
    states = states * likelihood[:, None]
    return np.asarray(states / states.sum())


def backward(chain: Chain, L: np.ndarray, n: int, look_ahead: int) -> np.ndarray:
    """For each of the first `n` rows, the relative likelihood of the `look_ahead` rows after it, or of those there are.

    Row t begins with its last row ahead and comes nearer by one row at a time, all rows together.
    """
    states = np.ones((n, chain.n_labels, chain.minimum))
    for ahead in range(look_ahead, 0, -1):
        there = max(min(n, len(L) - ahead), 0)
        moved = chain.back(states[:there] * L[ahead : ahead + there, :, None])
        states[:there] = moved / moved.max(axis=(1, 2), keepdims=True)
    return states

"""The likeliest path through a chain, decided a fixed number of rows after each row."""

from __future__ import annotations

import numpy as np

from audioclass.smoothers.chains import Chain


class Viterbi:
    """Decides each row by the best path to the row `look_ahead` after it; later decisions go on from earlier ones.

    So the path is always one that the chain allows, and where all rows are within the look-ahead it is the best of all.
    """

    def __init__(self, chain: Chain, look_ahead: int) -> None:
        self._look_ahead = look_ahead
        self._index = np.arange(chain.n_labels * chain.minimum).reshape(chain.n_labels, chain.minimum)
        self._start = np.log(chain.initial())
        with np.errstate(divide="ignore"):  # what cannot be has a score of minus infinity
            self._stay, self._enter = np.log(chain.stay), np.log(chain.enter)
        self._scores: np.ndarray | None = None
        # Undecided rows by states: where each state came from.
        self._backpointers: np.ndarray = np.empty((0, self._index.size), dtype=int)

    def push(self, likelihood: np.ndarray) -> list[int]:
        """Take in one row; give the label of the row that is decided now, if any."""
        scores = self._start if self._scores is None else self._step(self._scores)
        scores = scores + np.log(likelihood)[:, None]
        self._scores = scores - scores.max()
        self._backpointers = np.concatenate([self._backpointers, self._index.reshape(1, -1)])
        return [self._decide(self._scores)] if len(self._backpointers) > self._look_ahead else []

    def finish(self) -> list[int]:
        """The labels of the rest: the best path to the last row."""
        if self._scores is None:
            return []
        states: list[int] = self._backpointers[:, self._scores.argmax()].tolist()
        return [self._label(state) for state in states]

    def _step(self, scores: np.ndarray) -> np.ndarray:
        """The best score of each state of the next row; where each comes from is remembered."""
        moved, came_from = np.empty_like(scores), np.empty_like(self._index)
        moved[:, 1:], came_from[:, 1:] = scores[:, :-1], self._index[:, :-1]
        entering = scores[:, -1:] + self._enter
        moved[:, 0], came_from[:, 0] = entering.max(axis=0), self._index[entering.argmax(axis=0), -1]
        staying = scores[:, -1] + self._stay
        stays = staying > moved[:, -1]
        moved[stays, -1], came_from[stays, -1] = staying[stays], self._index[stays, -1]
        self._backpointers = self._backpointers[:, came_from.ravel()]
        return moved

    def _decide(self, scores: np.ndarray) -> int:
        """The first undecided row's label on the best path; paths that say otherwise are given up."""
        decided = int(self._backpointers[0, scores.argmax()])
        scores[self._backpointers[0].reshape(scores.shape) != decided] = -np.inf
        self._backpointers = self._backpointers[1:]
        return self._label(decided)

    def _label(self, state: int) -> int:
        return state // self._index.shape[1]

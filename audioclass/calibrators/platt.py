"""Platt's sigmoid: P = 1/(1+exp(Af+B)), fitted to regularised targets (specification 4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from audioclass.calibrators.examples import check_examples, number, warn_of_order
from audioclass.contracts import Calibrator
from audioclass.hookspecs import hookimpl
from audioclass.numerics import LogisticProblems, constant_offset, fit_logistic, regularised_targets, sigmoid
from audioclass.parameters import component

if TYPE_CHECKING:
    from audioclass.contracts import Fitted

TOGETHER = 1 << 13  # examples fitted at once: about what a processor's cache holds


@component
class Platt:
    """A sigmoid of the score; needs few examples and survives scores that are separated, constant or of one side.

    Scores of one side only, N examples of weight 1, give (N+1)/(N+2) for that side. Where the positive side has the
    lower scores (A > 0) a warning is given and A is 0, the best that does not fall: P is then the mean target, as it
    is for constant scores.
    """

    name: ClassVar[str] = "platt"

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """`slope` A ≤ 0 and `offset` B."""
        scores, y, weights = check_examples(scores, y, weights)
        return self._fit(LogisticProblems(scores[None], y > 0, weights, np.zeros(1, dtype=np.intp)))[0]

    def fit_many(self, scores: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list[Fitted]:
        """The fit of each column of scores, (n, n_dichotomies), over the examples that Y does not hold at 0.

        Equal to `fit` column by column, and several times faster for many small ones. `weights` is (n,).
        """
        return [fitted for problems in _gather(scores, Y, weights) for fitted in self._fit(problems)]

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """1/(1+exp(Af+B))."""
        return sigmoid(-(number(fitted, "slope") * scores + number(fitted, "offset")))

    def _fit(self, problems: LogisticProblems) -> list[Fitted]:
        targets = regularised_targets(problems)
        slope, offset = fit_logistic(problems, targets)
        falls = slope > 0
        if falls.any():
            warn_of_order("platt" if len(falls) == 1 else f"platt, {falls.sum()} of {len(falls)} dichotomies", depth=4)
        slope, offset = np.where(falls, 0, slope), np.where(falls, constant_offset(problems, targets), offset)
        return [{"slope": a, "offset": b} for a, b in zip(slope.tolist(), offset.tolist(), strict=True)]


def _gather(scores: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> Iterator[LogisticProblems]:
    """The examples of each dichotomy side by side, some dichotomies at a time."""
    if scores.ndim != 2 or scores.shape != Y.shape:
        raise ValueError(f"scores have shape {scores.shape} and Y {Y.shape}, must be examples by dichotomies")
    sizes = np.count_nonzero(Y, axis=0)
    if not sizes.all():
        raise ValueError(f"dichotomy {int(np.argmin(sizes))} has no score")
    group = np.cumsum(sizes) // TOGETHER
    for one in np.unique(group):
        taken = np.flatnonzero(group == one)
        column, row = np.nonzero(Y[:, taken].T)
        checked = check_examples(scores[row, taken[column]], Y[row, taken[column]], weights[row])
        yield LogisticProblems(checked[0][None], checked[1] > 0, checked[2], np.cumsum(sizes[taken]) - sizes[taken])


@hookimpl
def register_calibrators() -> list[type[Calibrator]]:
    """Platt's sigmoid."""
    return [Platt]

"""The rounds of boosting: members that each attend to what those before them got wrong (specification 14.3).

For Q labels (SAMME) α_t = ½ln((1-ε_t)/ε_t) + ½ln(Q-1) and a member must err less than chance, ε_t < 1-1/Q; for two that
is AdaBoost. Weights grow by exp(α_t) where a member is wrong and fall by as much where it is right: it then errs as
often as chance would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

LEAST_ERROR = 1e-10  # in place of 0, where α would be infinite
CHANCE = 1e-12  # an error this near to chance is chance
TINY = 1e-12  # a score that decides for the majority where nothing else does

Member = TypeVar("Member")
Fit = Callable[[np.ndarray], tuple[Member, np.ndarray]]  # weights to a member and what it says of each example


@dataclass(frozen=True, eq=False)
class Round(Generic[Member]):
    """A member, the weights it was fitted to, its error under them, and what its vote weighs."""

    member: Member
    weights: np.ndarray
    error: float
    alpha: float


def boost(
    y: np.ndarray, weights: np.ndarray, n_labels: int, n_rounds: int, fit: Fit[Member]
) -> Iterator[Round[Member]]:
    """Rounds until a member is no better than chance, or perfect; a perfect one is the last."""
    w = weights / weights.sum()
    for _ in range(n_rounds):
        member, predicted = fit(w)
        is_wrong = predicted != y
        error = float(w[is_wrong].sum())
        if error >= 1 - 1 / n_labels - CHANCE:
            return
        floored = max(error, LEAST_ERROR)
        alpha = 0.5 * np.log((1 - floored) / floored) + 0.5 * np.log(n_labels - 1)
        yield Round(member, w, error, float(alpha))
        if error <= LEAST_ERROR:
            return
        w = w * np.exp(alpha * np.where(is_wrong, 1, -1))
        w = w / w.sum()

"""Exact leave-one-out errors of a support vector machine, training again as seldom and as little as can be (11.2).

Where some vector is free: an example that supports nothing is scored as before without it; one on the wrong side stays
there; one with 2α R_Δ² + ξ < 1 stays on the right side. The others are trained without, on the examples near the
margin, and on more where the rest turn out to matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from audioclass.cases.radius import delta
from audioclass.cases.span import FREE

if TYPE_CHECKING:
    from audioclass.cases.case import Case

NEAR = 1.5  # y f up to which an example takes part in training again from the start
TOLERANCE = 1e-3  # of a margin that should be 1: the solver's own


def leave_one_out_errors(case: Case) -> np.ndarray:
    """(n,) whether the machine without each example puts it on the wrong side; K must be positive semi-definite."""
    margins = case.y * case.scores
    if not has_free(case):
        return np.array([_is_lost(case, p, margins) for p in range(len(case.y))])
    lost = margins < 0
    reach = 2 * case.alpha * delta(case.K) + case.slacks
    for p in np.flatnonzero(~lost & (case.alpha > 0) & (reach >= 1 - 2 * TOLERANCE)):
        lost[p] = _is_lost(case, p, margins)
    return lost


def has_free(case: Case) -> bool:
    """Whether a support vector lies strictly inside its box."""
    bound = case.C * case.weights
    return bool(((case.alpha > FREE * bound) & (case.alpha < (1 - FREE) * bound)).any())


def _is_lost(case: Case, p: int, margins: np.ndarray) -> bool:
    """Whether the machine without example p errs on it; what is left of a single side always does."""
    rest = np.arange(len(case.y)) != p
    if (case.y[rest] == case.y[rest][0]).all():
        return True
    return bool(case.y[p] * _score_without(case, p, rest & (margins < NEAR), rest) < 0)


def _score_without(case: Case, p: int, near: np.ndarray, rest: np.ndarray) -> float:
    """The score of p by the machine on `rest`: fitted near the margin, then with whatever violates it beyond."""
    near = near if len(np.unique(case.y[near])) == 2 else rest
    while True:
        other = case.restricted(near)
        left_out = np.flatnonzero(rest & ~near)
        if not len(left_out):
            return float(other.machine.scores(case.K[p : p + 1, near])[0])
        if has_free(other):
            scores = other.machine.scores(case.K[np.ix_([p, *left_out], near)])
            violating = left_out[case.y[left_out] * scores[1:] < 1 - TOLERANCE]
            if not len(violating):
                return float(scores[0])
            near = near.copy()
            near[violating] = True
        else:
            near = rest  # the bias is the middle of an interval that any example may bound

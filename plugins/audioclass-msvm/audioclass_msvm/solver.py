"""Multi-class machines to a stated duality gap (specification 8).

Primal: min ½ Σ_k ‖w_k‖² + Σ_i C_i slack_i, where an example wants f_y − f_k ≥ 1 of every other label k and its slack is
the sum of what it lacks (Weston-Watkins) or the largest of it (Crammer-Singer). The gap that is reported is between the
value of the scores as they are returned and that of coefficients that keep every constraint of the dual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from audioclass_msvm.circulation import balance
from audioclass_msvm.descent import Descent, product
from audioclass_msvm.rows import Boxes

Slack = Literal["sum", "largest"]
LEAST_MARGIN = 1e-4  # of the root mean square distance: what is narrower counts as no margin
VISITS = (10**5, 1000)  # of rows: at least, and for each example
ROUNDING = 1e-13  # of a score


@dataclass(frozen=True, eq=False)
class Problem:
    """A Gram matrix, labels 0..Q−1, the error factor of each example (infinite: no slacks) and how slacks add up."""

    K: np.ndarray
    y: np.ndarray
    C: np.ndarray
    slack: Slack
    has_bias: bool

    @property
    def n_labels(self) -> int:
        """Q."""
        return int(self.y.max()) + 1

    @property
    def is_hard(self) -> bool:
        """Whether no slacks are allowed."""
        return bool(np.isinf(self.C).any())

    def boxes(self) -> Boxes:
        """Where the rows of β may lie."""
        return Boxes.of(self.y, self.n_labels, self.C, self.n_labels - 1 if self.slack == "sum" else 1)

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """f_y − f_k of each example and label k, (n, Q); infinite for its own label."""
        rows = np.arange(len(self.y))
        margins = scores[rows, self.y][:, None] - scores
        margins[rows, self.y] = np.inf
        return np.asarray(margins)

    def primal(self, norm: float, scores: np.ndarray) -> float:
        """The objective at scores of Σ‖w_k‖² = norm; without slacks, that of their multiple whose least margin is 1."""
        margins = self.margins(scores)
        if self.is_hard:
            least = margins.min()
            return 0.5 * norm / least**2 if least > 0 else np.inf
        lacks = np.maximum(1 - margins, 0)
        return 0.5 * norm + float(self.C @ (lacks.sum(axis=1) if self.slack == "sum" else lacks.max(axis=1)))

    def spread(self) -> float:
        """Mean square distance of the examples from 0, or from their centre where there is a bias."""
        return float(self.K.diagonal().mean() - (self.K.mean() if self.has_bias else 0))


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients `beta` and training `scores` (n, Q), the `bias` (Q,) with sum 0, and both objectives."""

    y: np.ndarray
    beta: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Relative duality gap: no machine is better than this one by more than this share of its objective.

        That needs a Gram matrix that is positive semi-definite; with another, only its neighbours are no better.
        """
        return abs(self.primal - self.dual) / abs(self.primal) if np.isfinite(self.primal) else np.inf

    @property
    def alpha(self) -> np.ndarray:
        """α_ik = −β_ik for every label but the example's own, 0 for that."""
        return np.where(np.eye(self.beta.shape[1], dtype=bool)[self.y], 0, -self.beta)

    @property
    def norm(self) -> float:
        """Σ_k ‖w_k‖²."""
        return float((self.beta * (self.scores - self.bias)).sum())


def solve(problem: Problem, tolerance: float = 1e-3) -> Solution:
    """The machine whose relative duality gap is at most `tolerance`, or the best that a bounded work reaches.

    A ValueError where slacks are not allowed and no margin separates the labels.
    """
    descent = Descent(problem.K, problem.y, problem.boxes(), _first_weight(problem) if problem.has_bias else 0.0)
    visits, enough = max(VISITS[0], VISITS[1] * len(problem.y)), 0.1
    best: Solution | None = None
    while best is None or (descent.n_visits < visits and enough > ROUNDING):
        # Where no margin exists, a walk would not end by itself.
        descent.walk(enough, min(visits, descent.n_visits + 20 * len(problem.y)) if problem.is_hard else visits)
        step = descent.move_bias() if problem.has_bias else 0.0
        if problem.is_hard:
            descent.lengthen()
        current = _certified(problem, descent)
        best = current if best is None or current.gap <= best.gap else best
        if best.gap <= tolerance:
            break
        if problem.is_hard and 2 * current.dual * problem.spread() > LEAST_MARGIN**-2:
            raise ValueError("no margin separates the labels with this kernel; use a soft margin, or a smaller sigma")
        enough *= 0.3 if step <= enough else 1.0
    return best


def _first_weight(problem: Problem) -> float:
    """Sums as large as a share of all C move the bias by a unit of margin."""
    return float(1 / problem.C.sum() + problem.spread() / np.sqrt(len(problem.y)))


def _certified(problem: Problem, descent: Descent) -> Solution:
    """What the descent stands for, with the sums of β made 0 where there is a bias."""
    beta, F = descent.beta.copy(), descent.F
    if problem.has_bias:
        beta = balance(beta, problem.y)
        F = product(problem.K, beta, np.arange(len(beta)))
    norm, total = float((beta * F).sum()), float(beta[np.arange(len(beta)), problem.y].sum())
    scores = F + descent.bias
    return Solution(problem.y, beta, descent.bias, scores, problem.primal(norm, scores), total - 0.5 * norm)

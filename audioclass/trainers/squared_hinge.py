"""Machines with squared slacks, solved by Newton steps: min ½‖w‖² + ½ Σ c_i max(0, 1 − y_i f(x_i))².

The objective is quadratic while the set of examples within the margin stays: its minimiser is a least-squares machine
on that set. Stepping towards it by the best step length ends at the optimum after finitely many steps, about ten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from audioclass.trainers.linear_system import factor, inverse_by, solve_with_bias

MOST_STEPS = 200
BORDER = 1e-9  # of the largest pull: an example that pulls less may count as inside the margin or outside


@dataclass(frozen=True, eq=False)
class Solution:
    """What stands for w (dual coefficients or primal weights), the bias b, and the scores f of all examples."""

    w: np.ndarray
    b: float
    f: np.ndarray

    def moved(self, t: float, direction: Solution) -> Solution:
        """This plus t times a direction."""
        return Solution(self.w + t * direction.w, self.b + t * direction.b, self.f + t * direction.f)


Target = Callable[[np.ndarray], Solution]
Product = Callable[[Solution, Solution], float]


def minimise(
    target: Target, product: Product, y: np.ndarray, costs: np.ndarray, start: Solution, enough: float
) -> Solution:
    """The optimum, or where a step gained no more than a share `enough` of the objective.

    `target` gives the least-squares machine on the examples of a mask, `product` is w'v.
    """

    def objective(at: Solution) -> float:
        return float(0.5 * product(at, at) + 0.5 * costs @ np.maximum(1 - y * at.f, 0) ** 2)

    now, value = start, np.inf
    for _ in range(MOST_STEPS):
        inside = y * now.f < 1
        aim = target(inside)
        if _is_consistent(costs * (1 - y * aim.f), inside):
            return aim
        direction = aim.moved(-1, now)
        slopes = (product(now, direction), product(direction, direction))
        now = now.moved(best_step(slopes, 1 - y * now.f, y * direction.f, costs), direction)
        before, value = value, objective(now)
        if before - value <= enough * value:
            return now
    raise ValueError(f"no optimum within {MOST_STEPS} Newton steps; repair K or lower C")


def _is_consistent(pulls: np.ndarray, inside: np.ndarray) -> bool:
    """Whether the machine fitted inside the margin pulls the same examples; α is the pull c (1 − y f) of those."""
    crossed = (pulls > 0) != inside
    return bool((np.abs(pulls[crossed]) <= BORDER * pulls.max()).all())


def best_step(slopes: tuple[float, float], slacks: np.ndarray, change: np.ndarray, costs: np.ndarray) -> float:
    """The t in [0, 1] where ½‖w + tv‖² + ½Σ c_i max(0, slack_i − t change_i)² is least; `slopes` are w'v and v'v.

    The derivative never falls as t grows, so its root is bracketed.
    """

    def derivative(t: float) -> float:
        return float(slopes[0] + t * slopes[1] - (costs * change) @ np.maximum(slacks - t * change, 0))

    if derivative(1.0) <= 0:
        return 1.0
    if derivative(0.0) >= 0:
        return 0.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-15))


def solve_squared_hinge(K: np.ndarray, y: np.ndarray, ridge: np.ndarray, start: Solution | None = None) -> Solution:
    """Dual coefficients y α of a kernel machine with c_i = 1/ridge_i, 0 for examples outside the margin.

    On the set S within the margin, (K_SS + Λ_S) β + b 1 = y_S and 1'β = 0; a ValueError where that is not positive.
    With a K that is not positive semi-definite, the steps may end at no optimum: the caller looks at the slacks.
    """

    def target(inside: np.ndarray) -> Solution:
        S, beta = np.flatnonzero(inside), np.zeros(len(y))
        beta[S], b = solve_with_bias(inverse_by(factor(K[np.ix_(S, S)], ridge[S])), y[S])
        return Solution(beta, float(b), K[:, S] @ beta[S] + b)

    def product(left: Solution, right: Solution) -> float:
        return float(left.w @ (right.f - right.b))  # β'Kγ

    start = start or Solution(np.zeros(len(y)), 0.0, np.zeros(len(y)))
    return minimise(target, product, y, 1 / ridge, start, enough=1e-14)

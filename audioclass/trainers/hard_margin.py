"""Hard margin (specification 3.1 with C = ∞): min ½‖w‖², y_i f(x_i) ≥ 1.

Solved as the limit of machines with squared slacks: a ridge on K that shrinks in a few stages to 1e-10 of the spread
of the examples, then refined on the support vectors until their margins are 1.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of
from audioclass.trainers.linear_system import factor, inverse_by, solve_with_bias
from audioclass.trainers.squared_hinge import solve_squared_hinge

RIDGES = 10.0 ** -np.arange(0, 11, 2)  # of the spread
ENOUGH = 1 - 1e-3  # of a margin that should be 1


@component
class HardMargin:
    """Widest margin without slacks; C and the sizes of weights above 0 play no part.

    Sides that no margin separates are a ValueError: the machine at the smallest ridge is refined and its own margins
    y f(x) are looked at, all of which must reach 1 to 1e-3. The work is bounded whatever the examples. Margins below
    about 1e-5 of the root mean square distance to the centre count as none.
    """

    name: ClassVar[str] = "hard_margin"
    loss: ClassVar[Loss] = "hard_margin"
    wants: ClassVar[Wants] = "gram"

    def fit(self, task: Task) -> Machine:
        """Support rows lie on the margin, coefficients y α with Σα = ‖w‖²."""
        rows = counted(task)
        K, y = gram_of(task, rows), task.y[rows]
        rounding = 10 * len(y) * np.finfo(np.float64).eps * np.abs(K.diagonal()).max()
        support, coefficients = _widest_margin(_centred(K), y, rounding)
        g = K[:, support] @ coefficients
        b = float(np.mean(y[support] - g[support]))
        if (y * (g + b)).min() < ENOUGH:
            raise _not_separable()
        return Machine(rows[support], coefficients, b)


def _widest_margin(K: np.ndarray, y: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Support indices and y α; of no use where nothing separates the sides. No ridge goes below `rounding`."""
    spread = K.diagonal().mean()
    if spread <= rounding:
        raise _not_separable()
    ridges = np.maximum(RIDGES * spread, rounding)
    solution = solve_squared_hinge(K, y, np.full(len(y), ridges[0]))
    for ridge in ridges[1:]:
        solution = solve_squared_hinge(K, y, np.full(len(y), ridge), solution)
    support = np.flatnonzero(solution.w)
    return support, _refined(K[np.ix_(support, support)], y[support], solution.w[support], float(ridges[-1]))


def _refined(K: np.ndarray, y: np.ndarray, beta: np.ndarray, ridge: float) -> np.ndarray:
    """β with Kβ + b 1 = y, from the solution with a ridge: (K + ridge I) β⁺ + b 1 = y + ridge β, a few times over."""
    inverse = inverse_by(factor(K, ridge))
    for _ in range(5):
        beta, _ = solve_with_bias(inverse, y + ridge * beta)
    return beta


def _centred(K: np.ndarray) -> np.ndarray:
    """Seen from the centre of the examples: the same machines, since Σ y α = 0, and smaller numbers."""
    means = K.mean(axis=0)
    return np.asarray(K - means[:, None] - means[None, :] + means.mean())


def _not_separable() -> ValueError:
    return ValueError("no margin separates y = +1 from y = -1 with this kernel; use a soft margin, or a smaller sigma")


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The machine without slacks."""
    return [HardMargin]

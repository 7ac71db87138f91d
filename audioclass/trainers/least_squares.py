"""Least-squares machine (kernel ridge with a bias): min ½‖w‖² + (C/2) Σ s_i (y_i − f(x_i))².

(K + Λ) a + b 1 = y and 1'a = 0 with Λ_ii = 1/(C s_i); then f(x) = Σ a_i k(x_i, x) + b.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of, targets_of
from audioclass.trainers.factorised import Factorised
from audioclass.trainers.linear_system import factor, inverse_by, solve_with_bias


@component
class LeastSquares:
    """Regression on ±1 by one linear system, shared by all dichotomies over the same examples; every example is kept.

    Weights multiply C as they are given (the engine's default balances the sides: n/(2 n_side)) and are shared by all
    dichotomies of one call; examples of weight 0 are left out of the fit. A Gram matrix that is not positive
    semi-definite is fitted while K + Λ is positive definite, and refused otherwise.
    """

    name: ClassVar[str] = "least_squares"
    loss: ClassVar[Loss] = "squared"
    wants: ClassVar[Wants] = "gram"

    def fit(self, task: Task) -> Machine:
        """Every example of weight above 0 supports it."""
        return self.fit_many(task, task.y)

    def fit_many(self, task: Task, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies); one Cholesky factorisation."""
        rows = counted(task)
        L = factor(gram_of(task, rows), 1 / (task.C * task.weights[rows]))
        return Machine(rows, *solve_with_bias(inverse_by(L), targets_of(Y, len(task.y))[rows]))

    def factorise(self, task: Task) -> Factorised:
        """What gives machines, and groups held out of them, for any dichotomies over the examples."""
        return Factorised.of(task)

    def fit_and_hold_out(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> tuple[Machine, np.ndarray]:
        """The machine, and the scores of each group by the one fitted without it; no second factorisation.

        Examples of weight 0 are scored too, by the machine without their group.
        """
        factorised = Factorised.of(task)
        return factorised.machine(Y), factorised.held_out(Y, groups)


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The least-squares machine."""
    return [LeastSquares]

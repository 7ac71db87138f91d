"""Soft margin with squared slacks, L2 (specification 3.2): min ½‖w‖² + (C/2) Σ s_i ξ_i², y_i f(x_i) ≥ 1 − ξ_i.

Its dual is the hard margin's on K + Λ, Λ_ii = 1/(C s_i); scores use K. At the optimum ξ_i = α_i/(C s_i).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of
from audioclass.trainers.squared_hinge import solve_squared_hinge

SETTLED = 1e-3  # ξ − α/(C s) at the optimum found, in units of the margin


@component
class L2SVM:
    """Widest margin with squared slacks, exact to working precision; more examples support it than the usual machine.

    Weights multiply C as they are given (the engine's default balances the sides: n/(2 n_side)); examples of weight 0
    are left out. The dual has no bound on α: a Gram matrix so far from positive semi-definite that K + Λ is not
    positive definite, or that no optimum is found, is refused.
    """

    name: ClassVar[str] = "l2_svm"
    loss: ClassVar[Loss] = "squared_hinge"
    wants: ClassVar[Wants] = "gram"

    def fit(self, task: Task) -> Machine:
        """Support rows are those within the margin, coefficients y α with no upper bound."""
        rows = counted(task)
        y, ridge = task.y[rows], 1 / (task.C * task.weights[rows])
        solution = solve_squared_hinge(gram_of(task, rows), y, ridge)
        if np.abs(np.maximum(1 - y * solution.f, 0) - ridge * y * solution.w).max() > SETTLED:
            raise ValueError("the steps end at no optimum, K is not positive semi-definite; repair K or lower C")
        support = np.flatnonzero(solution.w)
        return Machine(rows[support], solution.w[support], solution.b)


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The machine with squared slacks."""
    return [L2SVM]

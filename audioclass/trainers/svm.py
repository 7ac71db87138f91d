"""Soft margin with linear slacks, L1 (specification 3.1): min ½‖w‖² + C Σ s_i ξ_i, y_i f(x_i) ≥ 1 − ξ_i, ξ ≥ 0.

Dual: max Σα_i − ½Σα_iα_j y_i y_j K_ij, 0 ≤ α_i ≤ C s_i, Σα_i y_i = 0; then f(x) = Σα_i y_i k(x_i, x) + b.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of
from audioclass.trainers.libsvm import AT_BOUND, bias, dual_solution


@component
class SVM:
    """Widest margin with linear slacks; few examples support it, which makes it quick to evaluate.

    Weights multiply C as they are given (the engine's default balances the sides: n/(2 n_side)); examples of weight 0
    are left out. Scores differ from the exact ones by a few times `tolerance`. A Gram matrix that is not positive
    semi-definite gives some stationary point of the dual, in bounded time.
    """

    name: ClassVar[str] = "svm"
    loss: ClassVar[Loss] = "hinge"
    wants: ClassVar[Wants] = "gram"
    has_span: ClassVar[bool] = True

    tolerance: float = parameter(1e-3, above=0.0, high=0.1, scale="log", help="largest violation of optimality")

    def fit(self, task: Task) -> Machine:
        """Support rows are those of α > 0, coefficients y α."""
        rows = counted(task)
        K, y, box = gram_of(task, rows), task.y[rows], task.C * task.weights[rows]
        coefficients = dual_solution("SVC", K, y, task.weights[rows], C=task.C, tol=self.tolerance)
        support = np.flatnonzero(coefficients)
        b = _bias(y - K[:, support] @ coefficients[support], y, y * coefficients, box)
        return Machine(rows[support], coefficients[support], b)


def _bias(e: np.ndarray, y: np.ndarray, alpha: np.ndarray, box: np.ndarray) -> float:
    """b = e_i at free vectors, 0 < α_i < C s_i; else e_i bounds it from the side that y_i and α_i say (3.1).

    Sums of steps end beside a bound by rounding: such a vector is at it, and cannot set the bias.
    """
    is_low, is_high = alpha <= AT_BOUND * box, alpha >= (1 - AT_BOUND) * box
    at_least = np.where(y > 0, is_low, is_high)
    at_most = np.where(y > 0, is_high, is_low)
    return bias(e[~is_low & ~is_high], e[at_least], e[at_most])


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The usual support vector machine."""
    return [SVM]

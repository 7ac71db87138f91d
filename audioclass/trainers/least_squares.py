"""Least-squares machine (kernel ridge with a bias): min ½‖w‖² + (C/2) Σ s_i (y_i − f(x_i))².

(K + Λ) a + b 1 = y and 1'a = 0 with Λ_ii = 1/(C s_i); then f(x) = Σ a_i k(x_i, x) + b. With A = (K + Λ)⁻¹ = W W' and
M = A − A11'A / 1'A1, the residuals of a group B left out of the fit are M_BB⁻¹ a_B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from audioclass.contracts import Loss, Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of, members_of, targets_of
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
        L = _factor(task, rows)
        return Machine(rows, *solve_with_bias(inverse_by(L), targets_of(Y, len(task.y))[rows]))

    def fit_and_hold_out(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> tuple[Machine, np.ndarray]:
        """The machine, and the scores of each group by the one fitted without it; no second factorisation.

        Examples of weight 0 are scored too, by the machine without their group.
        """
        rows, targets = counted(task), targets_of(Y, len(task.y))
        members = members_of(groups, task.weights > 0)
        L = _factor(task, rows)
        root = solve_triangular(L, np.eye(len(L)), lower=True, trans="T", check_finite=False)
        machine = Machine(rows, *solve_with_bias(_product(root), targets[rows]))
        return machine, _held_out(root, machine, targets, members, np.asarray(task.K))  # `_factor` wants K


def _factor(task: Task, rows: np.ndarray) -> np.ndarray:
    """Lower Cholesky factor of K + Λ over these examples."""
    return factor(gram_of(task, rows), 1 / (task.C * task.weights[rows]))


def _product(root: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Multiplication by A = W W'."""
    return lambda Y: root @ (root.T @ Y)


def _held_out(
    root: np.ndarray, machine: Machine, Y: np.ndarray, members: list[np.ndarray], K: np.ndarray
) -> np.ndarray:
    """Scores of each group without it; `root` belongs to the fitted rows, which all support the machine, Y to all.

    Fitted members: y − r, r = M_BB⁻¹ a_B. The others, which alone read K, are scored by the machine without B:
    a − M_·B r and b − u_B'r / 1'u, with u = A1.
    """
    rows, a = machine.support, machine.coefficients
    u = root @ root.sum(axis=0)
    position = np.full(len(Y), -1)
    position[rows] = np.arange(len(rows))
    scores = np.empty_like(Y)
    for group in members:
        is_fitted = position[group] >= 0
        B, others = position[group[is_fitted]], group[~is_fitted]
        residuals = np.linalg.solve(root[B] @ root[B].T - np.outer(u[B], u[B]) / u.sum(), a[B])
        scores[group[is_fitted]] = Y[group[is_fitted]] - residuals
        if len(others):
            lost = u[B] @ residuals / u.sum()
            rest = a - root @ (root[B].T @ residuals) + np.multiply.outer(u, lost)
            scores[others] = K[np.ix_(others, rows)] @ rest + machine.intercept - lost
    return scores


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """The least-squares machine."""
    return [LeastSquares]

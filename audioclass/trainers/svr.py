"""ε-insensitive regression (specification 3.3): min ½‖w‖² + C Σ s_i max(0, |f(x_i) − y_i| − ε).

Dual in δ = α⁺ − α⁻: max −½δ'Kδ − ε Σ|δ_i| + y'δ, Σδ = 0, |δ_i| ≤ C s_i; then f(x) = Σδ_i k(x_i, x) + b.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Trainer, Wants
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Machine, Task
from audioclass.trainers.examples import counted, gram_of
from audioclass.trainers.libsvm import AT_BOUND, bias, dual_solution


@component
class SVR:
    """Regression on ±1 that forgives errors up to `epsilon`; scores stay near ±1 instead of growing with the margin.

    Weights multiply C as they are given (the engine's default balances the sides: n/(2 n_side)); examples of weight 0
    are left out.
    """

    name: ClassVar[str] = "svr"
    wants: ClassVar[Wants] = "gram"

    epsilon: float = parameter(0.1, low=0.0, below=1.0, search=(0.0, 0.9), help="error that costs nothing")
    tolerance: float = parameter(1e-3, above=0.0, high=0.1, scale="log", help="largest violation of optimality")

    def fit(self, task: Task) -> Machine:
        """Support rows are those of δ ≠ 0, on or outside the tube."""
        rows = counted(task)
        K, y, weights = gram_of(task, rows), task.y[rows], task.weights[rows]
        machine = fit_epsilon_svr(K, y, task.C, weights, self.epsilon, self.tolerance)
        return Machine(rows[machine.support], machine.coefficients, machine.intercept)


def fit_epsilon_svr(
    K: np.ndarray, targets: np.ndarray, C: float, weights: np.ndarray, epsilon: float, tolerance: float = 1e-3
) -> Machine:
    """Regression on any finite targets; `weights` multiply C.

    Targets within one tube, max − min ≤ 2ε, give the constant mid-range and no support vector.
    """
    K, targets, weights = (np.asarray(array, dtype=np.float64) for array in (K, targets, weights))
    _check(K, targets, C, weights, epsilon)
    counts = np.flatnonzero(weights > 0)
    if len(counts) < len(targets):
        machine = fit_epsilon_svr(K[np.ix_(counts, counts)], targets[counts], C, weights[counts], epsilon, tolerance)
        return Machine(counts[machine.support], machine.coefficients, machine.intercept)
    if np.ptp(targets) <= 2 * epsilon:
        return Machine(np.arange(0), np.zeros(0), float((targets.max() + targets.min()) / 2))
    delta = dual_solution("SVR", K, targets, weights, C=C, epsilon=epsilon, tol=tolerance)
    support = np.flatnonzero(delta)
    b = _bias(targets - K[:, support] @ delta[support], delta, C * weights, epsilon)
    return Machine(support, delta[support], b)


def _bias(e: np.ndarray, delta: np.ndarray, box: np.ndarray, epsilon: float) -> float:
    """b = e_i ∓ ε at free vectors, 0 < ±δ_i < C s_i; else e_i ± ε bound it: |e_i − b| ≤ ε inside, ≥ ε at the box."""
    is_full, inside = np.abs(delta) >= (1 - AT_BOUND) * box, np.abs(delta) <= AT_BOUND * box
    over, under = ~inside & (delta > 0), ~inside & (delta < 0)
    equal = np.concatenate([e[over & ~is_full] - epsilon, e[under & ~is_full] + epsilon])
    at_least = np.concatenate([e[inside] - epsilon, e[under & is_full] + epsilon])
    at_most = np.concatenate([e[inside] + epsilon, e[over & is_full] - epsilon])
    return bias(equal, at_least, at_most)


def _check(K: np.ndarray, targets: np.ndarray, C: float, weights: np.ndarray, epsilon: float) -> None:
    n = len(targets)
    if n == 0 or K.shape != (n, n) or weights.shape != (n,):
        raise ValueError(f"K has shape {K.shape} and weights {weights.shape} for {n} targets")
    for name, array in (("K", K), ("targets", targets), ("weights", weights)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinite values")
    if not (weights >= 0).all() or not (weights > 0).any():
        raise ValueError("weights must be at least 0 and not all 0")
    if not 0 < C < np.inf or not 0 <= epsilon < np.inf:
        raise ValueError(f"C={C} must be positive and epsilon={epsilon} at least 0, both finite")


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    """Regression as a binary trainer."""
    return [SVR]

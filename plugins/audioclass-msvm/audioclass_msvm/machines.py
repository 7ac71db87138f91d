"""Three machines that fit all labels at once on the Gram matrix (specification 8), as direct strategies.

f_k(x) = Σ_i β_ik k(x_i, x) + b_k, and the label of the largest is chosen. They differ in how the slacks of an example
add up and in what C is worth; two labels give the binary machine with 2C (Bredensteiner-Bennett: 2C/3).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import DirectStrategy, Fitted, Wants
from audioclass.problems import LabelTask, Machine
from audioclass_msvm.posteriors import FORMS, apply_posteriors, fit_posteriors
from audioclass_msvm.solver import Problem, Slack, Solution, solve


@dataclass(frozen=True)
class _DirectMachine:
    """What the three share: their parameters, and the way from a task to a machine and from scores to posteriors."""

    name: ClassVar[str]
    wants: ClassVar[Wants] = "gram"
    slack: ClassVar[Slack] = "sum"

    bias: bool = parameter(True, help="whether a constant is added to each label's score")
    hard_margin: bool = parameter(False, help="no slacks at all; C plays no part")
    posteriors: str = parameter("pairs", choices=FORMS, help="a sigmoid for each pair, coupled, or one temperature")
    tolerance: float = parameter(1e-3, above=0.0, high=0.1, scale="log", help="relative duality gap")

    def fit(self, task: LabelTask) -> Machine:
        """Support rows are those of β ≠ 0; a RuntimeWarning says where the tolerance was not reached."""
        rows = _counted(task)
        solution = self.solve(task, rows)
        if solution.gap > self.tolerance:
            warnings.warn(
                f"{self.name}: relative duality gap {solution.gap:.2g} where {self.tolerance:g} was asked for; "
                "lower C, or allow a larger tolerance",
                RuntimeWarning,
                stacklevel=2,
            )
        support = np.flatnonzero(solution.beta.any(axis=1))
        return Machine(rows[support], solution.beta[support], solution.bias)

    def solve(self, task: LabelTask, rows: np.ndarray | None = None) -> Solution:
        """The solution over these rows of the task (default: all that count), with its coefficients and its gap."""
        rows = _counted(task) if rows is None else rows
        K = _gram(task) if len(rows) == len(task.y) else _gram(task)[np.ix_(rows, rows)]
        C = np.inf if self.hard_margin else task.C * self._share(task.n_labels)
        return solve(Problem(K, task.y[rows], C * task.weights[rows], self.slack, self.bias), self.tolerance)

    def fit_combination(self, scores: np.ndarray, y: np.ndarray) -> Fitted:
        """Sigmoids of all pairs, or the temperature, from held-out scores and label indices."""
        return fit_posteriors(self.posteriors, scores, y)

    def combine(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """Posteriors by what `fit_combination` gave; the plain softmax where that is empty."""
        return apply_posteriors(scores, fitted)

    def _share(self, n_labels: int) -> float:
        """What part of C counts."""
        return 1.0


@component
class WestonWatkins(_DirectMachine):
    """All labels at once; an example pays for every label that comes too near."""

    name: ClassVar[str] = "weston_watkins"


@component
class BredensteinerBennett(_DirectMachine):
    """All labels at once, with the distances between labels in the norm; Weston-Watkins with C/(Q+1)."""

    name: ClassVar[str] = "bredensteiner_bennett"

    def _share(self, n_labels: int) -> float:
        """½Σ_{k<l}‖w_k−w_l‖² + ½Σ‖w_k‖² is Q + 1 times ½Σ‖w_k‖², as Σw_k = 0."""
        return 1 / (n_labels + 1)


@component
class CrammerSinger(_DirectMachine):
    """All labels at once; an example pays for the nearest wrong label only."""

    name: ClassVar[str] = "crammer_singer"
    slack: ClassVar[Slack] = "largest"

    bias: bool = parameter(False, help="whether a constant is added to each label's score; the original has none")


def _gram(task: LabelTask) -> np.ndarray:
    if task.K is None:
        raise ValueError("the task holds no Gram matrix K, this machine wants one")
    return task.K


def _counted(task: LabelTask) -> np.ndarray:
    """Indices of the examples of weight above 0, of which every label needs one."""
    _gram(task)
    rows = np.flatnonzero(task.weights > 0)
    missing = np.setdiff1d(np.arange(task.n_labels), task.y[rows])
    if len(missing):
        raise ValueError(f"label {missing[0]} has no example of weight above 0, at least 1 is needed")
    return rows


@hookimpl
def register_direct_strategies() -> list[type[DirectStrategy]]:
    """The three machines."""
    return [WestonWatkins, BredensteinerBennett, CrammerSinger]

"""Class separability: scatter between labels over scatter within them, in kernel space (specification 12.5 to 12.7).

tr S_b = Σ_c Σ(K_cc)/n_c − Σ(K)/n and tr S_w = tr K − Σ_c Σ(K_cc)/n_c, for any number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.adjusted import added_diagonal, one_hot
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

Scatter = tuple[float, float]  # between and within


class _Separability:
    """J = tr S_b / (tr S_w + ε tr K); its derivatives by the quotient rule, all traces being linear in K."""

    better: ClassVar[Literal["lower", "higher"]] = "higher"
    takes_labels: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = False
    epsilon: float = 0.0

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """On C where it is adjusted."""
        return frozenset({"C"}) if self.is_adjusted else frozenset()

    def value(self, problem: SelectionProblem) -> float:
        """At least 0; infinite where examples of a label coincide and labels do not."""
        between, within = self._scatter(problem.K, added_diagonal(problem, self.is_adjusted), problem.y)
        if within <= len(problem.y) * np.finfo(float).eps * between:  # rounding alone
            return float("inf") if between > 0 else 0.0
        return between / within

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter; by C where it is adjusted."""
        between, within = self._scatter(problem.K, added_diagonal(problem, self.is_adjusted), problem.y)
        moves = self._moves(problem)
        return {name: float((db - between / within * dw) / within) for name, (db, dw) in moves}

    def _moves(self, problem: SelectionProblem) -> Iterator[tuple[str, Scatter]]:
        nothing = np.zeros(len(problem.y))
        for name, G in problem.gradients.items():
            yield name, self._scatter(G, nothing, problem.y)
        if self.is_adjusted:
            yield "C", self._scatter(None, -problem.ridge / problem.C, problem.y)

    def _scatter(self, K: np.ndarray | None, diagonal: np.ndarray, y: np.ndarray) -> Scatter:
        """tr S_b, and tr S_w with its ε, of K + Λ; K may be None for 0."""
        between, within, trace = scatter(np.zeros((len(y), len(y))) if K is None else K, diagonal, y)
        return between, within + self.epsilon * trace


def scatter(K: np.ndarray, diagonal: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """tr S_b, tr S_w and the trace of K plus a diagonal."""
    Z = one_hot(y)
    Z /= np.sqrt(Z.sum(axis=0))
    explained = float(np.vdot(Z, K @ Z) + diagonal @ (Z**2).sum(axis=1))
    trace = float(K.diagonal().sum() + diagonal.sum())
    return explained - float(K.sum() + diagonal.sum()) / len(y), trace - explained, trace


@component
class ClassSeparability(_Separability):
    """Scatter between labels over scatter within them; it often has no best sigma but the largest."""

    name: ClassVar[str] = "class_separability"


@component
class ClassSeparabilityC(_Separability):
    """Class separability of K + I/C."""

    name: ClassVar[str] = "class_separability_c"
    is_adjusted: ClassVar[bool] = True


@component
class RegularisedSeparability(_Separability):
    """Class separability with a part of the trace added below the line, so that it fades as sigma grows."""

    name: ClassVar[str] = "regularised_separability"
    epsilon: float = parameter(0.01, above=0.0, scale="log", search=(1e-4, 1.0), help="part of tr K that is added")


@component
class RegularisedSeparabilityC(_Separability):
    """Regularised separability of K + I/C."""

    name: ClassVar[str] = "regularised_separability_c"
    is_adjusted: ClassVar[bool] = True
    epsilon: float = parameter(0.01, above=0.0, scale="log", search=(1e-4, 1.0), help="part of the trace that is added")


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Class separability, its regularised form, and both C-adjusted."""
    return [ClassSeparability, ClassSeparabilityC, RegularisedSeparability, RegularisedSeparabilityC]

"""Bounds of the leave-one-out error that one trained machine gives (specification 11.3, 11.4)."""

from __future__ import annotations

from typing import ClassVar, Literal

from audioclass.contracts import Criterion, Dependence, Loss
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.radius import delta
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

SUPPORTS = 1e-8  # α above this part of the largest


@component
class SupportVectors:
    """Share of examples that support the machine: where one of them is free, no other can be a leave-one-out error."""

    name: ClassVar[str] = "support_vectors"
    judges: ClassVar[frozenset[Loss]] = frozenset({"hinge", "squared_hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})

    def value(self, problem: SelectionProblem) -> float:
        """In [0, 1]; 0 where the machine is constant."""
        return float((problem.alpha > SUPPORTS * problem.alpha.max()).mean())


@component
class XiAlpha:
    """Joachims' bound: share of examples with 2α R_Δ² + ξ ≥ 1, at most `support_vectors`.

    It bounds the leave-one-out errors where the machine has a free support vector, and still has one without the
    example. With a small C and sides of about the same size it may have none: of 20 examples against 20 all can be lost
    where the bound is 0.65.
    """

    name: ClassVar[str] = "xi_alpha"
    judges: ClassVar[frozenset[Loss]] = frozenset({"hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})
    radius: str = parameter(
        "delta", choices=("delta", "ball"), help="R_Δ², or 2R² of the smallest ball, which is wider"
    )

    def value(self, problem: SelectionProblem) -> float:
        """In [0, 1]."""
        reach = 2 * delta(problem.K) if self.radius == "delta" else 4 * problem.ball.squared_radius
        supports = problem.alpha > SUPPORTS * problem.alpha.max()
        return float((supports & (problem.alpha * reach + problem.slacks >= 1)).mean())


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """The number of support vectors, and ξα."""
    return [SupportVectors, XiAlpha]

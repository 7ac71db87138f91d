"""Radius-margin: R²‖w‖²/n of the machine with squared slacks, both under K + Λ, or without slacks, under K (11.5).

‖w‖² is twice the optimum of a hard-margin machine, so the envelope theorem gives its derivatives:

    ∂(R²‖w‖²) = −R² Σ α_i α_j y_i y_j ∂k_ij + ‖w‖² (Σ β_i ∂k_ii − β'∂K β).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence, Loss
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.radius import Ball
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class RadiusMargin:
    """Squared radius over squared margin for each example; four times it bounds the leave-one-out error."""

    name: ClassVar[str] = "radius_margin"
    judges: ClassVar[frozenset[Loss]] = frozenset({"squared_hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})

    def value(self, problem: SelectionProblem) -> float:
        """R²‖w‖²/n."""
        return _ball(problem).squared_radius * float(problem.alpha.sum()) / len(problem.y)

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter and, where there are slacks, by C."""
        moves = {name: self._move(problem, G) for name, G in problem.gradients.items()}
        by_C = 0.0 if problem.loss == "hard_margin" else self._move(problem, np.diag(-problem.ridge / problem.C))
        return moves | {"C": by_C}

    def _move(self, problem: SelectionProblem, G: np.ndarray) -> float:
        signed, ball = problem.alpha * problem.y, _ball(problem)
        by_margin = -ball.squared_radius * (signed @ G @ signed)
        by_radius = problem.alpha.sum() * (ball.beta @ G.diagonal() - ball.beta @ G @ ball.beta)
        return float((by_margin + by_radius) / len(problem.y))


def _ball(problem: SelectionProblem) -> Ball:
    return problem.ball if problem.loss == "hard_margin" else problem.l2_ball


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """The radius-margin bound."""
    return [RadiusMargin]

"""Span estimates of the leave-one-out error of a support vector machine, from one training (specification 11.6)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence, Loss
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.spans import span_scores
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Span:
    """Share of examples that would be lost if leaving one out left the set of support vectors as it is."""

    name: ClassVar[str] = "span"
    judges: ClassVar[frozenset[Loss]] = frozenset({"hinge", "squared_hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})

    def value(self, problem: SelectionProblem) -> float:
        """#{α S² > y f} / n."""
        return float((_margins(problem, 0.0) < 0).mean())


@component
class SmoothedSpan:
    """The span estimate with its steps made smooth: a span that does not jump, a sigmoid in place of a count."""

    name: ClassVar[str] = "smoothed_span"
    judges: ClassVar[frozenset[Loss]] = frozenset({"hinge", "squared_hinge", "hard_margin"})
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset({"C"})
    eta: float = parameter(0.1, above=0.0, scale="log", search=(1e-3, 10.0), help="what combinations pay for λ²/α")
    steepness: float = parameter(5.0, above=0.0, scale="log", search=(1.0, 50.0), help="of the sigmoid")

    def value(self, problem: SelectionProblem) -> float:
        """Mean of 1/(1 + exp(−steepness (α S² − y f)))."""
        return float(np.exp(-np.logaddexp(0, self.steepness * _margins(problem, self.eta))).mean())


def _margins(problem: SelectionProblem, eta: float) -> np.ndarray:
    """(n,): y f − α S², in the space of K + Λ with squared slacks."""
    if problem.loss is None:
        raise ValueError("the span needs a support vector machine, the trainer of the problem states no loss")
    return np.asarray(
        problem.y
        * span_scores(problem.K, problem.machine, problem.y, problem.C, problem.task_weights, eta, problem.loss)
    )


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """The span, as a count and smoothed."""
    return [Span, SmoothedSpan]

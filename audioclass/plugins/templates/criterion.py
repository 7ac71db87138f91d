"""Contrast: the mean of y_i y_j K_ij, similarity within the two sides minus similarity between them."""

from typing import ClassVar, Literal

from audioclass import component, hookimpl
from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.problem import SelectionProblem


@component
class ExampleName:
    """How much more alike examples of one side are than examples of different sides."""

    name: ClassVar[str] = "example_name"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset()

    def value(self, problem: SelectionProblem) -> float:
        return float(problem.y @ problem.K @ problem.y) / len(problem.y) ** 2

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        return {name: float(problem.y @ G @ problem.y) / len(problem.y) ** 2 for name, G in problem.gradients.items()}


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    return [ExampleName]

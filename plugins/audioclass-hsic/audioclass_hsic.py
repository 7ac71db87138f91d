"""Hilbert-Schmidt independence criterion (Gretton et al. 2005): y'HKHy / (n − 1)², H = I − 11'/n."""

from typing import ClassVar, Literal

import numpy as np

from audioclass import component, hookimpl
from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.problem import SelectionProblem


@component
class HSIC:
    """How much the kernel knows of the sides: 0 where they are independent of it."""

    name: ClassVar[str] = "hsic"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    depends_on: ClassVar[frozenset[Dependence]] = frozenset()

    def value(self, problem: SelectionProblem) -> float:
        return self._product(problem.K, problem.y)

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        return {name: self._product(G, problem.y) for name, G in problem.gradients.items()}

    def _product(self, K: np.ndarray, y: np.ndarray) -> float:
        return float((y - y.mean()) @ K @ (y - y.mean())) / float((len(y) - 1) ** 2)


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    return [HSIC]

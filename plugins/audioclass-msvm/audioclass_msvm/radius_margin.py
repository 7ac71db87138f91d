"""The radius-margin bound of the Weston-Watkins machine as a criterion for two labels or more (specification 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Criterion, Dependence
from audioclass_msvm.bound import Bound, radius_margin_bound
from audioclass_msvm.solver import Problem, solve

if TYPE_CHECKING:
    from audioclass.criteria.problem import SelectionProblem

GAP = 1e-8  # relative; the constant K is made of ratios of coefficients


@component
class MulticlassRadiusMargin:
    """Bound on the leave-one-out errors of the Weston-Watkins machine with squared slacks, whatever will be trained.

    It is far above 1, but it orders kernels: for all labels of a direct strategy, or the two sides of a dichotomy. With
    squared slacks the machine is that without slacks on K + I/C (specification 3.2), which always exists. Without them
    C plays no part, and the value is NaN where no margin separates the labels. For three labels and more one
    coefficient near 0 makes the constant K, and with it the value, very large.
    """

    name: ClassVar[str] = "multiclass_radius_margin"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    takes_labels: ClassVar[bool] = True

    squared_slacks: bool = parameter(True, help="take K + I/C instead of K")

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """On C where slacks are squared."""
        return frozenset({"C"}) if self.squared_slacks else frozenset()

    def value(self, problem: SelectionProblem) -> float:
        """The bound over the number of examples; `problem.y` holds ±1 or any labels."""
        try:
            return self.bound(problem).value / len(problem.y)
        except ValueError:  # no margin, or one that rounding hides
            return float("nan")

    def bound(self, problem: SelectionProblem) -> Bound:
        """The bound with all its parts; a ValueError where no margin separates the labels."""
        y = np.unique(problem.y, return_inverse=True)[1]
        K = np.asarray(problem.K, dtype=np.float64)
        K = K + np.diag(problem.ridge) if self.squared_slacks else K
        margin_problem = Problem(K, y, np.full(len(y), np.inf), "sum", has_bias=True)
        return radius_margin_bound(margin_problem, solve(margin_problem, GAP))


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """The bound."""
    return [MulticlassRadiusMargin]

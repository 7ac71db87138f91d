"""What a criterion scores: a Gram matrix with its sides and C; machine, radius, leave-one-out when asked for, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from audioclass.criteria.least_squares import CentredInverse, HeldOut
from audioclass.criteria.radius import Ball, smallest_ball
from audioclass.problems import Machine, Task

Fit = Callable[[Task], Machine]
Shared = TypeVar("Shared")


@dataclass(frozen=True, eq=False)
class SelectionProblem:
    """What a criterion evaluates: a Gram matrix, y in ±1, C, and ∂K/∂θ for each kernel parameter θ.

    `parameters` are the kernel's own; `weights` multiply C (default: one), `groups` are codes of what is held out
    together (default: each example by itself) and `folds` the fold of each example. `svm` and `l2_svm` fit the machines
    with linear and with squared slacks for those criteria that need one. Gram matrix criteria take any labels as y.

    What is costly is computed when first asked for. What does not depend on `y`, such as the radius, is in a dictionary
    that problems made by `against` share with the first: it grows while the values stay as they are.
    """

    K: np.ndarray
    y: np.ndarray
    C: float = 1.0
    _: KW_ONLY
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    weights: np.ndarray = None  # type: ignore[assignment]  # never None: ones are put in its place below
    groups: np.ndarray = None  # type: ignore[assignment]  # never None either
    folds: np.ndarray | None = None
    svm: Fit | None = None
    l2_svm: Fit | None = None
    _shared: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.y)
        if self.K.shape != (n, n):
            raise ValueError(f"K has shape {self.K.shape} for {n} examples")
        if n == 0 or (self.y == self.y[0]).all():
            raise ValueError("y must hold examples of both sides")
        if not 0 < self.C < np.inf:
            raise ValueError(f"C={self.C} must be positive and finite")
        for name, default in (("weights", np.ones), ("groups", np.arange)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default(n))

    def against(self, y: np.ndarray, folds: np.ndarray | None = None) -> SelectionProblem:
        """The same examples and kernel for another dichotomy; what does not depend on y is shared."""
        other = replace(self, y=y, folds=folds)
        object.__setattr__(other, "_shared", self._shared)
        return other

    def restricted(self, rows: np.ndarray) -> SelectionProblem:
        """The problem of some of the examples, by indices or a mask; without gradients and folds."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return SelectionProblem(
            self.K[np.ix_(rows, rows)],
            self.y[rows],
            self.C,
            parameters=self.parameters,
            weights=self.weights[rows],
            groups=self.groups[rows],
            svm=self.svm,
            l2_svm=self.l2_svm,
        )

    @property
    def ridge(self) -> np.ndarray:
        """Λ_ii = 1/(C s_i): what squared slacks add to the diagonal of K; all derivatives by C are −Λ/C."""
        return np.asarray(1 / (self.C * self.weights))

    @cached_property
    def machine(self) -> Machine:
        """The machine with linear slacks on all examples."""
        return _fitted(self, self.svm, "svm")

    @cached_property
    def scores(self) -> np.ndarray:
        """Its scores of the examples, (n,)."""
        return self.machine.scores(self.K)

    @cached_property
    def alpha(self) -> np.ndarray:
        """Its multipliers, (n,): 0 for examples that do not support it."""
        return _multipliers(self.machine, self.y)

    @property
    def slacks(self) -> np.ndarray:
        """ξ_i = max(0, 1 − y_i f(x_i))."""
        return np.asarray(np.maximum(1 - self.y * self.scores, 0))

    @cached_property
    def l2_alpha(self) -> np.ndarray:
        """Multipliers of the machine with squared slacks, (n,); their sum is ‖w‖² under K + Λ."""
        return _multipliers(_fitted(self, self.l2_svm, "l2_svm"), self.y)

    @cached_property
    def lost(self) -> np.ndarray:
        """(n,) whether the machine without each example errs on it."""
        from audioclass.criteria.leave_one_out import leave_one_out_errors

        return leave_one_out_errors(self)

    @property
    def ball(self) -> Ball:
        """The smallest ball around the examples under K."""
        return self._once("ball", lambda: smallest_ball(self.K))

    @property
    def l2_ball(self) -> Ball:
        """The smallest ball under K + Λ."""
        return self._once("l2_ball", lambda: smallest_ball(self.K + np.diag(self.ridge)))

    @property
    def held_out_groups(self) -> HeldOut:
        """Least-squares machines without each group."""
        return self._once("groups", lambda: HeldOut.of(self._inverse, self.groups))

    @property
    def held_out_examples(self) -> HeldOut:
        """Least-squares machines without each example."""
        return self._once("examples", lambda: HeldOut.of(self._inverse, np.arange(len(self.y))))

    @property
    def _inverse(self) -> CentredInverse:
        return self._once("inverse", lambda: CentredInverse.of(self.K, self.ridge))

    def _once(self, name: str, work: Callable[[], Shared]) -> Shared:
        if name not in self._shared:
            self._shared[name] = work()
        value: Shared = self._shared[name]
        return value


def _fitted(problem: SelectionProblem, fit: Fit | None, name: str) -> Machine:
    if fit is None:
        raise ValueError(f"the criterion needs a machine, the problem was given no {name} to fit it with")
    return fit(Task(problem.y, problem.C, problem.weights, np.random.default_rng(0), K=problem.K))


def _multipliers(machine: Machine, y: np.ndarray) -> np.ndarray:
    alpha = np.zeros(len(y))
    alpha[machine.support] = machine.coefficients * y[machine.support]
    return alpha

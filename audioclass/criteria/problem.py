"""What a criterion scores: a Gram matrix with its sides and C, and how training will fit and hold out; all once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from audioclass.contracts import DirectStrategy, Loss, StatesLoss, Trainer
from audioclass.criteria.dual import Dual
from audioclass.criteria.least_squares import CentredInverse, HeldOut
from audioclass.criteria.radius import Ball, smallest_ball
from audioclass.numerics import balanced_labels, balanced_sides
from audioclass.problems import FeatureMachine, LabelTask, Machine, Task

Shared = TypeVar("Shared")


@dataclass(frozen=True, eq=False)
class SelectionProblem:
    """What a criterion evaluates: a Gram matrix, y, C, and ∂K/∂θ for each kernel parameter θ.

    `y` is in ±1 for a dichotomy, else it holds labels of any names. `parameters` are the kernel's own; `weights` say
    how much each example counts (default: one), `groups` are codes of what is held out together (default: each example
    by itself) and `folds` the fold of each example. `window` is the σ of exp(−‖x−y‖²/(2σ²)), where the kernel is that.

    `learner`, `balanced` and `hold_out` are those of the training that follows: what fits the machine, whether both
    sides, or all labels, weigh the same in it, and the held-out scores of a problem. Without `hold_out` these are those
    of the least-squares machine, in closed form.

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
    window: float | None = None
    learner: Trainer | DirectStrategy | None = None
    balanced: bool = False
    hold_out: Callable[[SelectionProblem], np.ndarray] | None = None
    _shared: dict[tuple[str, bytes], Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.y)
        if self.K.shape != (n, n):
            raise ValueError(f"K has shape {self.K.shape} for {n} examples")
        if n == 0 or (self.y == self.y[0]).all():
            raise ValueError("y must hold examples of both sides, or of two labels at least")
        if not 0 < self.C < np.inf:
            raise ValueError(f"C={self.C} must be positive and finite")
        for name, default in (("weights", np.ones), ("groups", np.arange)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default(n))

    def against(self, y: np.ndarray, folds: np.ndarray | None = None, **method: Any) -> SelectionProblem:
        """The same examples and kernel for another dichotomy, or another method; what depends on neither is shared."""
        other = replace(self, y=y, folds=folds, **method)
        object.__setattr__(other, "_shared", self._shared)
        return other

    def restricted(self, rows: np.ndarray) -> SelectionProblem:
        """The problem of some of the examples, by indices or a mask; without gradients and folds."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(
            self,
            K=self.K[np.ix_(rows, rows)],
            y=self.y[rows],
            gradients={},
            weights=self.weights[rows],
            groups=self.groups[rows],
            folds=None,
        )

    @cached_property
    def is_dichotomy(self) -> bool:
        """Whether y holds two sides in ±1."""
        return set(np.unique(self.y)) == {-1, 1}

    @cached_property
    def labels(self) -> np.ndarray:
        """The index of each example's label, (n,), in the order of their names."""
        return np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def targets(self) -> np.ndarray:
        """What least squares fits: y of a dichotomy; of labels (n, n_labels), +1 for its own and −1 for the others."""
        return self.y if self.is_dichotomy else np.asarray(2.0 * np.eye(self.labels.max() + 1)[self.labels] - 1)

    @property
    def loss(self) -> Loss | None:
        """That of the machine which will be trained, where it states one."""
        return self.learner.loss if isinstance(self.learner, StatesLoss) else None

    @cached_property
    def task_weights(self) -> np.ndarray:
        """What multiplies C for each example in training: its weight, after balance where training balances."""
        if not self.balanced:
            return self.weights
        if self.is_dichotomy:
            return balanced_sides(self.weights, self.y)
        return balanced_labels(self.weights, self.labels, int(self.labels.max()) + 1)

    @property
    def ridge(self) -> np.ndarray:
        """Λ_ii = 1/(C s_i): what squared slacks add to the diagonal of K; all derivatives by C are −Λ/C."""
        return np.asarray(1 / (self.C * self.task_weights))

    @cached_property
    def machine(self) -> Machine:
        """The machine that the learner fits on all examples."""
        return _fitted(self)

    @cached_property
    def scores(self) -> np.ndarray:
        """Its scores of the examples, (n,); (n, n_labels) of labels."""
        return self.machine.scores(self.K)

    @cached_property
    def alpha(self) -> np.ndarray:
        """Its multipliers, (n,): 0 for examples that do not support it.

        With squared slacks their sum is ‖w‖² under K + Λ, without slacks under K.
        """
        if self.machine.members is not None:
            raise ValueError(f"the criterion needs the multipliers of one machine, the problem was given {self._name}")
        alpha = np.zeros(len(self.y))
        alpha[self.machine.support] = self.machine.coefficients * self.y[self.machine.support]
        return alpha

    @cached_property
    def dual(self) -> Dual:
        """The dual of a machine of its loss, on all examples."""
        if self.loss is None:
            raise ValueError(f"the criterion needs a support vector machine, the problem was given {self._name}")
        return Dual.of(self.K, self.y, self.C, self.task_weights, self.loss)

    @property
    def slacks(self) -> np.ndarray:
        """ξ_i = max(0, 1 − y_i f(x_i))."""
        return np.asarray(np.maximum(1 - self.y * self.scores, 0))

    @cached_property
    def held_out_scores(self) -> np.ndarray:
        """(n,), or (n, n_labels): scores of each example by the machine of training without its group.

        NaN where a group cannot be held out.
        """
        if self.hold_out is None:
            return np.asarray(self.targets - self.held_out_groups.residuals(self.targets))
        return self.hold_out(self)

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
        return self._once("l2_ball", lambda: smallest_ball(self.K + np.diag(self.ridge)), self.task_weights)

    @property
    def held_out_groups(self) -> HeldOut:
        """Least-squares machines without each group."""
        return self._once("groups", lambda: HeldOut.of(self._inverse, self.groups), self.task_weights)

    @property
    def held_out_examples(self) -> HeldOut:
        """Least-squares machines without each example."""
        return self._once("examples", lambda: HeldOut.of(self._inverse, np.arange(len(self.y))), self.task_weights)

    @property
    def _name(self) -> str:
        return "no trainer" if self.learner is None else self.learner.name

    @property
    def _inverse(self) -> CentredInverse:
        return self._once("inverse", lambda: CentredInverse.of(self.K, self.ridge), self.task_weights)

    def _once(self, name: str, work: Callable[[], Shared], weights: np.ndarray | None = None) -> Shared:
        """What the work gave the first time; balance gives dichotomies over the same rows weights of their own."""
        key = (name, b"" if weights is None or not self.balanced else weights.tobytes())
        if key not in self._shared:
            self._shared[key] = work()
        value: Shared = self._shared[key]
        return value


def _fitted(problem: SelectionProblem) -> Machine:
    learner, K = problem.learner, problem.K
    if learner is None or learner.wants == "features":
        given = "no trainer" if learner is None else f"{learner.name}, which wants features"
        raise ValueError(f"the criterion needs a machine on the Gram matrix, the problem was given {given}")
    form: dict[str, Any] = {"K": K} if learner.wants == "gram" else {"entries": lambda i, j: K[np.ix_(i, j)]}
    rng, weights = np.random.default_rng(0), problem.task_weights
    if isinstance(learner, DirectStrategy):
        n_labels = int(problem.labels.max()) + 1
        machine = learner.fit(LabelTask(problem.labels, n_labels, problem.C, weights, rng, **form))
    else:
        machine = learner.fit(Task(problem.y, problem.C, weights, rng, **form))
    if isinstance(machine, FeatureMachine):
        raise ValueError(f"{learner.name} gave a machine over features, the criterion needs one on the Gram matrix")
    return machine

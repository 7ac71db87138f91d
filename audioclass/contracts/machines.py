"""Kernels, the trainers of binary machines, and calibrators of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from audioclass.contracts.named import Named

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from audioclass.problems import FeatureMachine, LabelTask, Machine, Task

Fitted = Mapping[str, float | list[float]]  # what a calibrator or a combination learnt, as plain numbers
Wants = Literal["gram", "entries", "features"]
Loss = Literal["hinge", "squared_hinge", "hard_margin", "squared"]


@runtime_checkable
class StatisticKernel(Named, Protocol):
    """A function of a pairwise statistic of the examples.

    `statistic` is the name of a shared one (`dot`, `squared_distance`, `mean_squared_distance`) or a static method
    (X, Y) -> S; either way it is computed once and every parameter value reads it.
    """

    @property
    def statistic(self) -> str | Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """The name of a shared statistic, or a function of its own."""

    def of(self, S: np.ndarray) -> np.ndarray:
        """The Gram matrix from the statistic, entry by entry."""


@runtime_checkable
class GramKernel(Named, Protocol):
    """A kernel that is no function of a pairwise statistic: it works everywhere, only slower."""

    def gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The Gram matrix, (len(X), len(Y))."""


Kernel = StatisticKernel | GramKernel


@runtime_checkable
class HasGradients(Protocol):
    """A kernel that knows its derivatives."""

    def gradients(self, S: np.ndarray, K: np.ndarray) -> Mapping[str, np.ndarray]:
        """∂K/∂θ for each parameter θ that can be climbed, entry by entry like K."""


@runtime_checkable
class HasMinusOne(Protocol):
    """A kernel that is 1 where the examples are the same, and knows what is missing to it elsewhere.

    Wide kernels are close to 1 everywhere, and single precision keeps little of what tells their values apart.
    """

    def minus_one(self, S: np.ndarray) -> np.ndarray:
        """K − 1, exact also where K itself would be rounded to 1."""


@runtime_checkable
class StatesMercer(Protocol):
    """A kernel that says whether every Gram matrix of its parameters is positive semi-definite."""

    @property
    def is_mercer(self) -> bool:
        """False where some set of examples has a negative eigenvalue."""


class Trainer(Named, Protocol):
    """Fits one dichotomy."""

    @property
    def wants(self) -> Wants:
        """What it needs of the examples: the Gram matrix, entries of it, or the features."""

    def fit(self, task: Task) -> Machine | FeatureMachine:
        """A kernel machine where the trainer wants a Gram matrix or entries of it, else named arrays."""


@runtime_checkable
class ScoresFeatures(Protocol):
    """A trainer or direct strategy that wants features evaluates its own arrays."""

    def scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """Signed scores, (n,) for a dichotomy and (n, n_labels) for all labels."""


@runtime_checkable
class HoldsOutGroups(Protocol):
    """A trainer that knows the scores of held-out groups without training again, for many dichotomies at once."""

    def fit_and_hold_out(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> tuple[Machine, np.ndarray]:
        """One machine with an output for each column of Y, (n, n_dichotomies) in ±1, and the held-out scores.

        Those are (n, n_dichotomies): row i as scored by the machine that never saw the group of example i.
        """


class GroupsHeldOut(Protocol):
    """A system that was solved once, for any dichotomies over its examples and any groups of them."""

    def machine(self, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies) in ±1."""

    def held_out(self, Y: np.ndarray, groups: np.ndarray, without: np.ndarray | None = None) -> np.ndarray:
        """(n, n_dichotomies): row i as scored by the machine that never saw the group of example i.

        Nor has it seen the examples `without`, a mask of whole groups, which are scored by the machine without them.
        """


@runtime_checkable
class Factorises(Protocol):
    """A trainer that holds out groups, whose one factorisation also tells of machines without whole folds of them."""

    def factorise(self, task: Task) -> GroupsHeldOut:
        """The system of a task, of whose own sides nothing but the weights counts."""


@runtime_checkable
class HoldsOutOfBag(Protocol):
    """A trainer or direct strategy of many members, each of which leaves some groups out of what it sees."""

    def fit_out_of_bag(self, task: Task | LabelTask, groups: np.ndarray) -> tuple[Machine | FeatureMachine, np.ndarray]:
        """The machine, and its scores of the task's rows, each by the members that never saw the row's group.

        (n,) for a dichotomy, (n, n_labels) for all labels; NaN where every member saw the group.
        """


@runtime_checkable
class HasSpan(Protocol):
    """A trainer whose machine is the L1 optimum on its Gram matrix: its span tells the scores of held-out groups."""

    @property
    def has_span(self) -> bool:
        """True where the span may be used."""


@runtime_checkable
class StatesLoss(Protocol):
    """A trainer whose machine is the optimum of a known loss on its Gram matrix: the criteria of that loss judge it."""

    @property
    def loss(self) -> Loss:
        """min ½‖w‖² + C Σ s_i times the loss of each example, half of it where it is a square; without loss, hard."""


class Calibrator(Named, Protocol):
    """A map from the scores of a dichotomy to the probability of its positive side."""

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """The map, as plain numbers, from held-out scores and y in ±1."""

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """P(y = +1 | score), in [0, 1] and never falling as the score rises."""


@runtime_checkable
class CalibratesMany(Protocol):
    """A calibrator for which many dichotomies cost less together than one by one."""

    def fit_many(self, scores: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list[Fitted]:
        """What `fit` gives for each column of scores (n, n_dichotomies) over the examples that Y does not hold at 0."""

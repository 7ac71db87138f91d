"""Criteria that judge kernels and C, and searches for the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from audioclass.contracts.machines import Loss
from audioclass.contracts.named import Named

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from audioclass.criteria.problem import SelectionProblem
    from audioclass.problems import Found, Objective, Space

Dependence = Literal["C", "folds", "groups"]


class Criterion(Named, Protocol):
    """A number that says how good a kernel is for what will be trained with it.

    The problem knows the trainer, the weights and the held-out method of the training that follows.
    """

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which values are preferred."""

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """What of a problem its value depends on besides K, y and weights; searches move C only where it is named."""

    def value(self, problem: SelectionProblem) -> float:
        """The number; NaN where the problem cannot be evaluated."""


@runtime_checkable
class HasGradient(Protocol):
    """A criterion that can be climbed."""

    def gradient(self, problem: SelectionProblem) -> Mapping[str, float]:
        """Its derivative by each kernel parameter in `problem.gradients`, and by `C` where it depends on it."""


@runtime_checkable
class JudgesLosses(Protocol):
    """A criterion that is defined for the machines of some losses only; with another trainer it is refused."""

    @property
    def judges(self) -> frozenset[Loss]:
        """The losses of the machines it judges; none of them fits all labels at once."""


@runtime_checkable
class NeedsWindow(Protocol):
    """A criterion that may be defined for Gaussian kernels only; where none competes, it is refused."""

    @property
    def needs_window(self) -> bool:
        """Whether it needs `problem.window`, which only a Gaussian kernel has."""


@runtime_checkable
class ClimbsLosses(Protocol):
    """A criterion that can be climbed for the machines of some losses only."""

    @property
    def climbs(self) -> frozenset[Loss]:
        """The losses of the machines that its derivatives are known for."""


@runtime_checkable
class JoinsMachines(Protocol):
    """A criterion that judges machines of each label against the rest by what they say together of the labels."""

    @property
    def joins(self) -> frozenset[Loss]:
        """The losses of these machines; the problem then has labels and their trainer in the place of two sides."""


@runtime_checkable
class TakesLabels(Protocol):
    """A criterion of all labels at once; others get each label against the rest where a strategy fits all at once."""

    @property
    def takes_labels(self) -> bool:
        """True where `y` may hold any number of labels."""


class Search(Named, Protocol):
    """Walks a space to the smallest value of an objective."""

    @property
    def needs_gradient(self) -> bool:
        """Whether the objective must have a gradient."""

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """The best point with the whole trace; a ValueError where every value is NaN."""

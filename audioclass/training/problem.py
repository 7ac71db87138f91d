"""One machine to be trained, for the two sides of a dichotomy or for all labels at once: its rows and what fits it."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from audioclass.contracts import DirectStrategy, HoldsOutOfBag, Kernel, ScoresFeatures, Trainer, Wants
from audioclass.numerics import balanced_labels, balanced_sides
from audioclass.parameters import parameter_values
from audioclass.problems import Dichotomy, FeatureMachine, LabelTask, Machine, Task
from audioclass.training.examples import Examples, digest_of

AnyMachine = Machine | FeatureMachine
ROWS_TOGETHER = 4096  # whose scores are computed at a time: their Gram matrix may be the largest thing in memory


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(ABC):
    """Some of the examples with their targets, weights and groups, and the kernel and C of the machine.

    `rows` are indices of the examples; `y`, `weights` and `groups` are theirs. Where it is `balanced`, both sides, or
    all labels, weigh the same in sum, whichever rows are fitted. All randomness starts from `seed`.
    """

    rows: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    kernel: Kernel
    C: float
    seed: int
    balanced: bool = True

    in_sample_note: ClassVar[str]  # where no group can be held out

    @property
    @abstractmethod
    def learner(self) -> Trainer | DirectStrategy:
        """What fits the machine."""

    @abstractmethod
    def task_weights(self, inside: np.ndarray) -> np.ndarray:
        """What multiplies C for each of the rows inside a mask."""

    @abstractmethod
    def task(self, examples: Examples, inside: np.ndarray, fold: int | None) -> Task | LabelTask:
        """What the learner is given: the rows inside a mask, with its own seed for each fold that is left out."""

    @abstractmethod
    def fit(self, examples: Examples, inside: np.ndarray, fold: int | None) -> AnyMachine:
        """The machine on the rows inside a mask, its support as indices of all examples."""

    @property
    def everything(self) -> np.ndarray:
        """The mask of all rows."""
        return np.ones(len(self.rows), bool)

    def fit_out_of_bag(self, examples: Examples) -> tuple[AnyMachine, np.ndarray]:
        """The machine on all rows, and the scores of each by the members that never saw its group."""
        if not isinstance(self.learner, HoldsOutOfBag):
            raise TypeError(f"{self.learner.name} has no members that leave groups out")
        machine, scores = self.learner.fit_out_of_bag(self.task(examples, self.everything, None), self.groups)
        return over_examples(machine, self.rows), scores

    def scores(self, machine: AnyMachine, examples: Examples, rows: np.ndarray) -> np.ndarray:
        """(n,) scores of examples for a dichotomy, (n, n_labels) for all labels; the support are examples."""
        if isinstance(machine, FeatureMachine):
            if not isinstance(self.learner, ScoresFeatures):
                raise TypeError(f"{self.learner.name} gave a machine over features that it cannot score")
            return self.learner.scores(machine, examples.statistics.X[rows])
        outputs = () if machine.members is not None else machine.coefficients.shape[1:]
        scores = np.empty((len(rows), *outputs))
        for first in range(0, len(rows), ROWS_TOGETHER):
            block = slice(first, first + ROWS_TOGETHER)
            K = examples.statistics.gram(self.kernel, rows[block], machine.support)
            scores[block] = machine.scores_by_support(K)
        return scores

    @cached_property
    def key(self) -> str:
        """All that a fit depends on besides the examples: the same key, the same machine."""
        named = [(part.name, parameter_values(part)) for part in (self.learner, self.kernel)]
        return repr((digest_of(self.rows, self.y, self.weights), named, self.C, self.seed, self.balanced))

    def _form(self, examples: Examples, rows: np.ndarray, wants: Wants) -> dict[str, Any]:
        """Rows as the learner wants them: a Gram matrix, a function that gives its entries, or features."""
        statistics = examples.statistics
        if wants == "gram":
            return {"K": statistics.gram(self.kernel, rows)}
        if wants == "entries":
            return {"entries": lambda i, j: statistics.gram(self.kernel, rows[i], rows[j])}
        return {"X": statistics.X[rows]}


@dataclass(frozen=True, eq=False, kw_only=True)
class DichotomyProblem(Problem):
    """The examples of a dichotomy, `y` the side of each in ±1."""

    trainer: Trainer

    in_sample_note: ClassVar[str] = "calibrated on its own training scores: a side has a single group"

    @classmethod
    def of(
        cls,
        dichotomy: Dichotomy,
        examples: Examples,
        *,
        kernel: Kernel,
        C: float,
        trainer: Trainer,
        seed: int = 0,
        importance: np.ndarray | None = None,
    ) -> DichotomyProblem:
        """The rows of both sides; `importance` of windows multiplies their weights and leaves out those of 0."""
        y, weights = examples.to_rows(examples.y), examples.to_rows(examples.weights)
        positive, negative = np.isin(y, dichotomy.positive), np.isin(y, dichotomy.negative)
        if importance is not None:
            importance = examples.to_rows(importance)
            positive, negative, weights = positive & (importance > 0), negative & (importance > 0), weights * importance
        if not positive.any() or not negative.any():
            side = dichotomy.negative if positive.any() else dichotomy.positive
            counts = "" if importance is None else " counts in this round"
            where = f"dichotomy {dichotomy.positive} against {dichotomy.negative}"
            raise ValueError(f"{where}: no example of labels {side}{counts}")
        rows = np.flatnonzero(positive | negative)
        return cls(
            rows=rows,
            y=np.where(positive, 1, -1)[rows],
            weights=weights[rows],
            groups=examples.to_rows(examples.groups)[rows],
            kernel=kernel,
            C=C,
            seed=seed,
            trainer=trainer,
        )

    @property
    def learner(self) -> Trainer:
        """The trainer."""
        return self.trainer

    def task_weights(self, inside: np.ndarray) -> np.ndarray:
        """The rows' own, or n/(2 n_side) times as much."""
        weights = self.weights[inside]
        return balanced_sides(weights, self.y[inside]) if self.balanced else weights

    def task(self, examples: Examples, inside: np.ndarray, fold: int | None) -> Task:
        """The two sides."""
        rng = np.random.default_rng([self.seed, self._rows_number, 0 if fold is None else fold + 1])
        form = self._form(examples, self.rows[inside], self.trainer.wants)
        return Task(self.y[inside], self.C, self.task_weights(inside), rng, **form)

    def shared_task(self, examples: Examples) -> Task:
        """For all dichotomies over these rows with the same weights at once."""
        rng = np.random.default_rng([self.seed, self._rows_number])
        form = self._form(examples, self.rows, self.trainer.wants)
        return Task(self.y, self.C, self.task_weights(self.everything), rng, **form)

    def fit(self, examples: Examples, inside: np.ndarray, fold: int | None) -> AnyMachine:
        """By the trainer."""
        return over_examples(self.trainer.fit(self.task(examples, inside, fold)), self.rows[inside])

    @cached_property
    def _rows_number(self) -> int:
        """A number of the rows: dichotomies over the same rows draw the same landmarks, and share them."""
        return int.from_bytes(hashlib.blake2b(self.rows.tobytes(), digest_size=8).digest())


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelsProblem(Problem):
    """All examples, `y` the label index of each."""

    n_labels: int
    strategy: DirectStrategy

    in_sample_note: ClassVar[str] = "combined by its own training scores: a label has a single group"

    @classmethod
    def of(
        cls,
        examples: Examples,
        *,
        n_labels: int,
        kernel: Kernel,
        C: float,
        strategy: DirectStrategy,
        seed: int = 0,
        balanced: bool = True,
    ) -> LabelsProblem:
        """Every example takes part."""
        return cls(
            rows=np.arange(examples.n_rows),
            y=examples.to_rows(examples.y),
            weights=examples.to_rows(examples.weights),
            groups=examples.to_rows(examples.groups),
            kernel=kernel,
            C=C,
            seed=seed,
            balanced=balanced,
            n_labels=n_labels,
            strategy=strategy,
        )

    @property
    def learner(self) -> DirectStrategy:
        """The strategy."""
        return self.strategy

    def task_weights(self, inside: np.ndarray) -> np.ndarray:
        """The rows' own, or with the same sum for every label."""
        weights = self.weights[inside]
        return balanced_labels(weights, self.y[inside], self.n_labels) if self.balanced else weights

    def task(self, examples: Examples, inside: np.ndarray, fold: int | None) -> LabelTask:
        """All labels at once."""
        rng = np.random.default_rng([self.seed, 0 if fold is None else fold + 1])
        form = self._form(examples, self.rows[inside], self.strategy.wants)
        return LabelTask(self.y[inside], self.n_labels, self.C, self.task_weights(inside), rng, **form)

    def fit(self, examples: Examples, inside: np.ndarray, fold: int | None) -> AnyMachine:
        """By the strategy."""
        return over_examples(self.strategy.fit(self.task(examples, inside, fold)), self.rows[inside])


def over_examples(machine: AnyMachine, rows: np.ndarray) -> AnyMachine:
    """The machine with its support as indices of all examples instead of the task's rows."""
    if isinstance(machine, FeatureMachine):
        return machine
    return replace(machine, support=rows[machine.support])

"""One method, two components: a trainer of dichotomies and a direct strategy for all labels.

A method fits examples of labels 0..Q-1 into named arrays and gives each label a score, the logarithm of its posterior
where it has one. A dichotomy is then a problem of two labels, -1 the first and +1 the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from audioclass.calibrators.examples import number
from audioclass.contracts import Fitted, Wants
from audioclass.problems import FeatureMachine, LabelTask, Task
from audioclass.strategies.temperature import apply_temperature, fit_temperature

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Dataset:
    """The examples of a task that count, those of weight above 0, and `rows`, where they stand in it."""

    X: np.ndarray
    y: np.ndarray
    n_labels: int
    weights: np.ndarray
    rng: np.random.Generator
    rows: np.ndarray

    @classmethod
    def of(cls, task: Task | LabelTask) -> Dataset:
        """A dichotomy is two labels; a ValueError where a label has no example that counts."""
        if task.X is None:
            raise ValueError("the task holds a Gram matrix, this component wants features X")
        n_labels = getattr(task, "n_labels", 2)
        y = task.y if isinstance(task, LabelTask) else (task.y > 0).astype(int)
        rows = np.flatnonzero(task.weights > 0)
        missing = np.setdiff1d(np.arange(n_labels), y[rows])
        if len(missing):
            raise ValueError(f"label {missing[0]} has no example of weight above 0, at least 1 is needed")
        return cls(task.X[rows], y[rows], n_labels, task.weights[rows], task.rng, rows)


class Method(Protocol):
    """What the two kinds of component are made from."""

    def fit_labels(self, examples: Dataset) -> Arrays:
        """The fitted method as named arrays."""

    def scores_of_labels(self, arrays: Arrays, X: np.ndarray) -> np.ndarray:
        """A score for each label, (n, n_labels)."""

    def fit_labels_out_of_bag(self, examples: Dataset, groups: np.ndarray) -> tuple[Arrays, np.ndarray]:
        """The arrays, and the scores of the examples by what never saw their group, NaN where nothing is left."""


def smoothed_log(shares: np.ndarray, n_voters: float) -> np.ndarray:
    """Logarithms of label shares (n, Q) among so many voters and one more, who gives every label the same."""
    return np.asarray(np.log((n_voters * shares + 1 / shares.shape[1]) / (n_voters + 1)))


class OfDichotomies:
    """A method as a binary trainer: the score of +1 less that of -1."""

    wants: ClassVar[Wants] = "features"

    def fit(self: Method, task: Task) -> FeatureMachine:
        """Both sides as two labels."""
        return FeatureMachine(self.fit_labels(Dataset.of(task)))

    def scores(self: Method, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """The log-odds of +1 where the method has posteriors, (n,)."""
        return _difference(self.scores_of_labels(machine.arrays, X))


class OfAllLabels:
    """A method as a direct strategy: the softmax of its scores at one fitted temperature."""

    wants: ClassVar[Wants] = "features"

    def fit(self: Method, task: LabelTask) -> FeatureMachine:
        """All labels at once."""
        return FeatureMachine(self.fit_labels(Dataset.of(task)))

    def scores(self: Method, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """(n, n_labels)."""
        return self.scores_of_labels(machine.arrays, X)

    def fit_combination(self, scores: np.ndarray, y: np.ndarray) -> Fitted:
        """The temperature of the lowest log-loss on held-out scores."""
        return {"temperature": fit_temperature(scores, y)}

    def combine(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """The softmax of the scores over the temperature, 1 where none was fitted."""
        return apply_temperature(scores, number(fitted, "temperature") if fitted else 1.0)


class DichotomiesOutOfBag:
    """A method with held-out scores of its own, as a binary trainer."""

    def fit_out_of_bag(self: Method, task: Task, groups: np.ndarray) -> tuple[FeatureMachine, np.ndarray]:
        """The machine and the held-out score of each example, NaN for those of weight 0."""
        machine, scores = _fit_out_of_bag(self, task, groups)
        return machine, _difference(scores)


class AllLabelsOutOfBag:
    """A method with held-out scores of its own, as a direct strategy."""

    def fit_out_of_bag(self: Method, task: LabelTask, groups: np.ndarray) -> tuple[FeatureMachine, np.ndarray]:
        """The machine and the held-out scores (n, n_labels), NaN for examples of weight 0."""
        return _fit_out_of_bag(self, task, groups)


def _fit_out_of_bag(method: Method, task: Task | LabelTask, groups: np.ndarray) -> tuple[FeatureMachine, np.ndarray]:
    examples = Dataset.of(task)
    if len(groups) != len(task.y):
        raise ValueError(f"{len(groups)} groups for {len(task.y)} examples")
    arrays, held_out = method.fit_labels_out_of_bag(examples, groups[examples.rows])
    scores = np.full((len(task.y), examples.n_labels), np.nan)
    scores[examples.rows] = held_out
    return FeatureMachine(arrays), scores


def _difference(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores[:, 1] - scores[:, 0])

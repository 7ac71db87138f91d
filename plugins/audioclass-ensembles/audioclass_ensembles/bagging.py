"""Bagging: machines of any trainer, each fitted to another bag of examples, combined (14.1).

What is averaged is their scores, their votes or their probabilities, each a logistic map (Platt) of scores of what the
bag missed; votes and probabilities are turned into scores from −1 to 1. A mean of the scores of kernel machines is a
kernel machine: its coefficients are the means of theirs. Kernel machines that vote, or give probabilities, are one
machine of several columns over the same rows. An example that stands in a bag k times counts k times its weight.

A map that was fitted to what the bag missed has seen its labels. What a member says of it, held out, goes through maps
without a fifth of its groups each: on ESC-10 the log-loss was 0.13 with the one map, 0.28 on recordings not trained on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from audioclass import component, hookimpl, parameter, plugin_manager
from audioclass.calibrators.platt import Platt
from audioclass.contracts import ScoresFeatures, Trainer, Wants
from audioclass.errors import UsageError
from audioclass.parameters import parse_assignments
from audioclass.problems import Entries, FeatureMachine, Link, Machine, Members, Task
from audioclass_ensembles.bags import draw_bags

AnyMachine = Machine | FeatureMachine
ROWS_TOGETHER = 4096
N_FOLDS = 5  # of what a bag missed
LOGISTIC = "bagging_logistic"  # slope and offset of a member, among its arrays


@component
class Bagging:
    """Machines of one trainer, each on groups drawn with replacement, combined; steadier than one machine."""

    name: ClassVar[str] = "bagging"

    base: str = parameter("svm", help="the trainer of each member, any that is installed")
    settings: tuple[str, ...] = parameter((), help="its parameters, each a text NAME=VALUE")
    n_members: int = parameter(20, low=1, high=10_000, help="how many machines are averaged")
    combination: str = parameter(
        "score",
        choices=("score", "vote", "probability"),
        help="what is averaged: the members' scores, votes or probabilities",
    )

    def __post_init__(self) -> None:
        member = self.member  # a name or a setting that is wrong is refused now, not at the first task
        if isinstance(member, Bagging) and member.combination != "score" and member.wants != "features":
            raise self._refusal()

    @cached_property
    def member(self) -> Trainer:
        """The trainer that fits each bag."""
        manager = plugin_manager()
        settings = parse_assignments(manager.load("trainer", self.base), self.settings)
        trainer: Trainer = manager.make("trainer", self.base, settings)
        return trainer

    @property
    def wants(self) -> Wants:
        """What its members want."""
        return self.member.wants

    def fit(self, task: Task) -> AnyMachine:
        """The combination of machines on bags of single examples."""
        return self._mean(task, self._fit_members(task, self._bags(task, np.arange(len(task.y)))))

    def fit_out_of_bag(self, task: Task, groups: np.ndarray) -> tuple[AnyMachine, np.ndarray]:
        """The combination of machines on bags of groups, and of each example that of those that missed its group."""
        bags = self._bags(task, groups)
        machines = self._fit_members(task, bags)
        total, counts = np.zeros(len(task.y)), np.zeros(len(task.y))
        for machine, bag in zip(machines, bags, strict=True):
            for rows, unaware in self._unaware(machine, task, bag, groups):
                total[rows] += self._answers(unaware, task, rows)
                counts[rows] += 1
        scores = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
        return self._mean(task, machines), scores

    def scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """The mean of what the members say, where these want features."""
        members = [FeatureMachine(arrays) for arrays in _split(machine.arrays)]
        return np.asarray(np.mean([self._feature_answers(each, X) for each in members], axis=0))

    def _bags(self, task: Task, groups: np.ndarray) -> np.ndarray:
        """How often each example stands in each bag, (n_members, n)."""
        if len(groups) != len(task.y):
            raise ValueError(f"{len(groups)} groups for {len(task.y)} examples")
        rows = np.flatnonzero(task.weights > 0)
        bags = np.zeros((self.n_members, len(task.y)), int)
        bags[:, rows] = draw_bags(task.y[rows], groups[rows], self.n_members, task.rng)
        return bags

    def _fit_members(self, task: Task, bags: np.ndarray) -> list[AnyMachine]:
        """A machine for each bag, its support as rows of the whole task; its score is what it says."""
        seeds = task.rng.integers(2**63, size=len(bags))
        return [self._fit_member(task, bag, int(seed)) for bag, seed in zip(bags, seeds, strict=True)]

    def _fit_member(self, task: Task, bag: np.ndarray, seed: int) -> AnyMachine:
        rows = np.flatnonzero(bag)
        machine = self.member.fit(_restricted(task, rows, task.weights[rows] * bag[rows], np.random.default_rng(seed)))
        if isinstance(machine, FeatureMachine):
            return self._with_logistic(machine, task, bag) if self.combination == "probability" else machine
        if machine.members is not None:
            raise self._refusal()
        return self._linked(replace(machine, support=rows[machine.support]), task, bag)

    def _linked(self, machine: Machine, task: Task, bag: np.ndarray) -> AnyMachine:
        """The machine whose score is its vote, or twice its probability less 1; as it is where scores are averaged."""
        if self.combination == "score":
            return machine
        members = Members.plain(cast("Link", self.combination), 1)
        each = Machine(machine.support, machine.coefficients[:, None], np.array([float(machine.intercept)]), members)
        return self._with_logistic(each, task, bag) if self.combination == "probability" else each

    def _with_logistic(self, machine: AnyMachine, task: Task, bag: np.ndarray) -> AnyMachine:
        [logistic] = self._logistics(machine, task, bag, [np.zeros(len(bag), bool)])
        return _mapped(machine, logistic)

    def _unaware(
        self, machine: AnyMachine, task: Task, bag: np.ndarray, groups: np.ndarray
    ) -> Iterator[tuple[np.ndarray, AnyMachine]]:
        """What the bag missed, in parts, each with the member that has seen none of its labels, nor has its map."""
        is_missed = (bag == 0) & (task.weights > 0)
        if self.combination != "probability":
            yield np.flatnonzero(is_missed), machine
            return
        fold_of = np.full(len(bag), -1)
        fold_of[is_missed] = np.unique(groups[is_missed], return_inverse=True)[1] % N_FOLDS
        folds = [fold_of == fold for fold in range(fold_of.max(initial=-1) + 1)]
        for fold, logistic in zip(folds, self._logistics(machine, task, bag, folds), strict=True):
            yield np.flatnonzero(fold), _mapped(machine, logistic)

    def _logistics(
        self, machine: AnyMachine, task: Task, bag: np.ndarray, held: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Slope and offset of Platt's map from what its bag missed, without each of some masks of examples.

        From all others where that has one side. A member that knows nothing of what it missed gives all the same
        probability: that is no news to the user.
        """
        if not held:
            return []
        counted = np.flatnonzero(task.weights > 0)
        scores, y, columns = self._member_scores(machine, task, counted), task.y[counted], []
        for mask in held:
            is_taken = (bag[counted] == 0) & ~mask[counted]
            if len(np.unique(y[is_taken])) < 2:
                is_taken = ~mask[counted]
            columns.append(np.where(is_taken, y, 0))
        Y = np.stack(columns, axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = Platt().fit_many(np.broadcast_to(scores[:, None], Y.shape), Y, task.weights[counted])
        return [np.array([each["slope"], each["offset"]]) for each in fitted]

    def _answers(self, machine: AnyMachine, task: Task, rows: np.ndarray) -> np.ndarray:
        """What a member says of rows of a task: their scores, its votes in ±1, or twice its probabilities less 1."""
        if isinstance(machine, FeatureMachine):
            return self._feature_answers(machine, _features(task)[rows])
        scores = self._member_scores(machine, task, rows)
        return scores if machine.members is None else machine.members.combine(scores[:, None], np.zeros(1, int))[:, 0]

    def _feature_answers(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        scores = self._feature_scores(machine, X)
        if self.combination == "score":
            return scores
        if self.combination == "vote":
            return np.asarray(np.sign(scores))
        slope, offset = machine.arrays[LOGISTIC]
        return np.asarray(2 * Platt().probabilities(scores, {"slope": float(slope), "offset": float(offset)}) - 1)

    def _member_scores(self, machine: AnyMachine, task: Task, rows: np.ndarray) -> np.ndarray:
        """Before any link."""
        if isinstance(machine, FeatureMachine):
            return self._feature_scores(machine, _features(task)[rows])
        blocks = [rows[first : first + ROWS_TOGETHER] for first in range(0, len(rows), ROWS_TOGETHER)]
        parts = [_entries(task, block, machine.support) @ machine.coefficients.ravel() for block in blocks]
        return np.concatenate([*parts, np.empty(0)]) + float(np.ravel(machine.intercept)[0])

    def _feature_scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        if not isinstance(self.member, ScoresFeatures):
            raise TypeError(f"{self.base} gave a machine over features that it cannot score")
        arrays = {name: array for name, array in machine.arrays.items() if name != LOGISTIC}
        return self.member.scores(FeatureMachine(arrays), X)

    def _mean(self, task: Task, machines: Sequence[AnyMachine]) -> AnyMachine:
        if self.wants == "features":
            return FeatureMachine(_joined([each.arrays for each in machines if isinstance(each, FeatureMachine)]))
        expansions = [each for each in machines if isinstance(each, Machine)]
        if self.combination != "score":
            return _side_by_side(len(task.y), expansions)
        coefficients = np.zeros(len(task.y))
        for each in expansions:
            coefficients[each.support] += each.coefficients
        support = np.flatnonzero(coefficients)
        intercept = float(np.mean([float(each.intercept) for each in expansions]))
        return Machine(support, coefficients[support] / len(expansions), intercept)

    def _refusal(self) -> UsageError:
        return UsageError(
            f"bagging: base={self.base}: its machines have members that vote or give probabilities, which cannot be"
            " combined again; their combination must be score"
        )


def _mapped(machine: AnyMachine, logistic: np.ndarray) -> AnyMachine:
    """The member with slope and offset of Platt's map of its scores."""
    if isinstance(machine, FeatureMachine):
        return FeatureMachine({**machine.arrays, LOGISTIC: logistic})
    slope, offset = 0.0 - logistic  # Platt's are of the exponent
    return replace(machine, members=Members("probability", np.array([slope]), np.array([offset])))


def _side_by_side(n: int, machines: Sequence[Machine]) -> Machine:
    """The machine of all members, a column for each; they are combined as each of them says."""
    coefficients = np.zeros((n, len(machines)))
    for column, each in enumerate(machines):
        coefficients[each.support, column] = each.coefficients[:, 0]
    support = np.flatnonzero(coefficients.any(axis=1))
    intercepts = np.concatenate([np.ravel(each.intercept) for each in machines])
    members = Members.joined([each.members for each in machines if each.members is not None])
    return Machine(support, coefficients[support], intercepts, members)


def _restricted(task: Task, rows: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> Task:
    """The task of some of its rows, in the form it had."""
    return Task(
        y=task.y[rows],
        C=task.C,
        weights=weights,
        rng=rng,
        K=None if task.K is None else task.K[np.ix_(rows, rows)],
        X=None if task.X is None else task.X[rows],
        entries=None if task.entries is None else _restricted_entries(task.entries, rows),
    )


def _restricted_entries(entries: Entries, rows: np.ndarray) -> Entries:
    return lambda i, j: entries(rows[i], rows[j])


def _entries(task: Task, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if task.entries is not None:
        return task.entries(rows, columns)
    if task.K is None:
        raise ValueError("the task holds features, this trainer wants a Gram matrix or entries of it")
    return np.asarray(task.K[np.ix_(rows, columns)])


def _features(task: Task) -> np.ndarray:
    if task.X is None:
        raise ValueError("the task holds a Gram matrix, this trainer wants features X")
    return task.X


def _joined(members: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays of all members in one mapping, each under its member's number."""
    return {f"{i}_{name}": array for i, arrays in enumerate(members) for name, array in arrays.items()}


def _split(arrays: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """The inverse of `_joined`."""
    members: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays.items():
        number, _, name = key.partition("_")
        members.setdefault(number, {})[name] = array
    return list(members.values())


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [Bagging]

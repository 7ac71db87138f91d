"""Fit problems: a flat list of independent work items, and what they give put together for each problem.

Each item has its own seed, so the result does not depend on where or in how many processes the items are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from audioclass.run import Run
from audioclass.storage import Store, computed
from audioclass.training.examples import Examples, digest_of
from audioclass.training.held_out import ClosedForm, Folds, HeldOutScoring, InSample
from audioclass.training.parallel import map_on_one_thread
from audioclass.training.problem import AnyMachine, DichotomyProblem, Problem
from audioclass.training.results import FitResult, arrays_of, results_of


@dataclass(frozen=True, eq=False)
class FittedProblem:
    """The machine on all rows of a problem and their held-out scores, (n_rows,) or (n_rows, n_labels).

    `known` are the rows that could be held out; the scores of the others are NaN. `note` says where none could.
    """

    machine: AnyMachine
    scores: np.ndarray
    known: np.ndarray
    note: str = ""


class WorkItem(Protocol):
    """One fit, or several that share a factorisation."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Which problems it is about."""

    @property
    def key(self) -> str:
        """What its results depend on besides the examples."""

    def fit(self, examples: Examples) -> list[FitResult]:
        """A result for each of its problems."""


@dataclass(frozen=True, eq=False)
class FitMachine:
    """The machine of one problem, with held-out scores where its method knows them from this fit."""

    number: int
    problem: Problem
    scoring: HeldOutScoring

    @property
    def numbers(self) -> tuple[int, ...]:
        """One."""
        return (self.number,)

    @property
    def key(self) -> str:
        """Of the problem and its method."""
        return f"{self.scoring.name}\n{self.problem.key}"

    def fit(self, examples: Examples) -> list[FitResult]:
        """The machine, and scores or None."""
        return [FitResult(*self.scoring.fit(self.problem, examples))]


@dataclass(frozen=True, eq=False)
class FitTogether:
    """The machines of dichotomies over the same rows: one factorisation, and its closed form, serve them all."""

    numbers: tuple[int, ...]
    problems: tuple[DichotomyProblem, ...]
    scoring: ClosedForm

    @property
    def key(self) -> str:
        """Of all the problems: more columns may end in other digits."""
        return "\n".join([self.scoring.name, *(problem.key for problem in self.problems)])

    def fit(self, examples: Examples) -> list[FitResult]:
        """A machine with its scores for each."""
        return [FitResult(*fitted) for fitted in self.scoring.fit_together(self.problems, examples)]


@dataclass(frozen=True, eq=False)
class FitWithoutFold:
    """The machine of a problem without one of its folds, for the scores of that fold."""

    number: int
    problem: Problem
    scoring: Folds
    fold: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """One."""
        return (self.number,)

    @property
    def key(self) -> str:
        """Of the problem and of who is left out."""
        return f"without {self.fold} of {digest_of(self.scoring.fold_of)}\n{self.problem.key}"

    def fit(self, examples: Examples) -> list[FitResult]:
        """Scores alone: the machine has served."""
        return [FitResult(None, self.scoring.scores_without(self.fold, self.problem, examples))]


@dataclass(frozen=True, eq=False)
class _FromStore:
    """The work of an item, or what a store has of it from a run before; the same to the bit either way."""

    examples: Examples
    store: Store | None

    def __call__(self, item: WorkItem) -> list[FitResult]:
        return results_of(
            computed(
                self.store,
                lambda: f"{self.examples.fingerprint}\n{item.key}",
                lambda: arrays_of(item.fit(self.examples)),
            )
        )


def fit_problems(
    problems: Sequence[Problem],
    scorings: Sequence[HeldOutScoring],
    examples: Examples,
    run: Run,
    store: Store | None = None,
) -> list[FittedProblem]:
    """Every problem fitted and scored by its method, in their order; the caller holds `one_thread`."""
    items = work_items(problems, scorings)
    work = _FromStore(examples, store)
    results: list[list[FitResult]] = [[] for _ in problems]
    for item, fitted in zip(items, map_on_one_thread(run, "training", work, items), strict=True):
        for number, result in zip(item.numbers, fitted, strict=True):
            results[number].append(result)
    return [_put_together(*parts, examples) for parts in zip(problems, scorings, results, strict=True)]


def work_items(problems: Sequence[Problem], scorings: Sequence[HeldOutScoring]) -> list[WorkItem]:
    """What there is to fit: shared factorisations first, then each other machine followed by its folds."""
    together: dict[tuple[object, ...], list[int]] = {}
    alone: list[WorkItem] = []
    for number, (problem, scoring) in enumerate(zip(problems, scorings, strict=True)):
        if isinstance(scoring, ClosedForm):
            weights = problem.task_weights(problem.everything)
            shared = (problem.rows.tobytes(), weights.tobytes(), problem.kernel, problem.C)
            together.setdefault(shared, []).append(number)
            continue
        alone.append(FitMachine(number, problem, scoring))
        if isinstance(scoring, Folds):
            alone += [FitWithoutFold(number, problem, scoring, fold) for fold in scoring.trainable]
    return [*(_together(numbers, problems) for numbers in together.values()), *alone]


def _together(numbers: Sequence[int], problems: Sequence[Problem]) -> FitTogether:
    members = (problems[number] for number in numbers)
    return FitTogether(tuple(numbers), tuple(p for p in members if isinstance(p, DichotomyProblem)), ClosedForm())


def _put_together(
    problem: Problem, scoring: HeldOutScoring, results: Sequence[FitResult], examples: Examples
) -> FittedProblem:
    """The machine on all rows, whose result comes first, and scores of the same fit or of the folds that follow."""
    machine, scores = results[0].machine, results[0].scores
    if machine is None:
        raise ValueError("the fit of all rows gave no machine")
    if isinstance(scoring, Folds):
        scores = scoring.joined([result.scores for result in results[1:] if result.scores is not None])
    known = np.zeros(len(problem.rows), bool) if scores is None else _are_finite(scores)
    if scores is None or len(np.unique(problem.y[known])) < len(np.unique(problem.y)):
        # Every bag held a group that a side cannot do without: scores of its own training are all there is.
        scores = problem.scores(machine, examples, problem.rows)
        return FittedProblem(machine, scores, problem.everything, problem.in_sample_note)
    return FittedProblem(machine, scores, known, problem.in_sample_note if isinstance(scoring, InSample) else "")


def scores_of_examples(
    problem: Problem, fitted: FittedProblem, examples: Examples, *, everywhere: bool = True
) -> np.ndarray:
    """The held-out score of every window, (n,) or (n, n_labels).

    Rows that could not be held out have the score of the machine itself. So have, with `everywhere`, examples that take
    no part in the problem, whom the machine never saw; else NaN.
    """
    scores = np.full((examples.n_rows, *fitted.scores.shape[1:]), np.nan)
    scores[problem.rows] = fitted.scores
    missing = np.flatnonzero(~_are_finite(scores)) if everywhere else problem.rows[~fitted.known]
    if len(missing):
        scores[missing] = problem.scores(fitted.machine, examples, missing)
    return examples.to_windows(scores)


def known_windows(
    problem: Problem, fitted: FittedProblem, examples: Examples
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The held-out scores of the windows of a problem that could be held out, with their targets and weights."""
    known, rows = fitted.known, problem.rows[fitted.known]
    scores = np.full((examples.n_rows, *fitted.scores.shape[1:]), np.nan)
    scores[rows] = fitted.scores[known]
    is_first = np.isin(rows, examples.firsts)
    of_windows = examples.to_windows(scores)[examples.windows_of(rows[is_first])]
    return of_windows, problem.y[known][is_first], problem.weights[known][is_first]


def _are_finite(scores: np.ndarray) -> np.ndarray:
    """Which rows hold no NaN, for one score or several a row."""
    return np.asarray(np.isfinite(scores).reshape(len(scores), -1).all(axis=1))

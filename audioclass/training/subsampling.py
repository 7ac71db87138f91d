"""The rows that a choice of kernels looks at: a few, spread evenly, with what is fitted and held out among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import JoinsMachines, StatesLoss, TakesLabels
from audioclass.criteria.judging import check_judges
from audioclass.problems import Dichotomy
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import count_sets, problem_for
from audioclass.training.direct import labels_problem_for
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.held_out import ClosedForm, HeldOutScoring
from audioclass.training.objective import SelectionTarget
from audioclass.training.problem import Problem
from audioclass.training.selection_scores import SampleHoldOut


@dataclass(frozen=True, eq=False)
class Subsample:
    """Rows that are looked at for the targets of some `numbers`, with their weights; targets have places among them."""

    rows: np.ndarray
    weights: np.ndarray
    targets: tuple[SelectionTarget, ...]
    numbers: tuple[int, ...]


def subsamples_of(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Subsample]:
    """A few rows for each dichotomy, or for all that share a choice together."""
    together: dict[object, list[int]] = {}
    for number, dichotomy in enumerate(dichotomies):
        counted = b"" if importance is None else importance[:, number].tobytes()
        shared: dict[str, object] = {
            "node": number,
            "level": None if levels is None else levels[number],
            "shared": frozenset(dichotomy.positive + dichotomy.negative),
        }
        together.setdefault((shared[config.selection_scope], counted), []).append(number)
    return [_subsample(numbers, dichotomies, examples, config, importance) for numbers in together.values()]


def _subsample(
    numbers: Sequence[int],
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    importance: np.ndarray | None,
) -> Subsample:
    """Rows spread evenly over the labels, or over the sides of a dichotomy that stands alone.

    They are first versions alone: others of the same windows tell nothing new of a kernel.
    """
    factors = None if importance is None else importance[:, numbers[0]]
    kernel, n_sets = config.kernels[0], count_sets(dichotomies)
    problems = [
        problem_for(dichotomies[number], examples, config, kernel=kernel, C=config.C, n_sets=n_sets, importance=factors)
        for number in numbers
    ]
    takes_part, weights = np.zeros(examples.n_rows, bool), np.zeros(examples.n_rows)
    for problem, _ in problems:
        if config.criterion is not None:
            check_judges(config.criterion, problem.learner)
        takes_part[problem.rows], weights[problem.rows] = True, problem.weights
    first = problems[0][0]
    rows = examples.firsts[takes_part[examples.firsts]]
    strata = examples.to_rows(examples.y)[rows] if len(numbers) > 1 else first.y[np.isin(first.rows, rows)] > 0
    rows = rows[spread_rows(strata, config.selection_rows)]
    targets = tuple(_target(problem, scoring, rows, config) for problem, scoring in problems)
    if _are_joined([dichotomies[number] for number in numbers], targets, config):
        y = examples.to_rows(examples.y)[rows]
        targets = (replace(targets[0], rows=np.arange(len(rows)), y=y),)
    return Subsample(rows, weights[rows], targets, tuple(numbers))


def _are_joined(dichotomies: Sequence[Dichotomy], targets: Sequence[SelectionTarget], config: TrainingConfig) -> bool:
    """Whether the criterion judges the labels together: each has a machine against the rest, in one closed form.

    What is trained in the end says which label it is, not how well each label is told from the rest by itself.
    """
    alone = {side for dichotomy in dichotomies for side in (dichotomy.positive, dichotomy.negative) if len(side) == 1}
    labels = set(dichotomies[0].positive + dichotomies[0].negative)
    if len(labels) < 3 or len(alone) < len(labels) or not isinstance(config.criterion, JoinsMachines):
        return False
    joins = config.criterion.joins
    return all(
        target.hold_out is None
        and not target.balanced
        and isinstance(target.learner, StatesLoss)
        and target.learner.loss in joins
        for target in targets
    )


def labels_subsample(examples: Examples, n_labels: int, config: TrainingConfig) -> Subsample:
    """Rows spread evenly over the labels, for all of them at once or for each against the rest."""
    problem, scoring = labels_problem_for(examples, n_labels, config, kernel=config.kernels[0], C=config.C)
    if config.criterion is not None:
        check_judges(config.criterion, problem.learner)
    windows = spread_rows(examples.y, config.selection_rows)
    rows = examples.firsts[windows]
    if isinstance(config.criterion, TakesLabels) and config.criterion.takes_labels:
        targets = (_target(problem, scoring, rows, config),)
    else:
        y, places = examples.y[windows], np.arange(len(rows))
        sides = (np.where(y == label, 1, -1) for label in range(n_labels))
        targets = tuple(SelectionTarget(rows=places, y=side, balanced=problem.balanced) for side in sides)
    return Subsample(rows, examples.weights[windows], targets, (0,))


def _target(problem: Problem, scoring: HeldOutScoring, rows: np.ndarray, config: TrainingConfig) -> SelectionTarget:
    """What of a problem lies among the rows, to be fitted and held out as the whole will be."""
    learner = problem.learner
    among = np.isin(problem.rows, rows)
    is_closed = isinstance(scoring, ClosedForm) and isinstance(learner, StatesLoss) and learner.loss == "squared"
    return SelectionTarget(
        rows=np.searchsorted(rows, problem.rows[among]),
        y=problem.y[among],
        learner=learner,
        balanced=problem.balanced,
        hold_out=None if is_closed else SampleHoldOut(scoring, config.folds),
    )

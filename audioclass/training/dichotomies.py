"""Train and calibrate a plan: every dichotomy its machine, its held-out scores and its map to probabilities.

All work stands in one flat queue over (dichotomy, fold), run in processes because LIBSVM holds the interpreter; each
item has its own seed, so the result does not depend on how many processes there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from audioclass.contracts import Kernel, Wants
from audioclass.numerics import one_thread
from audioclass.parameters import parameter_values
from audioclass.problems import Dichotomy, FeatureMachine, Machine, Task
from audioclass.storage import Store, computed
from audioclass.training.examples import Examples, FitOptions
from audioclass.training.folds import fold_count, grouped_folds, trainable_folds
from audioclass.training.group_span import group_span_scores
from audioclass.training.results import Answer, answers_of, arrays_of

Progress = Callable[[int, int], None]  # items done, items in all
ROWS_TOGETHER = 4096
IN_SAMPLE = "calibrated on its own training scores: a side has a single group"


@dataclass(frozen=True, eq=False)
class TrainedDichotomy:
    """A machine over the examples, its calibration as plain numbers, and the held-out score of every example.

    Examples that take no part in the dichotomy were never seen by the machine: their score is its own where it was
    asked for, else NaN. `note` says where held-out scores could not be had.
    """

    dichotomy: Dichotomy
    kernel: Kernel
    C: float
    machine: Machine | FeatureMachine
    calibration: Mapping[str, Any]
    held_out: np.ndarray
    note: str = ""


@one_thread()
def train_dichotomies(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    components: FitOptions,
    *,
    everywhere: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
) -> list[TrainedDichotomy]:
    """Every dichotomy of a plan, each with its own kernel and C, trained and calibrated.

    With `everywhere`, examples outside a dichotomy are scored too, as a strategy that fits its combination needs. What
    a `store` holds from a run before is not computed again.

    Sides are balanced: each weighs as much as the other, n/(2 n_side) an example. Where held-out scores come in closed
    form the examples' own weights are taken instead, because one factorisation serves all dichotomies over the same
    rows; calibration makes up for it: one-vs-rest on the clips of ESC-10 has a log-loss of 0.256 either way.
    """
    asked = enumerate(zip(dichotomies, kernels, Cs, strict=True))
    n_sets = len({frozenset(dichotomy.positive + dichotomy.negative) for dichotomy in dichotomies})
    problems = [_Problem(i, dichotomy, examples, kernel, C, components, n_sets) for i, (dichotomy, kernel, C) in asked]
    if any(problem.components.trainer.wants == "gram" for problem in problems):
        examples.statistics.prepare(list(dict.fromkeys(kernels)))
    together = _shared([problem for problem in problems if problem.is_shared])
    alone = [(problem, fold) for problem in problems if not problem.is_shared for fold in problem.queue]
    answered: dict[int, list[Answer]] = {}
    for answers in _run([*together, *alone], examples, store, jobs, progress):
        for answer in answers:
            answered.setdefault(answer[0], []).append(answer)
    return [_calibrated(problem, answered[problem.index], examples, everywhere) for problem in problems]


class _Problem:
    """One dichotomy of the examples: which rows take part, on which side, and the fold of each.

    `folds` is None where none are held out: the span or a closed form tells, or the smaller side has a single group.
    """

    def __init__(
        self,
        index: int,
        dichotomy: Dichotomy,
        examples: Examples,
        kernel: Kernel,
        C: float,
        components: FitOptions,
        n_sets: int,
    ) -> None:
        self.index, self.dichotomy, self.kernel, self.C = index, dichotomy, kernel, C
        positive, negative = np.isin(examples.y, dichotomy.positive), np.isin(examples.y, dichotomy.negative)
        if not positive.any() or not negative.any():
            side = dichotomy.negative if positive.any() else dichotomy.positive
            raise ValueError(f"dichotomy {index}: no example of labels {side}")
        self.rows = np.flatnonzero(positive | negative)
        self.sides = np.where(positive, 1, -1)[self.rows]
        self.groups = examples.groups[self.rows]
        self.components = components.fitting(len(self.rows), examples.statistics, n_sets)
        self.way = self.components.way(self.groups)
        self.folds = self._folds() if self.way == "folds" else None

    def _folds(self) -> np.ndarray | None:
        count = fold_count(self.sides, self.groups, self.components.n_folds)
        folds = grouped_folds(self.sides, self.groups, count) if count > 1 else None
        return folds if folds is not None and trainable_folds(self.sides, folds) else None

    @property
    def is_shared(self) -> bool:
        """Whether one factorisation may serve this dichotomy and others over the same rows."""
        return self.way == "closed form"

    @property
    def queue(self) -> list[int | None]:
        """What there is to fit: None for the machine on all rows, then the folds to hold out."""
        return [None] if self.folds is None else [None, *trainable_folds(self.sides, self.folds)]

    @cached_property
    def rows_digest(self) -> int:
        """A number of the rows: dichotomies over the same rows draw the same landmarks, and share them."""
        return int.from_bytes(hashlib.blake2b(self.rows.tobytes(), digest_size=8).digest())

    @cached_property
    def said(self) -> str:
        """All that a fit depends on besides the examples."""
        trainer, kernel, components = self.components.trainer, self.kernel, self.components
        named = [(component.name, parameter_values(component)) for component in (trainer, kernel)]
        return repr((self.index, self.dichotomy, named, self.C, self.way, components.n_folds, components.seed))

    def balanced(self, weights: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Weights of the kept rows, both sides of the same sum."""
        own, is_positive = weights[self.rows[kept]], self.sides[kept] > 0
        positive = own[is_positive].sum()
        sums = np.where(is_positive, positive, own.sum() - positive)
        return own * len(own) / (2 * np.maximum(sums, np.finfo(float).tiny))


def _run(
    queue: Sequence[Any], examples: Examples, store: Store | None, jobs: int, progress: Progress | None
) -> Iterator[list[Answer]]:
    """Answers in the order of the queue, whatever the number of processes."""
    if jobs == 1 or len(queue) < 2:
        answers = (_answer(item, examples, store) for item in queue)
    else:
        work = delayed(_answer_apart)
        answers = Parallel(n_jobs=jobs, return_as="generator")(work(item, examples, store) for item in queue)
    for done, some in enumerate(answers, start=1):
        yield some
        if progress is not None:
            progress(done, len(queue))


def _answer(item: Any, examples: Examples, store: Store | None) -> list[Answer]:
    """One item of the queue, from the store where it was answered before; the same to the bit either way."""
    kept = computed(store, lambda: _key(item, examples), lambda: arrays_of(_fit(item, examples)))
    return answers_of(kept)


@one_thread()
def _answer_apart(item: Any, examples: Examples, store: Store | None) -> list[Answer]:
    """The same in a process of its own, which has its own threads."""
    return _answer(item, examples, store)


def _key(item: Any, examples: Examples) -> str:
    """What an answer depends on."""
    problems, fold = (item, None) if isinstance(item, list) else ([item[0]], item[1])
    return "\n".join([examples.fingerprint, f"fold {fold}", *(problem.said for problem in problems)])


def _fit(item: Any, examples: Examples) -> list[Answer]:
    """One item of the queue: dichotomies that share their rows, or one dichotomy and a fold."""
    return _fit_together(item, examples) if isinstance(item, list) else [_fit_one(item, examples)]


def _task(problem: _Problem, examples: Examples, kept: np.ndarray, fold: int | None) -> Task:
    rows = problem.rows[kept]
    rng = np.random.default_rng([problem.components.seed, problem.rows_digest, 0 if fold is None else fold + 1])
    weights = problem.balanced(examples.weights, kept)
    return Task(problem.sides[kept], problem.C, weights, rng, **_form(problem, examples, rows))


def _form(problem: _Problem, examples: Examples, rows: np.ndarray) -> dict[str, Any]:
    """The examples as the trainer wants them."""
    return form_of(examples, problem.kernel, rows, problem.components.trainer.wants)


def form_of(examples: Examples, kernel: Kernel, rows: np.ndarray, wants: Wants) -> dict[str, Any]:
    """Rows as a Gram matrix, as a function that gives its entries, or as features."""
    statistics = examples.statistics
    if wants == "gram":
        return {"K": statistics.gram(kernel, rows)}
    if wants == "entries":
        return {"entries": lambda i, j: statistics.gram(kernel, rows[i], rows[j])}
    return {"X": statistics.X[rows]}


def _fit_one(item: tuple[_Problem, int | None], examples: Examples) -> Answer:
    """Fit on all rows of a problem, or on those outside a fold, and score what was held out."""
    problem, fold = item
    kept = np.ones(len(problem.rows), bool) if fold is None else problem.folds != fold
    task = _task(problem, examples, kept, fold)
    if problem.way == "out of bag":
        fitted, scores = problem.components.trainer.fit_out_of_bag(task, problem.groups)
        return problem.index, fold, _over_examples(fitted, problem.rows), scores
    machine = _over_examples(problem.components.trainer.fit(task), problem.rows[kept])
    if fold is not None:
        return problem.index, fold, None, _scores(machine, problem, examples, problem.rows[~kept])
    if problem.way == "span":
        own = Machine(np.searchsorted(problem.rows, machine.support), machine.coefficients, machine.intercept)
        scores = group_span_scores(task.K, own, task.y, problem.C, task.weights, problem.groups)
    else:
        scores = _scores(machine, problem, examples, problem.rows) if problem.folds is None else None
    return problem.index, fold, machine, scores


def _shared(problems: Sequence[_Problem]) -> list[list[_Problem]]:
    """Problems over the same rows with the same kernel and C: one factorisation serves them."""
    found: dict[Any, list[_Problem]] = {}
    for problem in problems:
        found.setdefault((problem.rows.tobytes(), problem.kernel, problem.C), []).append(problem)
    return list(found.values())


def _fit_together(problems: list[_Problem], examples: Examples) -> list[Answer]:
    """All problems over the same rows at once, with the scores of held-out groups in closed form."""
    first = problems[0]
    trainer = first.components.trainer
    Y = np.stack([problem.sides for problem in problems], axis=1)
    rng = np.random.default_rng([first.components.seed, first.rows_digest])
    task = Task(first.sides, first.C, examples.weights[first.rows], rng, **_form(first, examples, first.rows))
    machine, held_out = trainer.fit_and_hold_out(task, Y, first.groups)
    support = first.rows[machine.support]
    answers: list[Answer] = []
    for column, problem in enumerate(problems):
        own = Machine(support, machine.coefficients[:, column], float(np.asarray(machine.intercept)[column]))
        answers += [(problem.index, None, own, held_out[:, column])]
    return answers


def _over_examples(machine: Machine | FeatureMachine, rows: np.ndarray) -> Machine | FeatureMachine:
    """The machine with its support as indices of all examples instead of the task's rows."""
    if isinstance(machine, FeatureMachine):
        return machine
    return Machine(rows[machine.support], machine.coefficients, machine.intercept)


def _scores(machine: Machine | FeatureMachine, problem: _Problem, examples: Examples, rows: np.ndarray) -> np.ndarray:
    """Scores of examples by a machine whose support are examples, a few thousand at a time."""
    if isinstance(machine, FeatureMachine):
        return problem.components.trainer.scores(machine, examples.statistics.X[rows])
    scores = np.full(len(rows), float(machine.intercept))
    for first in range(0, len(rows), ROWS_TOGETHER):
        block = slice(first, first + ROWS_TOGETHER)
        scores[block] += examples.statistics.gram(problem.kernel, rows[block], machine.support) @ machine.coefficients
    return scores


def _calibrated(problem: _Problem, own: Sequence[Answer], examples: Examples, everywhere: bool) -> TrainedDichotomy:
    machine, scores, note = _held_out(problem, own)
    weights = examples.weights[problem.rows]
    known = np.isfinite(scores)
    if len(np.unique(problem.sides[known])) < 2:  # every bag held a group that a side cannot do without
        scores, note = _scores(machine, problem, examples, problem.rows), IN_SAMPLE
        known = np.ones(len(scores), bool)
    calibration = problem.components.calibrator.fit(scores[known], problem.sides[known], weights[known])
    held_out = np.full(len(examples.y), np.nan)
    held_out[problem.rows] = scores
    missing = np.flatnonzero(np.isnan(held_out)) if everywhere else problem.rows[~known]
    held_out[missing] = _scores(machine, problem, examples, missing)
    return TrainedDichotomy(problem.dichotomy, problem.kernel, problem.C, machine, calibration, held_out, note)


def _held_out(problem: _Problem, own: Sequence[Answer]) -> tuple[Any, np.ndarray, str]:
    """The machine on all rows, the held-out score of each row (NaN where there is none), and what is to be said."""
    [(_, _, machine, in_sample)] = [answer for answer in own if answer[1] is None]
    if problem.way != "folds":
        return machine, in_sample, ""
    if problem.folds is None:
        return machine, in_sample, IN_SAMPLE
    scores = np.full(len(problem.rows), np.nan)
    for _, fold, _, away in (answer for answer in own if answer[1] is not None):
        scores[problem.folds == fold] = away
    return machine, scores, ""

"""Inner folds: the rows that the last steps of a classifier are fitted on, and those that they are judged on.

*Clean* folds have machines that were trained without each fold: what is fitted on their held-out scores of the rest is
judged on scores of a fold that nothing has seen, as new recordings are. *Cross* folds split the held-out scores of the
one training: cheaper, and honest for what has few numbers to fit. A second stage has many, and they are biased against
it, because the judged rows have trained the machines that scored the rows it was fitted on: on 40 labels of ESC-50 they
give the penalty that is best on new recordings a log-loss of 1.08, clean ones 0.92, and none at all 1.04 and 1.00.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.classifier.step_contest import InnerFold
from audioclass.contracts import Kernel
from audioclass.problems import Machine
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, count_sets, problem_for
from audioclass.training.examples import Examples
from audioclass.training.fit import FittedProblem, fit_problems, scores_of_examples
from audioclass.training.folds import calibration_folds, fold_count, grouped_folds, trainable_folds
from audioclass.training.held_out import ClosedForm, solved_system
from audioclass.training.problem import DichotomyProblem

CLEAN_FOLDS = 5
CROSS_FOLDS = 10
MOST_SETS = 100  # of labels whose factorisations are done again for each clean fold, unless that was asked for


@dataclass(frozen=True, eq=False)
class InnerFolds:
    """All of them; empty where nothing can be held out. `are_clean` where machines were trained again without each."""

    folds: Sequence[InnerFold]
    are_clean: bool = False


def inner_folds(
    scores: np.ndarray,
    trained: Sequence[TrainedDichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run | None = None,
    *,
    store: Store | None = None,
) -> InnerFolds:
    """Clean folds where the configuration asks for them or they are cheap, else cross folds.

    `trained` is empty for a direct strategy, which has cross folds, and so has who gives no `run` to train again with.
    """
    is_wanted = config.second_stage == "clean" or (
        config.second_stage == "auto" and are_cheap(trained, examples, config)
    )
    if is_wanted and trained and run is not None:
        folds = clean_folds(trained, examples, config, run, store=store)
        if folds:
            return InnerFolds(folds, are_clean=True)
    return InnerFolds(cross_folds(scores, examples))


def cross_folds(scores: np.ndarray, examples: Examples, n_folds: int = CROSS_FOLDS) -> list[InnerFold]:
    """Folds of whole groups over held-out scores; none where there is a single group."""
    folds = calibration_folds(examples.y, examples.groups, n_folds)
    return [] if folds is None else [InnerFold(folds != fold, scores) for fold in np.unique(folds)]


def clean_folds(
    trained: Sequence[TrainedDichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    store: Store | None = None,
) -> list[InnerFold]:
    """Folds of whole groups with machines of their own: kernels and C are those of the training.

    None where a label has a single group, or only rounds of a strategy know who takes part in a dichotomy.
    """
    n_folds = fold_count(examples.y, examples.groups, CLEAN_FOLDS)
    if n_folds < 2 or any(result.importance is not None for result in trained):
        return []
    folds = grouped_folds(examples.y, examples.groups, n_folds)
    if len(trainable_folds(examples.y, folds)) < n_folds:
        return []
    masks = [folds != fold for fold in range(n_folds)]
    n_sets = count_sets([result.dichotomy for result in trained])
    solved = _solved_folds(trained, examples, config, masks, n_sets)
    if solved is not None:
        return solved
    both = [
        problem_for(
            result.dichotomy,
            examples,
            config,
            kernel=result.kernel,
            C=result.C,
            n_sets=n_sets,
            seed=run.seed,
            importance=inside.astype(np.float64),
        )
        for inside in masks
        for result in trained
    ]
    problems = [problem for problem, _ in both]
    fitted = fit_problems(problems, [scoring for _, scoring in both], examples, run.telling("inner folds"), store)
    parts = [slice(start, start + len(trained)) for start in range(0, len(problems), len(trained))]
    return [
        InnerFold(inside, _scores(problems[part], fitted[part], examples))
        for inside, part in zip(masks, parts, strict=True)
    ]


def _solved_folds(
    trained: Sequence[TrainedDichotomy],
    examples: Examples,
    config: TrainingConfig,
    masks: Sequence[np.ndarray],
    n_sets: int,
) -> list[InnerFold] | None:
    """The same folds from the systems that the training solved, in closed form; None where it has none.

    All dichotomies must be over all examples; those of one kernel and C share a system.
    """
    if any(len(np.unique(examples.groups[inside])) < 2 for inside in masks):
        return None
    scores = np.empty((len(masks), len(examples.y), len(trained)))
    together: dict[tuple[Kernel, float], list[int]] = {}
    for column, result in enumerate(trained):
        together.setdefault((result.kernel, result.C), []).append(column)
    for (kernel, C), columns in together.items():
        both = [
            problem_for(trained[column].dichotomy, examples, config, kernel=kernel, C=C, n_sets=n_sets)
            for column in columns
        ]
        problems = [problem for problem, scoring in both if isinstance(scoring, ClosedForm) and not problem.balanced]
        if len(problems) < len(columns) or any(len(problem.rows) < examples.n_rows for problem in problems):
            return None
        system = solved_system(problems[0], examples)
        if system is None:
            return None
        Y = np.stack([problem.y for problem in problems], axis=1)
        for number, inside in enumerate(masks):
            of_rows = system.held_out(Y, problems[0].groups, ~examples.to_rows(inside))
            scores[number][:, columns] = examples.to_windows(of_rows)
    return [InnerFold(inside, of_fold) for inside, of_fold in zip(masks, scores, strict=True)]


def are_cheap(trained: Sequence[TrainedDichotomy], examples: Examples, config: TrainingConfig) -> bool:
    """Whether clean folds cost a few factorisations: held-out scores in closed form, of not too many sets of labels."""
    n_sets = count_sets([result.dichotomy for result in trained])
    if not trained or n_sets > MOST_SETS or any(result.importance is not None for result in trained):
        return False
    first = trained[0]
    scoring = problem_for(first.dichotomy, examples, config, kernel=first.kernel, C=first.C, n_sets=n_sets)[1]
    return isinstance(scoring, ClosedForm)


def _scores(problems: Sequence[DichotomyProblem], fitted: Sequence[FittedProblem], examples: Examples) -> np.ndarray:
    """(n_windows, n_dichotomies): held out inside the fold, by the machine elsewhere.

    Machines on the same rows score those of the fold together.
    """
    scores = np.full((len(examples.y), len(problems)), np.nan)
    together: dict[tuple[object, ...], list[int]] = {}
    machine_of: dict[int, Machine] = {}
    for column, (problem, result) in enumerate(zip(problems, fitted, strict=True)):
        machine = result.machine
        if not isinstance(machine, Machine) or machine.members is not None or not result.known.all():
            scores[:, column] = scores_of_examples(problem, result, examples)
            continue
        machine_of[column] = machine
        together.setdefault((problem.rows.tobytes(), machine.support.tobytes(), problem.kernel), []).append(column)
    for columns in together.values():
        first, machines = problems[columns[0]], [machine_of[column] for column in columns]
        coefficients = np.stack([machine.coefficients for machine in machines], axis=1)
        intercepts = np.array([float(machine.intercept) for machine in machines])
        joined = Machine(machines[0].support, coefficients, intercepts)
        others = np.setdiff1d(np.arange(examples.n_rows), first.rows)
        of_rows = np.empty((examples.n_rows, len(columns)))
        of_rows[first.rows] = np.stack([fitted[column].scores for column in columns], axis=1)
        of_rows[others] = first.scores(joined, examples, others)
        scores[:, columns] = examples.to_windows(of_rows)
    return scores

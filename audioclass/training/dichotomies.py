"""Train and calibrate dichotomies: for each its machine, its held-out scores and its map to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import Fitted, Kernel, Strategy, Trainer
from audioclass.problems import Dichotomy
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.threads import one_thread
from audioclass.training.config import AUTO_METHOD, HeldOutMethod, TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.fit import fit_problems, known_windows, scores_of_examples
from audioclass.training.held_out import ClosedForm, HeldOutScoring, held_out_methods, scoring_for
from audioclass.training.problem import AnyMachine, DichotomyProblem
from audioclass.training.statistics import PairwiseStatistics


@dataclass(frozen=True, eq=False)
class TrainedDichotomy:
    """A machine over the examples, its calibration as plain numbers, and the held-out score of every example.

    Examples that take no part in the dichotomy were never seen by the machine: their score is its own where it was
    asked for, else NaN. `note` says where held-out scores could not be had. `importance` (n,) is how much each example
    counted where a strategy weighed them, 0 for those it left out.
    """

    dichotomy: Dichotomy
    kernel: Kernel
    C: float
    machine: AnyMachine
    calibration: Fitted
    held_out: np.ndarray
    note: str = ""
    importance: np.ndarray | None = None


def planning_strategy(config: TrainingConfig) -> Strategy:
    """The strategy of a configuration, which plans dichotomies; a ValueError where it fits all labels at once."""
    if not isinstance(config.strategy, Strategy):
        raise ValueError(f"strategy {config.strategy.name!r} fits all labels at once, one with a plan is needed")
    return config.strategy


@one_thread()
def train_dichotomies(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    config: TrainingConfig,
    run: Run,
    *,
    importance: Sequence[np.ndarray | None] | None = None,
    everywhere: bool = False,
    store: Store | None = None,
) -> list[TrainedDichotomy]:
    """Every dichotomy, each with its own kernel and C, trained and calibrated.

    With `everywhere`, examples outside a dichotomy are scored too, as a strategy that fits its combination needs.
    `importance` has (n,) factors of the examples' weights, or None, for each dichotomy. What a `store` holds from a run
    before is not computed again.

    With `balance` at `auto`, sides are balanced: each weighs as much as the other, n/(2 n_side) an example. Where
    held-out scores come in closed form the examples' own weights are taken instead, because one factorisation serves
    all dichotomies over the same rows; calibration makes up for it: one-vs-rest on the clips of ESC-10 has a log-loss
    of 0.256 either way.
    """
    importance = [None] * len(dichotomies) if importance is None else importance
    n_sets = count_sets(dichotomies)
    problems, scorings = [], []
    for dichotomy, kernel, C, factors in zip(dichotomies, kernels, Cs, importance, strict=True):
        problem, scoring = problem_for(
            dichotomy, examples, config, kernel=kernel, C=C, n_sets=n_sets, seed=run.seed, importance=factors
        )
        problems.append(problem)
        scorings.append(scoring)
    if any(problem.trainer.wants == "gram" for problem in problems):
        examples.statistics.prepare(list(dict.fromkeys(kernels)))
    results = []
    for i, fitted in enumerate(fit_problems(problems, scorings, examples, run, store)):
        problem = problems[i]
        calibration = config.calibrator.fit(*known_windows(problem, fitted, examples))
        held_out = scores_of_examples(problem, fitted, examples, everywhere=everywhere)
        results.append(
            TrainedDichotomy(
                dichotomies[i],
                problem.kernel,
                problem.C,
                fitted.machine,
                calibration,
                held_out,
                note=fitted.note,
                importance=importance[i],
            )
        )
    return results


def count_sets(dichotomies: Sequence[Dichotomy]) -> int:
    """Of labels that dichotomies are over: each needs a factorisation."""
    return len({frozenset(dichotomy.positive + dichotomy.negative) for dichotomy in dichotomies})


def problem_for(
    dichotomy: Dichotomy,
    examples: Examples,
    config: TrainingConfig,
    *,
    kernel: Kernel,
    C: float,
    n_sets: int,
    seed: int = 0,
    importance: np.ndarray | None = None,
) -> tuple[DichotomyProblem, HeldOutScoring]:
    """What is fitted for a dichotomy, by whom and with which balance, and how it is held out; `n_sets` as counted."""
    problem = DichotomyProblem.of(
        dichotomy, examples, kernel=kernel, C=C, trainer=config.trainer, seed=seed, importance=importance
    )
    trainer, method = trainer_for(config, len(problem.rows), n_sets, examples.statistics)
    problem = replace(problem, trainer=trainer)
    scoring = scoring_for(problem, method, config.folds)
    is_balanced = config.balance == "sides" or (config.balance == "auto" and not isinstance(scoring, ClosedForm))
    return replace(problem, balanced=is_balanced), scoring


def trainer_for(
    config: TrainingConfig, n_rows: int, n_sets: int, statistics: PairwiseStatistics
) -> tuple[Trainer, HeldOutMethod]:
    """The trainer of a dichotomy of so many rows, one of `n_sets` that are factorised by themselves; and its method.

    `large` takes over where the factorisations of a plan, whose cost is the cube of their rows, would cost more
    than one of `large_rows` rows, or where a Gram matrix would not fit the budget.
    """
    is_small = n_sets * n_rows**3 <= config.large_rows**3 and statistics.fits(n_rows)
    if config.large is None or config.trainer.wants != "gram" or is_small:
        return config.trainer, config.held_out
    has_it = config.held_out in (AUTO_METHOD, *held_out_methods(config.large))  # what `trainer` has, `large` may not
    return config.large, config.held_out if has_it else "folds"

"""Train a direct strategy: all labels at once, with held-out scores for its combination and the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.contracts import DirectStrategy, FitsDirectCombination, Fitted, Kernel, Strategy
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.threads import one_thread
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.fit import fit_problems, known_windows, scores_of_examples
from audioclass.training.held_out import HeldOutScoring, scoring_for
from audioclass.training.problem import AnyMachine, LabelsProblem


@dataclass(frozen=True, eq=False)
class TrainedDirect:
    """A machine of all labels, what its combination learnt, and the held-out scores (n, n_labels)."""

    machine: AnyMachine
    fitted: Fitted
    held_out: np.ndarray
    note: str = ""


def direct_strategy(config: TrainingConfig) -> DirectStrategy:
    """The strategy of a configuration, which fits all labels at once; a ValueError where it plans dichotomies."""
    if isinstance(config.strategy, Strategy):
        raise ValueError(f"strategy {config.strategy.name!r} plans dichotomies, a direct one is needed")
    return config.strategy


def labels_problem_for(
    examples: Examples, n_labels: int, config: TrainingConfig, *, kernel: Kernel, C: float, seed: int = 0
) -> tuple[LabelsProblem, HeldOutScoring]:
    """What is fitted for all labels at once, with which balance, and how it is held out."""
    problem = LabelsProblem.of(
        examples,
        n_labels=n_labels,
        kernel=kernel,
        C=C,
        strategy=direct_strategy(config),
        seed=seed,
        balanced=config.balance != "none",
    )
    return problem, scoring_for(problem, config.held_out, config.folds)


@one_thread()
def train_direct(
    examples: Examples,
    n_labels: int,
    kernel: Kernel,
    C: float,
    config: TrainingConfig,
    run: Run,
    *,
    store: Store | None = None,
) -> TrainedDirect:
    """The machine on all examples; labels weigh the same in sum, unless the configuration wants no balance."""
    strategy = direct_strategy(config)
    problem, scoring = labels_problem_for(examples, n_labels, config, kernel=kernel, C=C, seed=run.seed)
    [result] = fit_problems([problem], [scoring], examples, run, store)
    scores = scores_of_examples(problem, result, examples)
    fitted: Fitted = {}
    if isinstance(strategy, FitsDirectCombination):
        known_scores, known_y, _ = known_windows(problem, result, examples)
        fitted = strategy.fit_combination(known_scores, known_y)
    return TrainedDirect(result.machine, fitted, scores, result.note)

"""A kernel with its parameters and an error factor for every dichotomy, by a criterion and a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from audioclass.problems import Dichotomy
from audioclass.run import Run
from audioclass.searches.pattern import Pattern
from audioclass.storage import Store
from audioclass.threads import one_thread
from audioclass.training.competition import Competition, shared_statistics
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples, digest_of
from audioclass.training.parallel import map_on_one_thread
from audioclass.training.stored_selection import Selected, restored
from audioclass.training.subsampling import Subsample, labels_subsample, subsamples_of


@one_thread()
def select(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Selected]:
    """One choice for each dichotomy, wherever the work is done; without a criterion the first kernel and C as given.

    The kernels compete, each from the parameters it has; one that cannot be evaluated is noted and passed over. Where
    none can, the first is taken as it is. C is searched with the kernel's parameters, is Joachims' value for each
    kernel, or fixed; a criterion that states no dependence on C gets Joachims' value in the place of a search.
    The criterion is given what training will use: its trainer, weights and held-out method; a UsageError where it does
    not judge that trainer. Each dichotomy has its own choice, shares one with those of the same of the `levels`, or
    with those of the same labels, as the configuration says; dichotomies over the same rows that share one are trained
    by one factorisation. Where each label has a machine against the rest, a criterion that joins machines judges them
    by what they say together. `importance` (n, n_dichotomies) leaves out the examples where it is 0.

    A Gaussian kernel can then be made finer: with `feature_shares`, as many of the features stay as the criterion likes
    best.
    """
    if config.criterion is None:
        return [Selected(config.kernels[0], config.C)] * len(dichotomies)
    subsamples = subsamples_of(dichotomies, examples, config, importance, levels)
    chosen: dict[int, Selected] = {}
    for subsample, choice in zip(subsamples, _compete(subsamples, examples, config, run), strict=True):
        chosen |= dict.fromkeys(subsample.numbers, choice)
    return [chosen[number] for number in range(len(dichotomies))]


@one_thread()
def select_for_labels(examples: Examples, n_labels: int, config: TrainingConfig, run: Run) -> Selected:
    """One choice for a strategy that fits all labels at once.

    A criterion that takes labels is given them all, with that strategy; another the mean over each label against the
    rest, without a machine: those that need one are refused.
    """
    if config.criterion is None:
        return Selected(config.kernels[0], config.C)
    subsample = labels_subsample(examples, n_labels, config)
    [choice] = _compete([subsample], examples, config, run)
    return choice


def stored_selection(
    store: Store | None,
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Selected]:
    """What `select` chose before, where a store has it, else what it chooses now; the same to the bit."""

    def choose() -> list[Selected]:
        return select(dichotomies, examples, config, run, importance=importance, levels=levels)

    def key() -> str:
        counted = None if importance is None else digest_of(importance)
        scope = (tuple(dichotomies), config.selection_scope, None if levels is None else tuple(levels), counted)
        return _key(examples, config, run, (*scope, config.trainer, config.large, config.large_rows))

    return restored(store, key, config.kernels, choose)


def stored_selection_for_labels(
    store: Store | None,
    examples: Examples,
    n_labels: int,
    config: TrainingConfig,
    run: Run,
) -> Selected:
    """What `select_for_labels` chose before, where a store has it, else what it chooses now; the same to the bit."""

    def choose() -> list[Selected]:
        return [select_for_labels(examples, n_labels, config, run)]

    def key() -> str:
        return _key(examples, config, run, ("all labels", n_labels, config.strategy))

    [choice] = restored(store, key, config.kernels, choose)
    return choice


def _key(examples: Examples, config: TrainingConfig, run: Run, targets: tuple[object, ...]) -> str:
    """All that a choice depends on."""
    choices = (
        config.kernels,
        config.C,
        config.criterion,
        config.search,
        config.c_rule,
        config.c_range,
        config.states_c_range,
    )
    sizes = (config.selection_rows, config.selection_folds, run.seed)
    method = (config.held_out, config.folds, config.balance)
    return f"{examples.fingerprint}\n{(targets, choices, sizes, method, config.feature_shares)!r}"


def _compete(
    subsamples: Sequence[Subsample],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
) -> Iterator[Selected]:
    """The choice for each subsample, in their order."""
    if config.criterion is None:
        raise ValueError("a competition needs a criterion, the configuration has none")
    shared = shared_statistics(examples, subsamples, config.kernels)
    work = Competition(config, config.criterion, config.search or Pattern(), run.seed, examples, shared)
    return map_on_one_thread(run, "selection", work, subsamples)

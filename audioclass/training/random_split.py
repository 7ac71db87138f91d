"""Posteriors under a random split, which leaks groups, for comparison: how much a careless evaluation would claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.assemble import Training, assemble, assemble_direct
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples


def random_split_posteriors(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> np.ndarray:
    """(n, n_labels) posteriors, each example held out by itself, with the kernels and dichotomies of a training."""
    apart = replace(examples, groups=np.arange(len(examples.y)))
    labels, plan, trained = training.classifier.labels, training.classifier.plan, training.trained
    if plan is None:
        [choice] = training.selected
        direct = train_direct(apart, len(labels), choice.kernel, choice.C, config, run, store=store)
        return assemble_direct(apart, labels, config, direct, choice).held_out
    again = train_dichotomies(
        plan.dichotomies,
        apart,
        [result.kernel for result in trained],
        [result.C for result in trained],
        config,
        run,
        importance=[result.importance for result in trained],
        everywhere=True,
        store=store,
    )
    return assemble(apart, labels, config, plan, again).held_out

"""Posteriors under a random split, which leaks groups, for comparison: how much a careless evaluation would claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.again import dichotomies_again, direct_again
from audioclass.training.assemble import Training
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.inner_folds import InnerFolds, cross_folds, inner_folds
from audioclass.training.last_steps import can_refit, same_kind_again


def random_split_posteriors(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> np.ndarray:
    """(n, n_labels) posteriors, each example held out by itself, with the kernels and dichotomies of a training."""
    apart = replace(examples, groups=np.arange(len(examples.y)))
    if training.classifier.plan is None:
        direct = direct_again(apart, config, training, run, store=store)
        return _held_out(training, direct.held_out, InnerFolds(cross_folds(direct.held_out, apart)), apart)
    again = dichotomies_again(apart, config, training, run, store=store)
    scores = np.stack([result.held_out for result in again], axis=1)
    return _held_out(training, scores, inner_folds(scores, again, apart, config, run, store=store), apart)


def _held_out(training: Training, scores: np.ndarray, folds: InnerFolds, apart: Examples) -> np.ndarray:
    """By a last step of the kind that the training has, as honest as its own but for the groups."""
    if not folds.folds:
        return training.classifier.combine(scores)
    return same_kind_again(training.classifier, folds.folds, apart, refits=can_refit(training.trained))

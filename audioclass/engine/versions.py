"""Versions of windows in a training: rows that are held out with their window, and whether they earn their place.

Preprocessing is fitted on first versions alone: it is then the same whether or not the others are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.classifier.preprocessing import Preprocessing
from audioclass.engine.datasets import Dataset
from audioclass.extraction.recipe import Recipe
from audioclass.numerics import log_loss
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.taxonomy import Taxonomy
from audioclass.training.again import train_again
from audioclass.training.assemble import Training
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier


def examples_of(dataset: Dataset, recipe: Recipe, preprocessing: Preprocessing, config: TrainingConfig) -> Examples:
    """A row for each version of each window; all versions of a window share its label, weight and group."""
    n, n_versions = len(dataset.X), len(recipe.versions)
    X = preprocessing.apply(dataset.X.reshape(n * n_versions, recipe.n_features))
    windows = None if n_versions == 1 else np.repeat(np.arange(n), n_versions)
    return Examples.of(X, dataset.y, dataset.weights, dataset.groups, windows=windows, averages=config.average_versions)


def affordable_versions(dataset: Dataset, config: TrainingConfig) -> tuple[Dataset, TrainingConfig, tuple[str, ...]]:
    """Both with first versions alone, and a note, where the versions of a recipe are too many rows for one system.

    What other trainers of more rows lose is more than versions bring.
    """
    recipe = config.known_recipe
    n_rows = 0 if recipe is None else len(dataset.X) * len(recipe.versions)
    if recipe is None or not config.judges_versions or n_rows <= config.large_rows:
        return dataset, config, ()
    note = f"versions: one is kept, {len(recipe.versions)} of {len(dataset.X)} windows are more than large_rows"
    single = replace(config, recipe=recipe.at_one_speed, versions=())
    return replace(dataset, X=dataset.X[:, : recipe.n_features]), single, (note,)


@dataclass(frozen=True, eq=False)
class JudgedVersions:
    """The training that is kept, on all versions or on the first alone, with its examples and configuration."""

    examples: Examples
    training: Training
    config: TrainingConfig

    def saying(self, *choices: str) -> JudgedVersions:
        """With further choices beside those of the training."""
        return replace(self, training=replace(self.training, choices=(*self.training.choices, *choices)))


def train_on_versions(
    examples: Examples,
    labels: Sequence[str],
    config: TrainingConfig,
    run: Run,
    *,
    taxonomy: Taxonomy | None = None,
    store: Store | None = None,
) -> JudgedVersions:
    """A training on all versions, or on the first alone where these are judged and found to be better so."""
    training = train_classifier(examples, labels, config, run, taxonomy=taxonomy, store=store)
    if not config.judges_versions:
        return JudgedVersions(examples, training, config)
    return judge_versions(examples, training, config, run, store=store)


def judge_versions(
    examples: Examples, training: Training, config: TrainingConfig, run: Run, *, store: Store | None = None
) -> JudgedVersions:
    """Of a training on all versions and one on first versions, that with the lower log-loss of held-out windows.

    Copies at other speeds help to tell sounds and music apart; where the pitch itself tells labels apart, as it does
    for emotions in speech, they hurt.
    """
    recipe = config.known_recipe
    single = replace(config, recipe=None if recipe is None else recipe.at_one_speed, versions=())
    alone = train_again(examples.first_versions, single, training, run.telling("first versions"), store=store)
    with_all, without = (log_loss(one.held_out, examples.y) for one in (training, alone))
    n = 0 if recipe is None else len(recipe.versions)
    figures = f"held-out log-loss {with_all:.3f} with {n} versions of each window, {without:.3f} with one"
    if with_all <= without:
        return JudgedVersions(examples, training, config).saying(f"versions: {figures}: {n} are kept")
    return JudgedVersions(examples.first_versions, alone, single).saying(f"versions: {figures}: one is kept")

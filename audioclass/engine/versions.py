"""Versions of windows in a training: rows that are held out with their window, and whether they earn their place.

Preprocessing is fitted on first versions alone: it is then the same whether or not the others are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.classifier.bank import kept_rows
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.engine.datasets import Dataset
from audioclass.extraction.recipe import Recipe
from audioclass.kernels.statistics import gram
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.again import train_again
from audioclass.training.assemble import Training
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.label_machines import LabelMachines
from audioclass.training.train import train_classifier

JUDGED_WINDOWS = 800  # most on which averages over versions are judged that were not trained on


def examples_of(dataset: Dataset, recipe: Recipe, preprocessing: Preprocessing, config: TrainingConfig) -> Examples:
    """A row for each version of each window, as a model will keep it; its versions share all that a window has."""
    n, n_versions = len(dataset.X), len(recipe.versions)
    X = kept_rows(preprocessing.apply(dataset.X.reshape(n * n_versions, recipe.n_features)))
    windows = None if n_versions == 1 else np.repeat(np.arange(n), n_versions)
    return Examples.of(X, dataset.y, dataset.weights, dataset.groups, windows=windows, averages=config.average_versions)


def affordable_versions(dataset: Dataset, config: TrainingConfig) -> tuple[Dataset, TrainingConfig]:
    """Both with first versions alone where the versions of a recipe are too many rows for one system.

    What other trainers of more rows lose is more than versions bring.
    """
    recipe = config.known_recipe
    n_rows = 0 if recipe is None else len(dataset.X) * len(recipe.versions)
    if recipe is None or not config.judges_versions or n_rows <= config.large_rows:
        return dataset, config
    single = replace(config, recipe=recipe.at_one_speed, versions=())
    return replace(dataset, X=dataset.X[:, : recipe.n_features]), single


@dataclass(frozen=True, eq=False)
class JudgedVersions:
    """The training that is kept, on all versions or on the first alone, with its examples and configuration.

    `answers_in` is the recipe whose versions a model answers with, where it has others than were trained on.
    """

    examples: Examples
    training: Training
    config: TrainingConfig
    answers_in: Recipe | None = None

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
    with_all, without = (one.log_loss(examples.y) for one in (training, alone))
    n = 0 if recipe is None else len(recipe.versions)
    figures = f"held-out log-loss {with_all:.3f} with {n} versions of each window, {without:.3f} with one"
    if with_all <= without:
        return JudgedVersions(examples, training, config).saying(f"versions: {figures}: {n} are kept")
    return JudgedVersions(examples.first_versions, alone, single).saying(f"versions: {figures}: one is kept")


@one_thread()
def judge_averages(
    judged: JudgedVersions, dataset: Dataset, config: TrainingConfig, preprocessing: Preprocessing
) -> JudgedVersions:
    """A training on first versions; its model averages scores over all where that lowers the held-out log-loss.

    It is judged on a sample, by a least-squares machine of every label on first versions with the kernel and C of the
    training: versions need not be trained on to be averaged. `dataset` and `config` have them all.
    """
    recipe = config.known_recipe
    if recipe is None:
        return judged
    choice = f"versions: {len(recipe.versions)} of {len(dataset.X)} windows are more than large_rows, one is trained on"
    losses = _losses_of_averages(judged, dataset, recipe, preprocessing) if config.average_versions else None
    if losses is None:
        return judged.saying(choice)
    averaged, first = losses
    figures = f"held-out log-loss {averaged:.3f} where their scores are averaged, {first:.3f} with one"
    if averaged >= first:
        return judged.saying(f"{choice}; {figures}: one is kept")
    return replace(judged, answers_in=recipe).saying(f"{choice}; {figures}: they are averaged")


def _losses_of_averages(
    judged: JudgedVersions, dataset: Dataset, recipe: Recipe, preprocessing: Preprocessing
) -> tuple[float, float] | None:
    """The log-loss of scores averaged over versions and of those of first versions; None where nothing is held out."""
    rows = spread_rows(dataset.y, JUDGED_WINDOWS)
    y, groups, weights = dataset.y[rows], np.unique(dataset.groups[rows], return_inverse=True)[1], dataset.weights[rows]
    if groups.max() == 0:
        return None
    X = preprocessing.apply(dataset.X[rows].reshape(-1, recipe.n_features)).reshape(len(rows), len(recipe.versions), -1)
    choice = judged.training.selected[0]
    machines = LabelMachines(gram(choice.kernel, X[:, 0]), y, len(dataset.labels), 1 / choice.C, weights)
    try:
        first = machines.held_out(groups)
    except ValueError:  # the kernel is not positive definite on these rows, and tells nothing here
        return None
    others = [machines.held_out_of(gram(choice.kernel, version, X[:, 0]), groups) for version in X.swapaxes(0, 1)[1:]]
    averaged = np.mean([first, *others], axis=0)
    of_averages, of_first = (np.average(machines.losses(scores), weights=weights) for scores in (averaged, first))
    return float(of_averages), float(of_first)

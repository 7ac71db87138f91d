"""A corpus to a model: gather, preprocess, train, evaluate what was held out, and write down where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.clips import combine_windows, fit_independent, fit_inverse_temperature
from audioclass.classifier.durations import fit_power
from audioclass.classifier.model import Model, TrainedRecordings
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.contracts import TellsLabelsIndependently
from audioclass.data import Corpus
from audioclass.engine.corpus_reading import read_corpus_at, tree_for
from audioclass.engine.datasets import Dataset
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.gathering import gather
from audioclass.engine.knowing import KnownGroups
from audioclass.engine.near_duplicates import NearDuplicateClips, near_duplicate_facts
from audioclass.engine.provenance import describe, thresholds_of
from audioclass.engine.rates import recipe_for
from audioclass.engine.recipe_choice import RecipeChoice, with_chosen_recipe
from audioclass.engine.remembering import remember
from audioclass.engine.runs import make_run, stage_store
from audioclass.engine.trainable import check_labels, check_read, one_line_refusals
from audioclass.engine.trained import Trained
from audioclass.engine.tree_editing import as_given
from audioclass.engine.versions import (
    JudgedVersions,
    affordable_versions,
    examples_of,
    judge_averages,
    train_on_versions,
)
from audioclass.engine.window_choice import FittingWindows
from audioclass.errors import UsageError
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import Evaluation, evaluate
from audioclass.evaluation.multi_label import MultiLabelEvaluation, evaluate_labels
from audioclass.extraction.recipe import Recipe
from audioclass.label_sets import are_multi_label, labels_of_clips
from audioclass.run import Run
from audioclass.smoothers.transitions import count_transitions
from audioclass.storage import Store
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.assemble import Training
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.group_weights import FittedPreprocessing, GroupWeights, fit_preprocessing
from audioclass.training.memory import memory_of, support_rows
from audioclass.training.near_duplicates import NearDuplicates
from audioclass.training.random_split import random_split_posteriors
from audioclass.trees.text import WrittenTree

N_RESAMPLES = 200


def train(
    corpus: str | Path,
    *,
    config: TrainingConfig | None = None,
    tree: WrittenTree | None = None,
    reader: str | None = None,
    name: str = "",
    run: Run | None = None,
    **options: Any,
) -> Trained:
    """Train a model on a labelled corpus.

    `options` are those of `audioclass train` (`strategy="one_vs_one"`, `window=2.0`, …), or a whole `config` is given.
    A `tree` is trained with all its groups and no other; kernels and C are chosen as the configuration says. A run that
    was killed goes on where it stopped: features and machines are kept in the cache of the `run`.
    """
    run = run or make_run()
    config = config_from(config, options, run)
    if tree is not None:
        config = _with_tree(config, tree)
    read = read_corpus_at(corpus, run, reader)
    config = config.for_label_sets(run) if are_multi_label(read.clips) else config
    check_table(read, config)  # before the work
    config, choice = with_chosen_recipe(config, read, run)
    windows = FittingWindows.for_corpus(read, config)
    recipe, remarks = recipe_for(read, windows.applied(recipe_of(config)))
    recipe = fit_recipe(recipe, read.clips, run)
    config = replace(config, recipe=recipe)
    dataset = gather(read, recipe, run).remarked(remarks)
    taxonomy = tree_for(read, dataset.single_labels, config.taxonomy)
    trained = train_on(
        dataset,
        config if dataset.is_multi_label else config.guided_by(taxonomy, run),
        run,
        taxonomy=taxonomy,
        name=name or Path(corpus).resolve().stem,
        recipe_choice=choice,
        windows=windows,
    )
    if tree is None:
        return trained
    # Groups without a name of their own are no answer that somebody could read: back-off passes them by.
    return replace(trained, model=replace(trained.model, taxonomy=tree.taxonomy))


def check_table(read: Corpus, config: TrainingConfig) -> None:
    """Refuse labels that cannot be trained on, from what the table of a corpus says alone."""
    labels = labels_of_clips(read.clips) if are_multi_label(read.clips) else read.labels
    check_labels(labels, tree_for(read, labels, config.taxonomy))


def _with_tree(config: TrainingConfig, tree: WrittenTree) -> TrainingConfig:
    """The configuration that trains exactly this tree."""
    if config.taxonomy is not None:
        raise UsageError("a tree has its groups: no taxonomy can be given with it")
    strategy = as_given(config.strategy, tree)
    return replace(config, taxonomy=tree.full_taxonomy, strategy=strategy, chosen=config.chosen | {"strategy"})


def config_from(config: TrainingConfig | None, options: Mapping[str, Any], run: Run) -> TrainingConfig:
    """A whole configuration, or the one that options make."""
    if config is not None and options:
        raise UsageError(f"{', '.join(options)}: give options or a whole configuration, not both")
    return config or TrainingConfig.of(options, run)


@one_thread()
def train_on(
    dataset: Dataset,
    config: TrainingConfig,
    run: Run,
    *,
    taxonomy: Taxonomy | None = None,
    name: str = "model",
    compares_splits: bool = True,
    learns_novelty: bool = True,
    recipe_choice: RecipeChoice | None = None,
    windows: FittingWindows | None = None,
) -> Trained:
    """Train on windows that are at hand.

    Near-duplicates in different groups are held out together. Without `compares_splits` no random split is evaluated
    for comparison, and nobody is told what near-duplicates are worth. Without `learns_novelty` the model does not know
    what is strange to it. `windows` are what the recipe's were made to fit.
    """
    check_read(dataset)
    if dataset.is_multi_label or isinstance(config.strategy, TellsLabelsIndependently):
        dataset, config = dataset.as_sets(), config.for_label_sets(run)
    check_labels(dataset.single_labels, taxonomy)
    corpus, asked = dataset, config
    dataset, config = affordable_versions(dataset, config)
    recipe = recipe_of(config)
    ranks = _fit_ranks(dataset, recipe)
    duplicates = NearDuplicateClips.among(dataset, ranks.apply, recipe.at_one_speed.groups)
    dataset = dataset.regrouped(duplicates.same_groups)
    fitted = _fit_preprocessing(dataset, recipe, config, ranks, run.seed)
    preprocessing = fitted.preprocessing
    examples = examples_of(dataset, recipe, preprocessing, config)
    with stage_store(run, "training", examples.fingerprint) as store:
        with one_line_refusals():
            judged = train_on_versions(examples, dataset.labels, config, run, taxonomy=taxonomy, store=store)
            if config is not asked:
                whole = corpus.regrouped(duplicates.same_groups)
                judged = judge_averages(judged, whole, asked, preprocessing)
        fits = "" if windows is None else windows.reason(recipe)
        judged = judged.saying(*filter(None, [fits]), *fitted.choices, *duplicates.choices)
        figures = _measure(dataset, judged, duplicates, taxonomy, run, store, compares_splits=compares_splits)
        about = _describe(corpus, judged, figures, run, fitted.group_weights, recipe_choice)
        if judged.answers_in is not None:
            about["choices"]["versions"] = str(list(recipe.versions))
        model = _assemble(
            name, dataset, preprocessing, judged, duplicates, taxonomy, about, figures.inverse_temperature
        )
        if not dataset.is_multi_label:  # what is strange to a label, and sets of labels, are of one label at a time
            held_out = judged.training.held_out
            power = fit_power(held_out, dataset.y, dataset.segments, dataset.groups, model.usual_duration)
            model = replace(model, short_power=power)
            known = KnownGroups.of(judged.examples, judged.training, dataset.clip_names, duplicates.left_apart)
            model = known.taught(model, run, learns_novelty=learns_novelty)
    measured = (figures.grouped, figures.random_split, figures.near_duplicates)
    return Trained(model, judged.training, replace(dataset, clips=corpus.clips), *measured, recipe_choice)


def _fit_ranks(dataset: Dataset, recipe: Recipe) -> Preprocessing:
    """By first versions: ranks and spreads are those of recordings as they are."""
    X, groups = dataset.X[:, : recipe.n_features], recipe.at_one_speed.groups
    return Preprocessing.fit(X, groups, "rank", group_weights=recipe.group_weights)


def _fit_preprocessing(
    dataset: Dataset, recipe: Recipe, config: TrainingConfig, ranks: Preprocessing, seed: int
) -> FittedPreprocessing:
    return fit_preprocessing(
        dataset.X[:, : recipe.n_features],
        dataset.y,
        dataset.groups,
        config,
        sample_weights=dataset.weights,
        feature_groups=recipe.at_one_speed.groups,
        given=recipe.group_weights,
        ranks=ranks,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Figures:
    """What was measured on what was held out, and how the windows of a clip were combined for that."""

    inverse_temperature: float
    grouped: Evaluation | MultiLabelEvaluation
    random_split: Evaluation | None = None
    near_duplicates: NearDuplicates | None = None


def _measure(
    dataset: Dataset,
    judged: JudgedVersions,
    duplicates: NearDuplicateClips,
    taxonomy: Taxonomy | None,
    run: Run,
    store: Store | None,
    *,
    compares_splits: bool,
) -> _Figures:
    training, examples = judged.training, judged.examples
    if dataset.is_multi_label:
        return _measure_labels(dataset, training)
    inverse_temperature = fit_inverse_temperature(training.held_out, dataset.y, dataset.clip_names)
    evaluated = partial(evaluate_posteriors, dataset, taxonomy=taxonomy, inverse_temperature=inverse_temperature)
    figures = _Figures(inverse_temperature, evaluated(training.held_out))
    if not compares_splits:
        return figures
    if len(np.unique(duplicates.groups)) < len(dataset.y):
        P = random_split_posteriors(examples, judged.config, training, run.telling("random split"), store=store)
        figures = replace(figures, random_split=evaluated(P))
    return replace(figures, near_duplicates=duplicates.worth(are_joined=True))


def _measure_labels(dataset: Dataset, training: Training) -> _Figures:
    """Of labels that overlap: each against its absence, over windows."""
    labels, P = training.classifier.labels, training.held_out
    holds = dataset.holds_among(labels)
    thresholds, resampling = training.classifier.thresholds, Resampling(n_resamples=N_RESAMPLES)
    evaluation = evaluate_labels(labels, holds, P, thresholds, dataset.groups, resampling)
    return _Figures(fit_independent(P, holds, dataset.clip_names), evaluation)


def _describe(
    dataset: Dataset,
    judged: JudgedVersions,
    figures: _Figures,
    run: Run,
    group_weights: GroupWeights | None,
    recipe_choice: RecipeChoice | None,
) -> dict[str, Any]:
    """What the model says of itself."""
    about = describe(
        dataset,
        judged.config,
        run,
        judged.training,
        figures.grouped,
        figures.random_split,
        judged.examples.y,
        group_weights,
        recipe_choice,
    )
    if isinstance(figures.grouped, MultiLabelEvaluation):
        return about | thresholds_of(judged.training.classifier)
    return about | near_duplicate_facts(figures.near_duplicates, figures.grouped)


def _assemble(
    name: str,
    dataset: Dataset,
    preprocessing: Preprocessing,
    judged: JudgedVersions,
    duplicates: NearDuplicateClips,
    taxonomy: Taxonomy | None,
    about: Mapping[str, Any],
    inverse_temperature: float,
) -> Model:
    """The model, which answers with all versions that it was trained on unless the configuration has the first.

    Where more were too many to be trained on, it may yet answer with these.
    """
    recipe = recipe_of(judged.config)
    return Model.of(
        name,
        judged.answers_in or (recipe if judged.config.average_versions else recipe.at_one_speed),
        preprocessing,
        judged.training.classifier,
        taxonomy,
        about,
        memory_of(judged.training, judged.examples),
        inverse_temperature,
        transitions_of(dataset, recipe),
        recordings_of(dataset, judged.training, judged.examples, duplicates.same_groups),
    )


def recordings_of(
    dataset: Dataset, training: Training, examples: Examples, same_groups: Mapping[str, str]
) -> TrainedRecordings:
    """The recordings that were trained on, and which one each row of the bank is of.

    `same_groups` are the names of groups that are one with another, by which recordings may come again.
    """
    rows, recordings = support_rows(training), remember(dataset)
    place = {name: i for i, name in enumerate(recordings.names)}
    aliases = {name: place[leader] for name, leader in same_groups.items() if leader in place}
    windows = np.empty(0, dtype=int) if rows is None else examples.windows_of(rows)
    return replace(recordings.of_rows(windows), aliases=aliases)


def transitions_of(dataset: Dataset, recipe: Recipe) -> np.ndarray | None:
    """How often each label follows each from window to window; None where no recording has several labels in a row."""
    if dataset.is_multi_label:
        return None
    sequences = dataset.label_sequences(recipe.window_hop)
    return count_transitions(sequences, len(dataset.labels)) if sequences else None


def recipe_of(config: TrainingConfig) -> Recipe:
    """The recipe of a configuration that trains on recordings."""
    if config.recipe is None:
        raise UsageError("recipe: training on recordings needs one")
    if isinstance(config.recipe, str):
        raise UsageError(f"recipe={config.recipe} is chosen where one model is trained or evaluated; name one here")
    return config.recipe


def evaluate_posteriors(
    dataset: Dataset, P: np.ndarray, taxonomy: Taxonomy | None, inverse_temperature: float
) -> Evaluation:
    """Posteriors of labelled windows against their labels, per window and per clip."""
    return evaluate(
        dataset.labels,
        dataset.y,
        P,
        dataset.groups,
        files=dataset.clip_names,
        segments=dataset.segments,
        paths=[taxonomy.path(label) for label in dataset.labels] if taxonomy else (),
        pool=partial(combine_windows, inverse_temperature=inverse_temperature),
        resampling=Resampling(n_resamples=N_RESAMPLES),
    )

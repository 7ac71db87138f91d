"""How good a model is on a corpus, and how good a configuration is on folds of one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.model import Model
from audioclass.classifier.tree import tree_text
from audioclass.data import Corpus
from audioclass.engine.corpus_folds import AUTO, folds_of_clips
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.datasets import Dataset
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.evaluating_segments import detect
from audioclass.engine.folded_corpus import check_read_table, gather_folds, prepare_folds
from audioclass.engine.gathering import gather
from audioclass.engine.recipe_choice import with_chosen_recipe
from audioclass.engine.remembering import FORGOT, count_recordings, remembers_recordings, trained_on
from audioclass.engine.runs import make_run, stage_store
from audioclass.engine.training import config_from, recipe_of
from audioclass.errors import CorpusError, UsageError, did_you_mean
from audioclass.label_sets import are_multi_label, labels_of_clips
from audioclass.run import Run
from audioclass.training.config import TrainingConfig
from audioclass.training.options import AUTO_RECIPE


def evaluate_model(
    model: Model,
    corpus: str | Path,
    *,
    depth: int | None = None,
    reader: str | None = None,
    run: Run | None = None,
) -> Evaluated:
    """A model on a corpus; every label of the corpus must be one of the model's at a `depth` of its taxonomy.

    Where none is stated, that is the deepest at which they all are: the leaves if the corpus has leaves.
    """
    run = run or make_run()
    read = read_corpus_at(corpus, run, reader)
    overlap = model.is_multi_label or are_multi_label(read.clips)
    tree = tree_text(model)
    model = _told_as(model, labels_of_clips(read.clips) if overlap else read.labels, depth, corpus)
    dataset = gather(read, model.recipe, run, as_sets=overlap)
    start = time.perf_counter()
    P = model.flatten_short(model.posteriors_of(dataset.X), dataset.segments)
    seconds = time.perf_counter() - start
    return Evaluated(
        dataset,
        model.labels,
        P,
        model.paths,
        predict_seconds=seconds,
        machines=model.classifier.n_machines,
        support_rows=model.classifier.n_support,
        inverse_temperature=model.inverse_temperature,
        tree=tree,
        thresholds=model.thresholds if overlap else None,
        in_time=detect(model, read, run).to_plain() if overlap else {},
    )


def _told_as(model: Model, labels: Sequence[str], depth: int | None, corpus: str | Path) -> Model:
    """The model at a depth of its taxonomy, by default the deepest that has all the labels."""
    told = model.at_depth(model.taxonomy.depth if depth is None else depth)
    missing = [label for label in labels if label not in told.labels]
    if missing and depth is None:
        for above in range(model.taxonomy.depth - 1, 0, -1):
            with contextlib.suppress(UsageError):  # a depth that cannot be told is none that was asked for
                view = model.at_depth(above)
                if set(labels) <= set(view.labels):
                    return view
    if missing:
        hint, known = did_you_mean(missing[0], told.labels), ", ".join(told.labels)
        raise CorpusError(f"{corpus}: the model has no label {missing[0]!r}{hint}; it knows {known}")
    return told


def trained_already(model: Model, dataset: Dataset) -> str:
    """What the model's training tells of its figures on a corpus: nothing, where it was trained on none of it."""
    corpora = [model.about.get("corpus", {}), *(update["corpus"] for update in model.about.get("updates", []))]
    if dataset.fingerprint in {corpus.get("fingerprint") for corpus in corpora}:
        return "was trained on this very corpus: these figures say nothing about new recordings"
    is_known = trained_on(model, dataset)
    if not is_known.any():
        return "" if remembers_recordings(model) else FORGOT
    total = count_recordings(dataset, np.ones(len(is_known), dtype=bool))
    n = count_recordings(dataset, is_known)
    return f"was trained on {n} of these {total} recordings: figures of them say nothing about new ones"


def cross_validate(
    corpus: str | Path,
    *,
    config: TrainingConfig | None = None,
    folds: str = AUTO,
    reader: str | None = None,
    run: Run | None = None,
    **options: Any,
) -> Evaluated:
    """Train on all folds but one and evaluate that one, for each; groups never stand on both sides of folds we make.

    Folds that the corpus states are taken as they are, with a warning where they part groups.
    `options` are those of a training, or a whole `config` is given. A run that was killed goes on with the fold where
    it stopped.
    """
    run = run or make_run()
    config = config_from(config, options, run)
    if config.recipe == AUTO_RECIPE:
        return _cross_validate_chosen(read_corpus_at(corpus, run, reader), config, run, folds)
    prepared = prepare_folds(corpus, config, run, folds=folds, reader=reader)
    with stage_store(run, "folds", prepared.dataset.fingerprint) as store:
        return replace(prepared.evaluate(config, run, store), near_duplicates=prepared.near_duplicates(config))


def _cross_validate_chosen(read: Corpus, config: TrainingConfig, run: Run, stated: str) -> Evaluated:
    """The same where every fold is evaluated with the recipe that was chosen on the clips of the others."""
    check_read_table(read, config, stated)
    folds = folds_of_clips(read, stated)
    chosen: dict[str, TrainingConfig] = {}
    of_recipe: dict[str, list[int]] = {}
    notes: dict[str, list[str]] = {}
    for fold in np.unique(folds).tolist():
        one, choice = with_chosen_recipe(config, read, run, np.flatnonzero(folds != fold).tolist())
        name = recipe_of(one).name
        chosen[name] = one
        of_recipe.setdefault(name, []).append(fold)
        notes.setdefault(name, []).append(f"fold {fold + 1}: {choice}")
    parts = []
    for name, names in of_recipe.items():
        prepared = gather_folds(read, chosen[name], run)
        prepared = replace(prepared, folds=folds[prepared.dataset.which])
        with stage_store(run, "folds", prepared.dataset.fingerprint) as store:
            evaluated = prepared.evaluate(chosen[name], run.telling(f"recipe {name}"), store, only=names)
        parts.append(replace(evaluated, notes=(*notes[name], *evaluated.notes)))
    if len(parts) == 1:  # which has all rows, so that those of near-duplicates are its own
        return replace(parts[0], near_duplicates=prepared.near_duplicates(chosen[name]))
    return Evaluated.joined(parts)

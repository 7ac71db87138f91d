"""A model and more recordings, or its tree edited: only what they touch is trained again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import Model
from audioclass.classifier.saving import check_default_depth
from audioclass.contracts import DirectStrategy, PlansRounds, Strategy
from audioclass.data import Corpus
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.datasets import Dataset
from audioclass.engine.gathering import gather
from audioclass.engine.model_update import ModelUpdate
from audioclass.engine.models import load_model
from audioclass.engine.remembering import join
from audioclass.engine.runs import make_run
from audioclass.engine.trainable import check_read, refuse_multi_label
from audioclass.engine.trained import Trained
from audioclass.engine.training import recipe_of
from audioclass.engine.tree_editing import (
    as_given,
    compare_trees,
    dendrogram_of,
    tree_of_model,
)
from audioclass.errors import ModelError, UsageError
from audioclass.extraction.recipe import Recipe
from audioclass.label_sets import are_multi_label, labels_of_clips
from audioclass.run import Run
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.config import OPTIONS, TrainingConfig
from audioclass.trees.text import WrittenTree


@one_thread()
def update(
    model: str | Path,
    corpus: str | Path | None = None,
    *,
    name: str = "",
    taxonomy: Taxonomy | None = None,
    tree: WrittenTree | None = None,
    reader: str | None = None,
    run: Run | None = None,
) -> Trained:
    """Add a corpus to a model, more recordings of its labels or of new ones; or change its tree; or both.

    Features are preprocessed as the model does it, and the configuration is the model's own. Dichotomies that neither
    the added labels nor the tree touch keep their machines to the bit; the others are trained on the rows that the
    model remembers and the added ones. A recording that the model was trained on counts once, and a group of the same
    name is the same group: what is held out is held out of both. A `taxonomy` is needed only where a new label belongs
    to a group; else the corpus's own tree says where it stands. A `tree` is the model's own after it was edited:
    touched machines have the kernel and C that it states, and its groups are neither learnt nor merged.
    """
    run = run or make_run()
    old = load_model(model, registry=run.registry)
    if tree is not None:
        refuse_multi_label(old, "given a tree")
    bank = old.classifier.machines
    if old.memory is None or not isinstance(bank, Bank) or not old.about.get("machines"):
        raise ModelError(f"{model}: it remembers no training rows to add to; train again on both corpora")
    config, run = config_of(old, run)
    if isinstance(config.strategy, PlansRounds):  # who counts in a later round hangs on all that were trained before
        raise ModelError(f"{model}: strategy {config.strategy.name!r} plans in rounds; train again on both corpora")
    recipe = recipe_of(config)  # in the versions that were trained on, of which the model may answer with one
    dataset, paths = _added(corpus, old, recipe, run, reader)
    labels = tuple(sorted({*old.labels, *dataset.single_labels}))
    classes = tuple(sorted({*old.classifier.classes, *dataset.labels}))
    changes = None
    if tree is not None:
        if taxonomy is not None:
            raise UsageError("a tree has its groups: no taxonomy can be given with it")
        changes = compare_trees(old, tree, labels)
        taxonomy = _taxonomy_of(old, tree)
        config = replace(config, strategy=_given_strategy(config.strategy, tree, taxonomy))
    grown = taxonomy or _grown_tree(old, labels, paths)
    grown.check_labels(labels)
    check_default_depth(old.default_depth, labels, grown, independent=old.is_multi_label)
    is_same = taxonomy is None and classes == old.classifier.classes
    joined = join(old, bank, old.memory, dataset)
    dataset = replace(dataset, remarks=(*dataset.remarks, *joined.remarks))
    work = ModelUpdate(old, bank, old.memory, config, dataset, joined, classes, grown, tree, changes, is_same=is_same)
    return work.trained(name or old.name, run)


def _added(
    corpus: str | Path | None, old: Model, recipe: Recipe, run: Run, reader: str | None
) -> tuple[Dataset, Sequence[Sequence[str]]]:
    """The windows of a corpus and the paths of its labels; nothing where there is none."""
    if corpus is None:
        return Dataset.empty(len(recipe.columns)), ()
    read = read_corpus_at(corpus, run, reader)
    _check_overlaps(old, read)
    dataset = gather(read, recipe, run, as_sets=old.is_multi_label)
    check_read(dataset)
    return dataset, read.paths


def _check_overlaps(old: Model, read: Corpus) -> None:
    """Refuse labels that overlap where the model knows none, and those of which nobody knows where else they hold."""
    if not old.is_multi_label and are_multi_label(read.clips):
        raise UsageError(f"labels overlap, and {old.name} tells one at a time; train again on both corpora")
    new = [label for label in labels_of_clips(read.clips) if label not in old.labels]
    if old.is_multi_label and new:
        raise UsageError(
            f"label {new[0]!r} is new: nobody knows where it holds in what {old.name} was trained on; train again on"
            " both corpora"
        )


def _taxonomy_of(old: Model, tree: WrittenTree) -> Taxonomy:
    """The model's own taxonomy while the groups with names are the same, else that of the tree."""
    is_same = tree.labels == old.labels and tree.named_groups == tree_of_model(old).named_groups
    return old.taxonomy if is_same else tree.taxonomy


def _given_strategy(strategy: Strategy | DirectStrategy, tree: WrittenTree, taxonomy: Taxonomy) -> HybridDendrogram:
    """Merges nothing of the tree; what is planned anew later, for more labels, has the groups of the taxonomy."""
    given = as_given(strategy, tree)
    return given if len(taxonomy.groups) > 1 else replace(given, tree=dendrogram_of(strategy).tree)


def config_of(model: Model, run: Run) -> tuple[TrainingConfig, Run]:
    """The configuration that a model was trained with, and the run with its seed.

    Options that were taken out of the package since then said how kernels were chosen, and these are chosen already.
    """
    known = {name for option in OPTIONS for name in option.names}
    choices = dict(model.about.get("choices", {}))
    run = replace(run, seed=int(choices.get("seed", 0)))
    stated = {name: value for name, value in choices.items() if name in known}
    sources = dict.fromkeys(stated, model.name)
    return TrainingConfig.of({**stated, "recipe": model.recipe}, run, sources=sources, chosen=()), run


def _grown_tree(old: Model, labels: Sequence[str], paths: Sequence[Sequence[str]]) -> Taxonomy:
    """The model's tree with new labels where the corpus has them, or at the top."""
    placed = [path for path in paths if path[-1] not in old.labels]
    elsewhere = [(label,) for label in labels if label not in {*old.labels, *(path[-1] for path in placed)}]
    return Taxonomy.of_paths([*old.taxonomy.leaf_paths, *placed, *elsewhere])

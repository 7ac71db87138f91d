"""A corpus in folds, each of which is evaluated by a model that was trained on the others."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.preprocessing import Preprocessing
from audioclass.classifier.tree import tree_text
from audioclass.data import Corpus
from audioclass.engine.corpus_folds import AUTO, check_folds, check_labels_of_folds, folds_of
from audioclass.engine.corpus_reading import read_corpus_at, tree_for
from audioclass.engine.datasets import Dataset
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.gathering import gather
from audioclass.engine.near_duplicates import near_duplicates_among
from audioclass.engine.rates import recipe_for
from audioclass.engine.trainable import check_labels, check_read
from audioclass.engine.training import check_table, recipe_of, train_on
from audioclass.engine.window_choice import FittingWindows
from audioclass.errors import CorpusError
from audioclass.extraction.recipe import Recipe
from audioclass.label_sets import are_multi_label
from audioclass.run import Run
from audioclass.storage import Store, computed
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.config import TrainingConfig
from audioclass.training.near_duplicates import NearDuplicates


@dataclass(frozen=True, eq=False)
class FoldedCorpus:
    """The windows of a corpus with the fold of each, on which configurations of one recipe are evaluated.

    `recipe` is theirs at the rate of the recordings; None where that is the rate of their own.
    The `dataset` has the features of the recipe's fixed parts; those of parts that learn are extracted for each fold,
    by what was learnt from the others; the `corpus` is needed for that alone. `notes` say what was chosen for them.
    """

    dataset: Dataset
    folds: np.ndarray
    taxonomy: Taxonomy | None
    recipe: Recipe | None = None
    corpus: Corpus = field(default_factory=lambda: Corpus(()))
    notes: tuple[str, ...] = ()
    _fits: dict[Any, Recipe] = field(default_factory=dict, repr=False)  # several configurations learn the same

    def evaluate(
        self, config: TrainingConfig, run: Run, store: Store | None, only: Sequence[int] | None = None
    ) -> Evaluated:
        """Every row by machines that never saw its fold; a fold is kept in the `store` as soon as it is done.

        With `only` these folds alone are evaluated, and the others trained on.
        """
        config, labels = self._config(config, run), self.dataset.single_labels
        names = np.unique(self.folds) if only is None else np.array(only)
        P, thresholds = (np.zeros((len(self.folds), len(labels))) for _ in range(2))
        results: list[FoldResult] = []
        for number, fold in enumerate(names, start=1):
            held = self.folds == fold
            part = run.telling(f"fold {number} of {len(names)}")
            arrays = computed(
                store,
                partial(self._key, config, held, run.seed),
                partial(self._fold_arrays, held, config, part),
            )
            results.append(FoldResult.of_arrays(arrays))
            P[held], thresholds[held] = results[-1].P, results[-1].thresholds
        rows = np.flatnonzero(np.isin(self.folds, names))
        return Evaluated(
            self.dataset if only is None else self.dataset.take(rows),
            labels,
            P[rows],
            tuple(self.taxonomy.path(label) if self.taxonomy else (label,) for label in labels),
            self.folds[rows],
            train_seconds=sum(result.train_seconds for result in results),
            predict_seconds=sum(result.predict_seconds for result in results),
            machines=float(np.mean([result.machines for result in results])),
            support_rows=float(np.mean([result.support_rows for result in results])),
            inverse_temperature=float(np.mean([result.inverse_temperature for result in results])),
            tree=results[0].tree,
            notes=self.notes,
            thresholds=thresholds[rows] if self.dataset.is_multi_label else None,
        )

    def _config(self, config: TrainingConfig, run: Run) -> TrainingConfig:
        """What is trained on the folds, each of which must leave something of every label."""
        config = replace(config, recipe=self.recipe or config.recipe)
        if self.dataset.is_multi_label:
            labels = self.dataset.single_labels
            for k, holds in enumerate(self.dataset.holds_among(labels).T):
                check_labels_of_folds([labels[k]], np.where(holds, 0, 1), self.folds)
            return config.for_label_sets(run)
        check_labels_of_folds(self.dataset.labels, self.dataset.y, self.folds)
        return config.guided_by(self.taxonomy, run)

    @one_thread()
    def near_duplicates(self, config: TrainingConfig) -> NearDuplicates | None:
        """Recordings in different folds that seem to be of one source, by features that nothing was learnt for."""
        recipe = (self.recipe or recipe_of(config)).fixed.at_one_speed
        if not recipe.parts:
            return None
        X, groups = self.dataset.X[:, : recipe.n_features], recipe.groups
        preprocessing = Preprocessing.fit(X, groups, group_weights=recipe.group_weights)
        return near_duplicates_among(self.dataset, preprocessing.apply, groups, apart=self.folds)

    def _fold_arrays(self, held: np.ndarray, config: TrainingConfig, run: Run) -> Mapping[str, np.ndarray]:
        return self._evaluate_fold(held, config, run).to_arrays()

    def _evaluate_fold(self, held: np.ndarray, config: TrainingConfig, run: Run) -> FoldResult:
        recipe, dataset = self.fitted(recipe_of(config), held, run)
        config = replace(config, recipe=recipe)
        known, new = dataset.take(np.flatnonzero(~held)), dataset.take(np.flatnonzero(held))
        start = time.perf_counter()
        model = train_on(known, config, run, taxonomy=self.taxonomy, compares_splits=False, learns_novelty=False).model
        middle = time.perf_counter()
        P = model.posteriors_of(new.X[:, : len(model.recipe.columns)])  # of those versions that it answers with
        P = model.flatten_short(P, new.segments)
        return FoldResult(
            P,
            train_seconds=middle - start,
            predict_seconds=time.perf_counter() - middle,
            machines=model.classifier.n_machines,
            support_rows=model.classifier.n_support,
            inverse_temperature=model.inverse_temperature,
            tree=tree_text(model),
            thresholds=model.classifier.thresholds,
        )

    def fitted(self, recipe: Recipe, held: np.ndarray, run: Run) -> tuple[Recipe, Dataset]:
        """The recipe as it learns from what is not held out, and all windows with all of its features."""
        if not recipe.learns:
            return recipe, self.dataset
        key = recipe.unfitted, held.tobytes(), run.seed
        if key not in self._fits:
            used = np.unique(self.dataset.which[~held]).tolist()
            self._fits[key] = fit_recipe(recipe.unfitted, self.corpus.clips, run, used)
        fitted = self._fits[key]
        learnt = gather(self.corpus, fitted.learnt, run)
        if learnt.segments != self.dataset.segments or not np.array_equal(learnt.which, self.dataset.which):
            raise CorpusError("the recordings of the corpus changed while it was evaluated")
        return fitted, replace(self.dataset, X=fitted.join(self.dataset.X, learnt.X))

    def _key(self, config: TrainingConfig, held: np.ndarray, seed: int) -> str:
        tree = self.taxonomy.to_toml() if self.taxonomy else ""
        rows, recipe = np.packbits(held).tobytes().hex(), recipe_of(config)
        weights = [] if set(recipe.group_weights.values()) <= {1.0} else [recipe.group_weights]
        return repr((self.dataset.fingerprint, recipe.fingerprint, config.to_plain(), tree, rows, seed, *weights))


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Posteriors of the rows of a fold, what they cost, and the text of the tree that gave them."""

    P: np.ndarray
    train_seconds: float
    predict_seconds: float
    machines: float
    support_rows: float
    inverse_temperature: float
    tree: str = field(default="")
    thresholds: np.ndarray = field(default_factory=lambda: np.array(0.5))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """As a store keeps it."""
        numbers = [getattr(self, name) for name in FOLD_FIGURES]
        tree = np.frombuffer(self.tree.encode(), np.uint8)
        return {"P": self.P, "figures": np.array(numbers, float), "tree": tree, "thresholds": self.thresholds}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> FoldResult:
        """The inverse of `to_arrays`."""
        figures = dict(zip(FOLD_FIGURES, arrays["figures"].tolist(), strict=True))
        tree, thresholds = arrays["tree"].tobytes().decode(), arrays.get("thresholds", np.array(0.5))
        return cls(arrays["P"], **figures, tree=tree, thresholds=thresholds)


FOLD_FIGURES = ("train_seconds", "predict_seconds", "machines", "support_rows", "inverse_temperature")


def prepare_folds(
    corpus: str | Path, config: TrainingConfig, run: Run, *, folds: str = AUTO, reader: str | None = None
) -> FoldedCorpus:
    """A corpus read and extracted, its taxonomy, and the fold of each window.

    What its table alone shows to be wrong is refused before the recordings are read.
    """
    recipe_of(config)
    read = read_corpus_at(corpus, run, reader)
    check_read_table(read, config, folds)
    prepared = gather_folds(read, config, run)
    return replace(prepared, folds=folds_of(prepared.dataset, folds))


def check_read_table(read: Corpus, config: TrainingConfig, folds: str) -> None:
    """Refuse labels and folds that cannot be trained on, before any recording is read."""
    check_table(read, config)
    if not are_multi_label(read.clips):
        check_folds(read, folds)


def gather_folds(read: Corpus, config: TrainingConfig, run: Run) -> FoldedCorpus:
    """The windows of a corpus, not yet in folds."""
    windows = FittingWindows.for_corpus(read, config)
    recipe, remarks = recipe_for(read, windows.applied(recipe_of(config)))
    dataset = gather(read, recipe.fixed, run).remarked(remarks)
    taxonomy = tree_for(read, dataset.single_labels, config.taxonomy)
    check_read(dataset)
    check_labels(dataset.single_labels, taxonomy)
    notes = tuple(filter(None, [windows.reason(recipe)]))
    return FoldedCorpus(dataset, np.zeros(len(dataset.X), dtype=int), taxonomy, recipe, read, notes)

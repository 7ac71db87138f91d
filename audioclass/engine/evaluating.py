"""How good a model is on a corpus, and how good a configuration is on folds of one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.clips import combine_windows
from audioclass.classifier.model import Model
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.classifier.tree import learnt_tree
from audioclass.data import Corpus
from audioclass.engine.datasets import Dataset, gather, read_corpus_at, tree_for
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.near_duplicates import near_duplicate_facts, near_duplicate_warning, near_duplicates_among
from audioclass.engine.rates import recipe_for
from audioclass.engine.recipe_choice import with_chosen_recipe
from audioclass.engine.remembering import FORGOT, count_recordings, remembers_recordings, trained_on
from audioclass.engine.runs import make_run, stage_store
from audioclass.engine.training import check_labels, check_read, config_from, recipe_of, train_on
from audioclass.errors import CorpusError, UsageError, did_you_mean, listed
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import Evaluation, evaluate
from audioclass.evaluation.predictions import Predictions
from audioclass.extraction.recipe import Recipe
from audioclass.run import Run
from audioclass.storage import Store, computed
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.config import AUTO_RECIPE, TrainingConfig
from audioclass.training.folds import fold_count, grouped_folds
from audioclass.training.near_duplicates import NearDuplicates

N_FOLDS = 5
AUTO, GROUPS = "auto", "groups"
N_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Posteriors of a corpus's windows and what they are worth; `folds` is None where one model gave them all.

    Seconds are those of training and prediction over all folds, machines and support rows the means of a fold.
    `inverse_temperature` combines the windows of a clip, the mean over the folds. `tree` is the text of the model's
    tree, or of one trained without the first fold; empty where there is none. `near_duplicates` are recordings in
    different folds that are too much alike for that, None where they are not many. `notes` say what was chosen
    for folds.
    """

    dataset: Dataset
    labels: tuple[str, ...]
    P: np.ndarray
    paths: tuple[tuple[str, ...], ...]
    folds: np.ndarray | None = None
    train_seconds: float = 0.0
    predict_seconds: float = 0.0
    machines: float = 0.0
    support_rows: float = 0.0
    inverse_temperature: float = 1.0
    tree: str = ""
    near_duplicates: NearDuplicates | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence[Evaluated]) -> Evaluated:
        """Evaluations of different folds of one corpus as one; features, which recipes may differ in, are left out."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        if any(part.labels != first.labels for part in parts):
            raise CorpusError("the recipes of the folds cannot read recordings of the same labels")
        n_rows = [len(part.P) for part in parts]
        dataset = replace(
            first.dataset,
            X=np.empty((sum(n_rows), 0)),
            which=np.concatenate([part.dataset.which for part in parts]),
            segments=tuple(segment for part in parts for segment in part.dataset.segments),
        )
        return replace(
            first,
            dataset=dataset,
            P=np.concatenate([part.P for part in parts]),
            folds=np.concatenate([part.folds for part in parts if part.folds is not None]),
            train_seconds=sum(part.train_seconds for part in parts),
            predict_seconds=sum(part.predict_seconds for part in parts),
            machines=float(np.average([part.machines for part in parts], weights=n_rows)),
            support_rows=float(np.average([part.support_rows for part in parts], weights=n_rows)),
            inverse_temperature=float(np.average([part.inverse_temperature for part in parts], weights=n_rows)),
            notes=tuple(note for part in parts for note in part.notes),
        )

    @one_thread()
    def evaluation(self, n_resamples: int = N_RESAMPLES) -> Evaluation:
        """All measures, per window and per recording, with intervals over groups."""
        return evaluate(
            self.labels,
            self.dataset.y_among(self.labels),
            self.P,
            self.dataset.groups,
            files=self.dataset.clip_names,
            segments=self.dataset.segments,
            paths=self.paths if any(len(path) > 1 for path in self.paths) else (),
            pool=self.pool,
            resampling=Resampling(n_resamples=n_resamples),
        )

    def warnings(self, evaluation: Evaluation) -> list[str]:
        """What a user should know before trusting its evaluation."""
        if self.near_duplicates is None:
            return []
        return [near_duplicate_warning(self.near_duplicates, self.dataset, evaluation)]

    def facts(self, evaluation: Evaluation) -> dict[str, Any]:
        """The same as plain values, beside those of the evaluation."""
        return near_duplicate_facts(self.near_duplicates, evaluation)

    def pool(self, P: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The posterior of a clip from those of its windows."""
        return combine_windows(P, weights, self.inverse_temperature)

    def predictions(self) -> Predictions:
        """The posteriors beside the reference, as comparisons take them."""
        return Predictions.of(
            self.labels,
            self.dataset.y_among(self.labels),
            self.P,
            self.dataset.groups,
            files=self.dataset.clip_names,
            segments=self.dataset.segments,
        )


def evaluate_model(model: Model, corpus: str | Path, *, reader: str | None = None, run: Run | None = None) -> Evaluated:
    """A model on a corpus; every label of the corpus must be one of the model's."""
    run = run or make_run()
    read = read_corpus_at(corpus, run, reader)
    for label in read.labels:
        if label not in model.labels:
            known = ", ".join(model.labels)
            raise CorpusError(
                f"{corpus}: the model has no label {label!r}{did_you_mean(label, model.labels)}; it knows {known}"
            )
    dataset = gather(read, model.recipe, run)
    start = time.perf_counter()
    P = model.posteriors_of(dataset.X)
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
        tree=_tree_text(model),
    )


def _tree_text(model: Model) -> str:
    tree = learnt_tree(model)
    return tree.to_toml() if tree else ""


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
    _check_read_table(read, config, stated)
    folds = _folds(read.labels, *_columns_of(read), stated)
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
        prepared = _gather_folds(read, chosen[name], run)
        prepared = replace(prepared, folds=folds[prepared.dataset.which])
        with stage_store(run, "folds", prepared.dataset.fingerprint) as store:
            evaluated = prepared.evaluate(chosen[name], run.telling(f"recipe {name}"), store, only=names)
        parts.append(replace(evaluated, notes=tuple(notes[name])))
    if len(parts) == 1:  # which has all rows, so that those of near-duplicates are its own
        return replace(parts[0], near_duplicates=prepared.near_duplicates(chosen[name]))
    return Evaluated.joined(parts)


@dataclass(frozen=True, eq=False)
class FoldedCorpus:
    """The windows of a corpus with the fold of each, on which configurations of one recipe are evaluated.

    `recipe` is theirs at the rate of the recordings; None where that is the rate of their own.
    The `dataset` has the features of the recipe's fixed parts; those of parts that learn are extracted for each fold,
    by what was learnt from the others; the `corpus` is needed for that alone.
    """

    dataset: Dataset
    folds: np.ndarray
    taxonomy: Taxonomy | None
    recipe: Recipe | None = None
    corpus: Corpus = field(default_factory=lambda: Corpus(()))
    _fits: dict[Any, Recipe] = field(default_factory=dict, repr=False)  # several configurations learn the same

    def evaluate(
        self, config: TrainingConfig, run: Run, store: Store | None, only: Sequence[int] | None = None
    ) -> Evaluated:
        """Every row by machines that never saw its fold; a fold is kept in the `store` as soon as it is done.

        With `only` these folds alone are evaluated, and the others trained on.
        """
        _check_labels_of_folds(self.dataset.labels, self.dataset.y, self.folds)
        config = replace(config, recipe=self.recipe or config.recipe).guided_by(self.taxonomy, run)
        names = np.unique(self.folds) if only is None else np.array(only)
        P = np.zeros((len(self.folds), len(self.dataset.labels)))
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
            P[held] = results[-1].P
        labels, rows = self.dataset.labels, np.flatnonzero(np.isin(self.folds, names))
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
        )

    @one_thread()
    def near_duplicates(self, config: TrainingConfig) -> NearDuplicates | None:
        """Recordings in different folds that seem to be of one source, by features that nothing was learnt for."""
        recipe = (self.recipe or recipe_of(config)).fixed.at_one_speed
        if not recipe.parts:
            return None
        X, groups = self.dataset.X[:, : recipe.n_features], recipe.groups
        preprocessing = Preprocessing.fit(X, groups, config.normalisation, group_weights=recipe.group_weights)
        return near_duplicates_among(self.dataset, preprocessing.apply(X), groups, apart=self.folds)

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
        return FoldResult(
            P,
            train_seconds=middle - start,
            predict_seconds=time.perf_counter() - middle,
            machines=model.classifier.n_machines,
            support_rows=model.classifier.n_support,
            inverse_temperature=model.inverse_temperature,
            tree=_tree_text(model),
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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """As a store keeps it."""
        numbers = [getattr(self, name) for name in FOLD_FIGURES]
        return {"P": self.P, "figures": np.array(numbers, float), "tree": np.frombuffer(self.tree.encode(), np.uint8)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> FoldResult:
        """The inverse of `to_arrays`."""
        figures = dict(zip(FOLD_FIGURES, arrays["figures"].tolist(), strict=True))
        return cls(arrays["P"], **figures, tree=arrays["tree"].tobytes().decode())


FOLD_FIGURES = ("train_seconds", "predict_seconds", "machines", "support_rows", "inverse_temperature")


def prepare_folds(
    corpus: str | Path, config: TrainingConfig, run: Run, *, folds: str = AUTO, reader: str | None = None
) -> FoldedCorpus:
    """A corpus read and extracted, its taxonomy, and the fold of each window.

    What its table alone shows to be wrong is refused before the recordings are read.
    """
    recipe_of(config)
    read = read_corpus_at(corpus, run, reader)
    _check_read_table(read, config, folds)
    prepared = _gather_folds(read, config, run)
    return replace(prepared, folds=folds_of(prepared.dataset, folds))


def _check_read_table(read: Corpus, config: TrainingConfig, folds: str) -> None:
    check_labels(read.labels, tree_for(read, read.labels, config.taxonomy))
    _check_table(read, folds)


def _gather_folds(read: Corpus, config: TrainingConfig, run: Run) -> FoldedCorpus:
    """The windows of a corpus, not yet in folds."""
    recipe, remarks = recipe_for(read, recipe_of(config))
    dataset = gather(read, recipe.fixed, run).remarked(remarks)
    taxonomy = tree_for(read, dataset.labels, config.taxonomy)
    check_read(dataset)
    check_labels(dataset.labels, taxonomy)
    return FoldedCorpus(dataset, np.zeros(len(dataset.X), dtype=int), taxonomy, recipe, read)


def folds_of(dataset: Dataset, stated: str = AUTO) -> np.ndarray:
    """The fold of each row: `auto` takes those of the corpus or makes five, `groups` leaves one group out, or a number.

    Groups stay together and labels are spread over the folds, but for folds of a corpus, which are taken as they are.
    """
    return _folds(dataset.labels, dataset.y, dataset.groups, dataset.folds, stated)


def _folds(labels: Sequence[str], y: np.ndarray, groups: np.ndarray, published: np.ndarray, stated: str) -> np.ndarray:
    if stated == AUTO and (published != "").all():
        return _several(np.unique(published, return_inverse=True)[1], "folds")
    groups = np.unique(groups, return_inverse=True)[1]
    if stated == GROUPS:
        return _several(groups, "groups")
    wanted = N_FOLDS if stated == AUTO else _number(stated)
    count = fold_count(y, groups, wanted)
    if count < 2:
        short = [label for k, label in enumerate(labels) if len(np.unique(groups[y == k])) < 2]
        raise CorpusError(f"{_named('label', short)} a single group, at least 2 are needed for folds")
    return grouped_folds(y, groups, count)


def _check_table(corpus: Corpus, stated: str) -> None:
    """Refuse folds that cannot be trained on, and warn of published folds that part groups or are not of all clips."""
    y, groups, published = _columns_of(corpus)
    _check_labels_of_folds(corpus.labels, y, _folds(corpus.labels, y, groups, published, stated))
    without = int((published == "").sum())
    if stated == AUTO and 0 < without < len(published):
        warnings.warn(
            f"{without} of {len(published)} clips have no fold: the folds of the corpus are not used, {N_FOLDS} others"
            " are made",
            stacklevel=2,
        )
    elif stated == AUTO and not without:
        _mention_parted_groups(groups, published)


def _columns_of(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The label index, the group and the published fold of each clip."""
    place = {label: k for k, label in enumerate(corpus.labels)}
    y = np.array([place[clip.label] for clip in corpus.clips])
    groups = np.array([clip.group or str(clip.file) for clip in corpus.clips])
    return y, groups, np.array([clip.fold for clip in corpus.clips])


def _mention_parted_groups(groups: np.ndarray, published: np.ndarray) -> None:
    folds: dict[str, set[str]] = {}
    for group, fold in zip(groups.tolist(), published.tolist(), strict=True):
        folds.setdefault(group, set()).add(fold)
    parted = [f"{group!r} ({', '.join(sorted(names))})" for group, names in sorted(folds.items()) if len(names) > 1]
    if parted:
        stand = "group stands" if len(parted) == 1 else "groups stand"
        warnings.warn(
            f"{len(parted)} of {len(folds)} {stand} in several folds of the corpus: {listed(parted)}; the folds are"
            " taken as they are published, with recordings of these groups in training and test, which flatters the"
            f" figures; --folds {N_FOLDS} makes folds that part no group",
            stacklevel=2,
        )


def _check_labels_of_folds(labels: Sequence[str], y: np.ndarray, folds: np.ndarray) -> None:
    """Refuse a label that all folds but one have none of: it could not be trained without that one."""
    alone = [label for k, label in enumerate(labels) if len(np.unique(folds[y == k])) == 1]
    if alone:
        raise CorpusError(f"{_named('label', alone, 'stands', 'stand')} in one fold only; the others have none of it")


def _named(what: str, names: Sequence[str], one: str = "has", several: str = "have") -> str:
    plural, verb = ("", one) if len(names) == 1 else ("s", several)
    return f"{what}{plural} {listed([repr(name) for name in names])} {verb}"


def _several(codes: np.ndarray, what: str) -> np.ndarray:
    if codes.max() < 1:
        raise CorpusError(f"the corpus has a single one of its {what}, at least 2 are needed")
    return codes


def _number(stated: str) -> int:
    if not stated.isdecimal() or int(stated) < 2:
        raise UsageError(f"folds {stated!r} must be {AUTO!r}, {GROUPS!r} or a number from 2 on")
    return int(stated)

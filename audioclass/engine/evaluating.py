"""How good a model is on a corpus, and how good a way to train is on folds of one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from audioclass.engine.datasets import Dataset, Progress, gather, load_corpus, tree_for
from audioclass.engine.training import Setup, check_labels, run_folder, train_on
from audioclass.errors import CorpusError, UsageError, did_you_mean
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.evaluation.evaluation import Evaluation
    from audioclass.evaluation.predictions import Predictions
    from audioclass.plugins.manager import PluginManager
    from audioclass.storage import Store

N_FOLDS = 5
AUTO, GROUPS = "auto", "groups"
N_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Judged:
    """Posteriors of a corpus's windows and what they are worth; `folds` is None where one model judged all.

    Seconds are those of training and prediction over all folds, machines and support rows the means of a fold.
    `inverse_temperature` combines the windows of a clip, the mean of the folds' own. `tree` is the text of the model's tree, or
    of one trained without the first fold; empty where there is none.
    """

    labelled: Dataset
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

    def evaluation(self, n_resamples: int = N_RESAMPLES) -> Evaluation:
        """All measures, per window and per recording, with intervals over groups."""
        from audioclass.evaluation.bootstrap import Resampling
        from audioclass.evaluation.evaluation import evaluate

        return evaluate(
            self.labels,
            self.labelled.y_among(self.labels),
            self.P,
            self.labelled.groups,
            files=self.labelled.clip_names,
            segments=self.labelled.segments,
            paths=self.paths if any(len(path) > 1 for path in self.paths) else (),
            pool=self.pool,
            resampling=Resampling(n_resamples=n_resamples),
        )

    def pool(self, P: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The posterior of a clip from those of its windows."""
        from audioclass.classifier.clips import combine_windows

        return combine_windows(P, weights, self.inverse_temperature)

    def answers(self) -> Predictions:
        """The posteriors beside the reference, as comparisons take them."""
        from audioclass.evaluation.predictions import Predictions

        return Predictions.of(
            self.labels,
            self.labelled.y_among(self.labels),
            self.P,
            self.labelled.groups,
            files=self.labelled.clip_names,
            segments=self.labelled.segments,
        )


def evaluate_model(
    model: Model,
    corpus: str | Path,
    *,
    manager: PluginManager | None = None,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Judged:
    """A model on a corpus; every label of the corpus must be one of the model's."""
    from audioclass.plugins.manager import plugin_manager

    read = load_corpus(corpus, manager or plugin_manager(), reader)
    for label in read.labels:
        if label not in model.labels:
            known = ", ".join(model.labels)
            raise CorpusError(
                f"{corpus}: the model has no label {label!r}{did_you_mean(label, model.labels)}; it knows {known}"
            )
    labelled = gather(read, model.recipe, jobs=jobs, cache=cache, progress=progress)
    start = time.perf_counter()
    P = model.posteriors_of(labelled.X)
    seconds = time.perf_counter() - start
    classifier = model.classifier
    return Judged(
        labelled,
        model.labels,
        P,
        model.paths,
        predict_seconds=seconds,
        machines=classifier.n_machines,
        support_rows=classifier.n_support,
        inverse_temperature=model.inverse_temperature,
        tree=_tree_text(model),
    )


def _tree_text(model: Model) -> str:
    from audioclass.classifier.tree import learnt_tree

    tree = learnt_tree(model)
    return tree.to_toml() if tree else ""


def was_trained_on(model: Model, labelled: Dataset) -> bool:
    """Whether these very recordings and labels trained the model: its figures on them mean nothing then."""
    corpora = [model.about.get("corpus", {}), *(update["corpus"] for update in model.about.get("updates", []))]
    return labelled.fingerprint in {corpus.get("fingerprint") for corpus in corpora}


def cross_validate(
    corpus: str | Path,
    *,
    setup: Setup | None = None,
    folds: str = AUTO,
    taxonomy: Taxonomy | str | None = None,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Train on all folds but one and judge that one, for each; groups never stand on both sides.

    A run that was killed goes on with the fold where it stopped.
    """
    from audioclass.storage import resumable

    setup = setup or Setup.of()
    read = load_corpus(corpus, setup.manager, reader)
    labelled = gather(read, setup.recipe, jobs=jobs, cache=cache, progress=progress)
    tree = tree_for(read, labelled, taxonomy)
    check_labels(labelled, tree)
    dealt, setup = folds_of(labelled, folds), setup.guided_by(tree)
    with resumable(run_folder(cache, "folds", labelled.fingerprint)) as store:
        trial = Trial(setup, tree, jobs, cache, store, progress)
        return trial.judged(labelled, dealt)


@dataclass(frozen=True)
class Trial:
    """A way to train, to be judged on folds; each fold is kept in the `store` as soon as it is judged."""

    setup: Setup
    taxonomy: Taxonomy | None = None
    jobs: int = 1
    cache: Path | None = None
    store: Store | None = None
    progress: Progress | None = None

    def judged(self, labelled: Dataset, folds: np.ndarray) -> Judged:
        """Every row by machines that never saw its fold; `folds` is the code of each row's fold."""
        from audioclass.storage import computed

        names, facts, trees = np.unique(folds), [], []
        P = np.zeros((len(folds), len(labelled.labels)))
        for done, fold in enumerate(names):
            held = folds == fold
            say = None if self.progress is None else partial(self._within, done + 1, len(names))
            found = computed(
                self.store,
                lambda held=held: self._key(labelled, held),
                lambda held=held, say=say: self._judge(labelled, held, say),
            )
            P[held] = found["P"]
            facts.append(found["facts"])
            trees.append(found["tree"].tobytes().decode())
        seconds, means = np.array(facts)[:, :2].sum(axis=0), np.array(facts)[:, 2:].mean(axis=0)
        paths = tuple(self.taxonomy.path(label) if self.taxonomy else (label,) for label in labelled.labels)
        return Judged(labelled, labelled.labels, P, paths, folds, *map(float, (*seconds, *means)), trees[0])

    def _judge(self, labelled: Dataset, held: np.ndarray, progress: Progress | None) -> dict[str, np.ndarray]:
        """Posteriors of the rows held out, four costs and the inverse_temperature, and the bytes of the tree's text."""
        known, new = labelled.take(np.flatnonzero(~held)), labelled.take(np.flatnonzero(held))
        missing = np.setdiff1d(np.arange(len(labelled.labels)), known.y)
        if len(missing):
            label = labelled.labels[missing[0]]
            raise CorpusError(f"label {label!r} stands in one fold only; the others have none of it")
        start = time.perf_counter()
        asked = {"taxonomy": self.taxonomy, "jobs": self.jobs, "cache": self.cache, "progress": progress}
        model = train_on(known, self.setup, reports=False, **asked).model
        middle = time.perf_counter()
        P = model.posteriors_of(new.X)
        seconds = (middle - start, time.perf_counter() - middle)
        counts = (model.classifier.n_machines, model.classifier.n_support)
        facts = np.array([*seconds, *counts, model.inverse_temperature], float)
        return {"P": P, "facts": facts, "tree": np.frombuffer(_tree_text(model).encode(), np.uint8)}

    def _key(self, labelled: Dataset, held: np.ndarray) -> str:
        tree = self.taxonomy.to_toml() if self.taxonomy else ""
        rows = np.packbits(held).tobytes().hex()
        return repr((labelled.fingerprint, self.setup.recipe.fingerprint, self.setup.choices, tree, rows))

    def _within(self, fold: int, n_folds: int, stage: str, done: int, total: int) -> None:
        self.progress(f"fold {fold} of {n_folds}, {stage}", done, total)


def folds_of(labelled: Dataset, said: str = AUTO) -> np.ndarray:
    """The fold of each row: `auto` takes those of the corpus or makes five, `groups` leaves one group out, or a number.

    Groups stay together and labels are spread over the folds; folds of a corpus that part a group are refused.
    """
    from audioclass.training.folds import fold_count, grouped_folds

    if said == AUTO and (labelled.folds != "").all():
        return _stated_folds(labelled)
    groups = np.unique(labelled.groups, return_inverse=True)[1]
    if said == GROUPS:
        return _several(groups, "groups")
    wanted = N_FOLDS if said == AUTO else _number(said)
    count = fold_count(labelled.y, groups, wanted)
    if count < 2:
        counts = [len(np.unique(groups[labelled.y == k])) for k in range(len(labelled.labels))]
        short = labelled.labels[int(np.argmin(counts))]
        raise CorpusError(f"label {short!r} has a single group, at least 2 are needed for folds")
    return grouped_folds(labelled.y, groups, count)


def _stated_folds(labelled: Dataset) -> np.ndarray:
    folds = np.unique(labelled.folds, return_inverse=True)[1]
    groups = np.unique(labelled.groups, return_inverse=True)[1]
    for group in range(groups.max() + 1):
        if len(np.unique(folds[groups == group])) > 1:
            name = str(np.unique(labelled.groups)[group])
            raise CorpusError(f"group {name!r} stands in several folds of the corpus; --folds {N_FOLDS} makes others")
    return _several(folds, "folds")


def _several(codes: np.ndarray, what: str) -> np.ndarray:
    if codes.max() < 1:
        raise CorpusError(f"the corpus has a single one of its {what}, at least 2 are needed")
    return codes


def _number(said: str) -> int:
    if not said.isdecimal() or int(said) < 2:
        raise UsageError(f"folds {said!r} must be {AUTO!r}, {GROUPS!r} or a number from 2 on")
    return int(said)

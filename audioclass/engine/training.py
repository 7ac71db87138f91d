"""A corpus to a model: gather, prepare, train, judge what was held out, and write down where it comes from."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from audioclass import __version__
from audioclass.engine.config import Choices
from audioclass.engine.datasets import LEARN, Dataset, Progress, gather, load_corpus, tree_for
from audioclass.engine.features import load_recipe, user_cache
from audioclass.engine.provenance import describe
from audioclass.errors import AudioclassError, CorpusError, UsageError
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.evaluation.evaluation import Evaluation
    from audioclass.extraction.recipe import Recipe
    from audioclass.plugins.manager import PluginManager
    from audioclass.storage import Store
    from audioclass.training.examples import Examples
    from audioclass.training.train import Method, Training

__all__ = ["DEFAULT_RECIPE", "LEARN", "Setup", "Trained", "check_labels", "judge", "run_folder", "train", "train_on"]

DEFAULT_RECIPE = "environment"
PARTS = 0.02  # of accuracy: where naive folds claim so much more than grouped ones, recordings leak


@dataclass(frozen=True)
class Setup:
    """What a training starts from: the recipe, the components of the method, and how they were asked for."""

    recipe: Recipe
    choices: Choices
    method: Method
    manager: PluginManager

    @classmethod
    def of(
        cls,
        recipe: str | Recipe = DEFAULT_RECIPE,
        choices: Choices | None = None,
        *,
        window: float | None = None,
        hop: float | None = None,
        manager: PluginManager | None = None,
    ) -> Setup:
        """Names become components; `window` and `hop`, in seconds, take the place of the recipe's own."""
        from audioclass.plugins.manager import plugin_manager

        manager, choices = manager or plugin_manager(), choices or Choices()
        made = load_recipe(recipe, manager) if isinstance(recipe, str) else recipe
        for name, seconds in (("window", window), ("window_hop", hop)):
            if seconds is not None:
                if not 0 < seconds < float("inf"):
                    raise UsageError(f"{name}={seconds} must be a positive number of seconds")
                made = replace(made, **{name: float(seconds)})
        return cls(made, choices, choices.method(manager, made.groups), manager)

    def guided_by(self, taxonomy: Taxonomy | None) -> Setup:
        """The same with the hybrid dendrogram on a given taxonomy, unless its tree was chosen."""
        if taxonomy is None or self.choices.strategy != Choices.strategy:
            return self
        strategy = f"{self.choices.strategy}:tree=taxonomy,below=average"
        choices = replace(self.choices, strategy=strategy)
        return replace(self, choices=choices, method=choices.method(self.manager, self.recipe.groups))


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with what was found while training it.

    `grouped` judges posteriors of groups that were held out; `naive` those of single windows, with others of the same
    group in training: it is None where every window is a group by itself.
    """

    model: Model
    training: Training
    labelled: Dataset
    grouped: Evaluation
    naive: Evaluation | None

    @property
    def warnings(self) -> list[str]:
        """What a user should know before trusting it."""
        found = [*self.labelled.remarks, *self.training.notes]
        if self.naive is not None:
            grouped, naive = (one.main.measures["accuracy"].value for one in (self.grouped, self.naive))
            if naive - grouped > PARTS:
                found.append(
                    f"naive folds claim an accuracy of {naive:.3f}, grouped ones {grouped:.3f}: recordings of one group"
                    " are alike, and only the grouped figure says how new ones will fare"
                )
        return found


def train(
    corpus: str | Path,
    *,
    setup: Setup | None = None,
    taxonomy: Taxonomy | str | None = None,
    reader: str | None = None,
    name: str = "",
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a model on a labelled corpus.

    `taxonomy` is a tree over the labels, `learn` to learn one, or None for the one that the corpus has. A run that was
    killed goes on where it stopped: features and machines are kept in `cache` (None: the user's own).
    """
    setup = setup or Setup.of()
    read = load_corpus(corpus, setup.manager, reader)
    labelled = gather(read, setup.recipe, jobs=jobs, cache=cache, progress=progress)
    tree = tree_for(read, labelled, taxonomy)
    return train_on(
        labelled,
        setup.guided_by(tree),
        taxonomy=tree,
        name=name or Path(corpus).resolve().stem,
        jobs=jobs,
        cache=cache,
        progress=progress,
    )


def train_on(
    labelled: Dataset,
    setup: Setup,
    *,
    taxonomy: Taxonomy | None = None,
    name: str = "model",
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
    reports: bool = True,
) -> Trained:
    """Train on windows that are at hand; without `reports` nothing that was held out is judged naively."""
    from audioclass.classifier.clips import fit_inverse_temperature
    from audioclass.classifier.model import Model
    from audioclass.classifier.preprocessing import Preprocessing
    from audioclass.storage import resumable
    from audioclass.training.examples import Examples
    from audioclass.training.memory import memory_of
    from audioclass.training.train import train_classifier

    check_labels(labelled, taxonomy)
    preprocessing = Preprocessing.fit(labelled.X, setup.recipe.groups, setup.choices.normalisation)
    examples = Examples.of(preprocessing.apply(labelled.X), labelled.y, labelled.weights, labelled.groups)
    with resumable(run_folder(cache, "training", examples.fingerprint)) as store:
        with refused_in_a_line():
            training = train_classifier(
                examples, labelled.labels, setup.method, taxonomy=taxonomy, jobs=jobs, progress=progress, store=store
            )
        inverse_temperature = fit_inverse_temperature(training.held_out, labelled.y, labelled.clip_names)
        grouped = judge(labelled, training.held_out, taxonomy, inverse_temperature)
        P = _naive_posteriors(examples, setup.method, training, jobs, progress, store) if reports else None
        naive = None if P is None else judge(labelled, P, taxonomy, inverse_temperature)
        about = describe(labelled, setup, training, grouped, naive, examples.y)
        memory = memory_of(training, examples)
        made = (preprocessing, training.classifier, taxonomy, about, memory, inverse_temperature)
        model = Model.of(name, setup.recipe, *made)
    return Trained(model, training, labelled, grouped, naive)


@contextlib.contextmanager
def refused_in_a_line() -> Iterator[None]:
    """What a component finds wrong with these examples becomes an error that a user can put right."""
    try:
        yield
    except AudioclassError:
        raise
    except ValueError as error:
        raise UsageError(f"cannot be trained so: {' '.join(str(error).split())}") from error


def run_folder(cache: Path | None, stage: str, key: str) -> Path:
    """Where a run keeps what it has done; another version of ourselves begins anew."""
    digest = hashlib.sha256(f"{__version__} {key}".encode()).hexdigest()
    return Path(cache or user_cache()) / stage / digest


def check_labels(labelled: Dataset, taxonomy: Taxonomy | None) -> None:
    """Refuse what cannot be trained on."""
    if len(labelled.labels) < 2:
        raise CorpusError(f"only the label {labelled.labels[0]!r} has recordings, at least 2 labels are needed")
    if taxonomy is not None:
        taxonomy.check_labels(labelled.labels)


def judge(
    labelled: Dataset, P: np.ndarray, taxonomy: Taxonomy | None, inverse_temperature: float, n_resamples: int = 200
) -> Evaluation:
    """Posteriors of labelled windows against their labels, per window and per clip."""
    from audioclass.classifier.clips import combine_windows
    from audioclass.evaluation.bootstrap import Resampling
    from audioclass.evaluation.evaluation import evaluate

    paths = [taxonomy.path(label) for label in labelled.labels] if taxonomy else ()
    return evaluate(
        labelled.labels,
        labelled.y,
        P,
        labelled.groups,
        files=labelled.clip_names,
        segments=labelled.segments,
        paths=paths,
        pool=partial(combine_windows, inverse_temperature=inverse_temperature),
        resampling=Resampling(n_resamples=n_resamples),
    )


def _naive_posteriors(
    examples: Examples, method: Method, training: Training, jobs: int, progress: Progress | None, store: Store
) -> np.ndarray | None:
    """The same machines judged as if windows were independent: what a split that leaks would claim."""
    from audioclass.training.naive import naive_posteriors

    if len(np.unique(examples.groups)) == len(examples.groups):
        return None
    say = None if progress is None else partial(progress, "naive folds")
    return naive_posteriors(examples, method, training, jobs=jobs, progress=say, store=store)

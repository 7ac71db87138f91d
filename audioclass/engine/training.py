"""A corpus to a model: gather, prepare, train, judge what was held out, and write down where it comes from."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass import __version__
from audioclass.engine.choices import Choices
from audioclass.engine.features import load_recipe, user_cache
from audioclass.engine.gathering import Labelled, Progress, gather, load_corpus, taxonomy_of
from audioclass.errors import CorpusError, UsageError
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.evaluation.evaluation import Evaluation
    from audioclass.extraction.recipe import Recipe
    from audioclass.learning.examples import Examples
    from audioclass.learning.training import Method, Training
    from audioclass.model.model import Model
    from audioclass.plugins.manager import PluginManager

DEFAULT_RECIPE = "environment"
LEARN = "learn"
PARTS = 0.02  # of accuracy: where naive folds claim so much more than grouped ones, recordings leak


@dataclass(frozen=True)
class Setup:
    """What a training starts from: the recipe, the pieces of the method, and how they were asked for."""

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
        """Names become pieces; `window` and `hop`, in seconds, take the place of the recipe's own."""
        from audioclass.plugins.manager import plugin_manager

        manager, choices = manager or plugin_manager(), choices or Choices()
        made = load_recipe(recipe, manager) if isinstance(recipe, str) else recipe
        for name, seconds in (("window", window), ("window_hop", hop)):
            if seconds is not None:
                if not 0 < seconds < float("inf"):
                    raise UsageError(f"{name}={seconds} must be a positive number of seconds")
                made = replace(made, **{name: float(seconds)})
        return cls(made, choices, choices.method(manager), manager)

    def guided_by(self, taxonomy: Taxonomy | None) -> Setup:
        """The same with the hybrid dendrogram on a given taxonomy, unless its tree was chosen."""
        if taxonomy is None or self.choices.strategy != "hybrid_dendrogram":
            return self
        strategy = f"{self.choices.strategy}:tree=taxonomy,below=average"
        choices = replace(self.choices, strategy=strategy)
        return replace(self, choices=choices, method=choices.method(self.manager))


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with what was found while training it.

    `grouped` judges posteriors of groups that were held out; `naive` those of single windows, with others of the same
    group in training: it is None where every window is a group by itself.
    """

    model: Model
    training: Training
    labelled: Labelled
    grouped: Evaluation
    naive: Evaluation | None

    @property
    def warnings(self) -> list[str]:
        """What a user should know before trusting it."""
        found = list(self.training.notes)
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
    tree = taxonomy_of(read) if taxonomy is None else None if taxonomy == LEARN else taxonomy
    labelled = gather(read, setup.recipe, jobs=jobs, cache=cache, progress=progress)
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
    labelled: Labelled,
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
    from audioclass.learning.examples import Examples
    from audioclass.learning.preparation import Preparation
    from audioclass.learning.store import Store
    from audioclass.learning.training import train_classifier
    from audioclass.model.model import Memory, Model

    check_labels(labelled, taxonomy)
    preparation = Preparation.fit(labelled.X, setup.recipe.groups, setup.choices.normalisation)
    examples = Examples.of(preparation.apply(labelled.X), labelled.y, labelled.weights, labelled.groups)
    kept = Path(cache or user_cache()) / "training" / examples.fingerprint
    training = train_classifier(
        examples, labelled.labels, setup.method, taxonomy=taxonomy, jobs=jobs, progress=progress, store=Store(kept)
    )
    grouped = judge(labelled, training.held_out, taxonomy)
    naive = _naive(labelled, examples, setup.method, training, taxonomy, jobs, Store(kept)) if reports else None
    about = describe(labelled, setup, training, grouped, naive, examples.y)
    memory = Memory.of(training, examples)
    model = Model.of(name, setup.recipe, preparation, training.classifier, taxonomy, about, memory)
    shutil.rmtree(kept, ignore_errors=True)
    return Trained(model, training, labelled, grouped, naive)


def check_labels(labelled: Labelled, taxonomy: Taxonomy | None) -> None:
    """Refuse what cannot be trained on."""
    if len(labelled.labels) < 2:
        raise CorpusError(f"only the label {labelled.labels[0]!r} has recordings, at least 2 labels are needed")
    if taxonomy is not None:
        taxonomy.check_labels(labelled.labels)


def judge(labelled: Labelled, P: np.ndarray, taxonomy: Taxonomy | None, n_resamples: int = 200) -> Evaluation:
    """Posteriors of labelled windows against their labels, per window and per clip."""
    from audioclass.evaluation.bootstrap import Resampling
    from audioclass.evaluation.evaluation import evaluate

    paths = [taxonomy.path(label) for label in labelled.labels] if taxonomy else ()
    return evaluate(
        labelled.labels,
        labelled.y,
        P,
        labelled.groups,
        files=labelled.clips,
        segments=labelled.segments,
        paths=paths,
        resampling=Resampling(n_resamples=n_resamples),
    )


def _naive(
    labelled: Labelled,
    examples: Examples,
    method: Method,
    training: Training,
    taxonomy: Taxonomy | None,
    jobs: int,
    store: Any,
) -> Evaluation | None:
    """The same machines judged as if windows were independent: what a split that leaks would claim."""
    from audioclass.learning.naive import naive_posteriors

    if len(np.unique(examples.groups)) == len(examples.groups):
        return None
    return judge(labelled, naive_posteriors(examples, method, training, jobs=jobs, store=store), taxonomy)


def describe(
    labelled: Labelled,
    setup: Setup,
    training: Training,
    grouped: Evaluation,
    naive: Evaluation | None,
    y: np.ndarray,
) -> dict[str, Any]:
    """Provenance and report, as plain values; `y` is the label index of every example that was trained on."""
    from audioclass.learning.facts import machine_facts

    return {
        "versions": versions(),
        "pieces": pieces_of(setup, training),
        "choices": {key: value for key, value in vars(setup.choices).items() if isinstance(value, (str, int, float))},
        "corpus": _corpus_facts(labelled),
        "report": {"grouped": figures(grouped), "naive": figures(naive) if naive else None},
        "machines": machine_facts(training, y),
        "notes": list(training.notes),
    }


def versions() -> dict[str, str]:
    """What computed it: ourselves, Python and the libraries whose rounding matters."""
    import scipy

    return {
        "audioclass": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def pieces_of(setup: Setup, training: Training) -> list[dict[str, str]]:
    """Every piece that is needed to evaluate the model, with the distribution it comes from."""
    classifier = training.classifier
    used = [("strategy", setup.method.strategy.name)]
    if classifier.plan is not None:
        used += [("trainer", setup.method.pieces.trainer.name), ("calibrator", setup.method.pieces.calibrator.name)]
    used += [("kernel", kernel.name) for kernel in classifier.kernels]
    for part in setup.recipe.parts:
        used += [("descriptor", piece.name) for piece in part.descriptors]
        used += [("pooling", piece.name) for piece in part.poolings]
        used += [("embedding", part.embedding.name)] if part.embedding is not None else []
    return [_origin(setup.manager, kind, name) for kind, name in dict.fromkeys(used)]


def figures(evaluation: Evaluation) -> dict[str, Mapping[str, float]]:
    """The figures of a report, per window and per clip."""
    wanted = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error")
    return {view.unit: {name: float(view.measures[name].value) for name in wanted} for view in evaluation.views}


def _corpus_facts(labelled: Labelled) -> dict[str, Any]:
    counts = np.bincount(labelled.y, minlength=len(labelled.labels))
    return {
        "fingerprint": labelled.fingerprint,
        "recordings": len({labelled.entries[i].file for i in labelled.which}),
        "groups": len(np.unique(labelled.groups)),
        "windows": {label: int(count) for label, count in zip(labelled.labels, counts, strict=True)},
        "left_out": len(labelled.failures),
    }


def _origin(manager: PluginManager, kind: str, name: str) -> dict[str, str]:
    offer = manager.find(kind, name)
    return {"kind": offer.kind, "name": name, "distribution": offer.distribution, "version": offer.version}

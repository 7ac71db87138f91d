"""A model and more recordings: only what they touch is trained again, or only the calibration is fitted anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.engine.choices import Choices
from audioclass.engine.gathering import Labelled, Progress, gather, load_corpus
from audioclass.engine.models import load_model
from audioclass.engine.training import Setup, Trained, describe, judge
from audioclass.errors import CorpusError, ModelError, did_you_mean
from audioclass.problems import Dichotomy, Machine, Plan
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.learning.dichotomies import TrainedDichotomy
    from audioclass.learning.examples import Examples
    from audioclass.model.model import Model


def update(
    model: str | Path,
    corpus: str | Path,
    *,
    name: str = "",
    taxonomy: Taxonomy | str | None = None,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
    setup: Setup | None = None,
) -> Trained:
    """Add a corpus to a model: more recordings of its labels, or of new ones.

    Features are prepared as the model prepares them. Dichotomies without any of the added labels keep their machines;
    the others are trained on the rows that the model remembers and the added ones. The method is the model's own;
    `setup` lends its plugin manager.
    """
    old = load_model(model, manager=setup.manager if setup else None)
    if old.memory is None:
        raise ModelError(f"{model}: it remembers no training rows to add to; train again on both corpora")
    setup = _setup_of(old, setup)
    labelled = gather(load_corpus(corpus, setup.manager, reader), old.recipe, jobs=jobs, cache=cache, progress=progress)
    tree = taxonomy if isinstance(taxonomy, Taxonomy) else None
    work = _Update(old, setup, labelled, tree)
    return work.trained(name or old.name, jobs, progress)


@dataclass(frozen=True, eq=False)
class _Update:
    old: Model
    setup: Setup
    labelled: Labelled
    taxonomy: Taxonomy | None

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the model and of the corpus, sorted."""
        return tuple(sorted({*self.old.labels, *self.labelled.labels}))

    def trained(self, name: str, jobs: int, progress: Progress | None) -> Trained:
        from audioclass.learning.training import assemble
        from audioclass.model.model import Memory, Model

        examples, n_old = self._examples()
        plan = self._plan(examples)
        results = self._results(plan, examples, n_old, jobs, progress)
        training = assemble(examples, self.labels, self.setup.method, plan, results)
        added = self.labelled.among(self.labels)
        grouped = judge(added, training.held_out[n_old:], None)
        tree = self._tree()
        about = describe(added, self.setup, training, grouped, None, examples.y) | {"updates": self._history()}
        memory = Memory.of(training, examples)
        model = Model.of(name, self.old.recipe, self.old.preparation, training.classifier, tree, about, memory)
        return Trained(model, training, added, grouped, None)

    def _examples(self) -> tuple[Examples, int]:
        """The remembered rows, then the added ones; groups of the two never meet."""
        from audioclass.learning.examples import Examples

        memory, bank = self.old.memory, self.old.classifier.machines
        X = np.concatenate([bank.X.astype(np.float64), self.old.preparation.apply(self.labelled.X)])
        place = np.array([self.labels.index(label) for label in self.old.labels])
        y = np.concatenate([place[memory.y], self.labelled.y_among(self.labels)])
        added = np.unique(self.labelled.groups, return_inverse=True)[1]
        groups = np.concatenate([memory.groups, added + memory.groups.max(initial=-1) + 1])
        weights = np.concatenate([memory.weights, self.labelled.weights])
        return Examples.of(X, y, weights, groups), len(bank.X)

    def _plan(self, examples: Examples) -> Plan:
        """The model's own plan while the labels are the same, else a new one."""
        from audioclass.learning.training import plan_of

        if self.labels == self.old.labels:
            return self.old.classifier.plan
        return plan_of(examples, self.labels, self.setup.method, self._tree())

    def _tree(self) -> Taxonomy | None:
        if self.taxonomy is not None:
            return self.taxonomy
        if self.labels == self.old.labels:
            return self.old.taxonomy
        return Taxonomy.of_paths(
            [*self.old.paths, *((label,) for label in self.labels if label not in self.old.labels)]
        )

    def _results(
        self, plan: Plan, examples: Examples, n_old: int, jobs: int, progress: Progress | None
    ) -> list[TrainedDichotomy]:
        """Kept machines where nothing was added, trained ones elsewhere."""
        from audioclass.learning.dichotomies import train_dichotomies

        kept = {i: self._kept(dichotomy, examples, n_old) for i, dichotomy in enumerate(plan.dichotomies)}
        touched = [i for i, result in kept.items() if result is None]
        facts = [self._facts(plan.dichotomies[i]) for i in touched]
        fresh = train_dichotomies(
            [plan.dichotomies[i] for i in touched],
            examples,
            [kernel for kernel, _ in facts],
            [C for _, C in facts],
            self.setup.method.pieces,
            everywhere=True,
            jobs=jobs,
            progress=None if progress is None else lambda done, total: progress("training", done, total),
        )
        made = dict(zip(touched, fresh, strict=True))
        return [made.get(i) or kept[i] for i in range(len(plan.dichotomies))]

    def _was(self, dichotomy: Dichotomy) -> int | None:
        """Which of the model's dichotomies has these sides."""
        sides = tuple(frozenset(self.labels[k] for k in side) for side in (dichotomy.positive, dichotomy.negative))
        for i, other in enumerate(self.old.classifier.plan.dichotomies):
            named = (frozenset(self.old.labels[k] for k in side) for side in (other.positive, other.negative))
            if tuple(named) == sides:
                return i
        return None

    def _facts(self, dichotomy: Dichotomy) -> tuple[Any, float]:
        """The kernel and C that the model has for a dichotomy, or for its first where it is new."""
        which = self._was(dichotomy) or 0
        kernel = next(p.kernel for p in self.old.classifier.machines.parts if which in p.machines)
        return kernel, float(self.old.about["machines"][which]["C"])

    def _kept(self, dichotomy: Dichotomy, examples: Examples, n_old: int) -> TrainedDichotomy | None:
        """The model's own machine, if none of the added recordings takes part in it."""
        from audioclass.learning.dichotomies import TrainedDichotomy

        which = self._was(dichotomy)
        if which is None or np.isin(examples.y[n_old:], [*dichotomy.positive, *dichotomy.negative]).any():
            return None
        kernel, C = self._facts(dichotomy)
        classifier = self.old.classifier
        new = classifier.scores(examples.statistics.X[n_old:].astype(np.float32))[:, which]
        held_out = np.concatenate([self.old.memory.held_out[:, which], new]).astype(np.float64)
        machine = _machine(classifier.machines, which)
        return TrainedDichotomy(dichotomy, kernel, C, machine, classifier.calibrations[which], held_out)

    def _history(self) -> list[dict[str, Any]]:
        was = self.old.about.get("corpus", {})
        return [*self.old.about.get("updates", []), {"model": self.old.name, "corpus": was}]


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """A model whose calibration was fitted anew, and its log-loss on groups that were held out, before and after."""

    model: Model
    labelled: Labelled
    log_loss_before: float
    log_loss_after: float


def calibrate(
    model: str | Path,
    corpus: str | Path,
    *,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
    setup: Setup | None = None,
) -> Recalibrated:
    """Fit the calibrators and the combination of a model anew from labelled recordings; its machines stay."""
    old = load_model(model, manager=setup.manager if setup else None)
    manager = _setup_of(old, setup).manager
    labelled = gather(load_corpus(corpus, manager, reader), old.recipe, jobs=jobs, cache=cache, progress=progress)
    _check_covered(old, labelled)
    scores, y = old.scores_of(labelled.X).astype(np.float64), labelled.y_among(old.labels)
    before, after = _compared(old, scores, y, labelled.groups)
    from audioclass.learning.recalibration import recalibrated

    classifier = recalibrated(old.classifier, scores, y, labelled.weights)
    about = dict(old.about) | {"calibrated_on": labelled.fingerprint}
    made = type(old).of(old.name, old.recipe, old.preparation, classifier, old.taxonomy, about, old.memory)
    return Recalibrated(made, labelled, before, after)


def _compared(old: Model, scores: np.ndarray, y: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Log-loss of the model as it is, and of one calibrated without the group it is judged on."""
    from audioclass.evaluation.calibration import log_loss
    from audioclass.learning.folds import fold_count, grouped_folds
    from audioclass.learning.recalibration import recalibrated

    codes = np.unique(groups, return_inverse=True)[1]
    before = log_loss(old.classifier.combine(scores), y)
    count = fold_count(y, codes)
    if count < 2:
        return before, float("nan")
    folds, P = grouped_folds(y, codes, count), np.zeros((len(y), len(old.labels)))
    for fold in np.unique(folds):
        known = folds != fold
        P[~known] = recalibrated(old.classifier, scores[known], y[known]).combine(scores[~known])
    return before, log_loss(P, y)


def _check_covered(model: Model, labelled: Labelled) -> None:
    for label in labelled.labels:
        if label not in model.labels:
            raise CorpusError(f"the model has no label {label!r}{did_you_mean(label, model.labels)}")
    missing = [label for label in model.labels if label not in labelled.labels]
    if missing:
        raise CorpusError(f"label {missing[0]!r} has no recording; calibration needs some of every label")


def _setup_of(model: Model, setup: Setup | None) -> Setup:
    """The method by which a model was trained."""
    choices = Choices.of(model.about["choices"], "the model")
    return replace(Setup.of(model.recipe, choices, manager=setup.manager if setup else None), recipe=model.recipe)


def _machine(bank: Any, which: int) -> Machine:
    for part in bank.parts:
        if which in part.machines:
            column = int(np.flatnonzero(part.machines == which)[0])
            return Machine(part.rows, part.coefficients[:, column].astype(np.float64), float(part.intercepts[column]))
    raise ModelError(f"no machine {which} in the bank")

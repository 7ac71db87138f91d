"""A model and more recordings: only what they touch is trained again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.engine.config import Choices
from audioclass.engine.datasets import Dataset, Progress, gather, load_corpus
from audioclass.engine.models import load_model
from audioclass.engine.provenance import describe
from audioclass.engine.training import Setup, Trained, judge
from audioclass.errors import ModelError
from audioclass.problems import Dichotomy, Machine, Plan
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.classifier.bank import Bank
    from audioclass.classifier.model import Model
    from audioclass.plugins.manager import PluginManager
    from audioclass.training.dichotomies import TrainedDichotomy
    from audioclass.training.examples import Examples


def update(
    model: str | Path,
    corpus: str | Path,
    *,
    name: str = "",
    taxonomy: Taxonomy | None = None,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
    manager: PluginManager | None = None,
) -> Trained:
    """Add a corpus to a model: more recordings of its labels, or of new ones.

    Features are prepared as the model prepares them, and the method is the model's own. Dichotomies without any of the
    added labels keep their machines; the others are trained on the rows that the model remembers and the added ones. A
    `taxonomy` is needed only where a new label belongs to a group; else the corpus's own tree says where it stands.
    """
    old = load_model(model, manager=manager)
    if old.memory is None or not old.about.get("machines"):
        raise ModelError(f"{model}: it remembers no training rows to add to; train again on both corpora")
    choices = Choices.of(old.about.get("choices", {}), str(model))
    setup = Setup.of(old.recipe, choices, manager=manager)
    read = load_corpus(corpus, setup.manager, reader)
    labelled = gather(read, old.recipe, jobs=jobs, cache=cache, progress=progress)
    labels = tuple(sorted({*old.labels, *labelled.labels}))
    tree = taxonomy or _grown_tree(old, labels, read.paths)
    tree.check_labels(labels)
    work = _Update(old, setup, labelled, labels, tree, is_same=taxonomy is None and labels == old.labels)
    return work.trained(name or old.name, jobs, progress)


def _grown_tree(old: Model, labels: Sequence[str], paths: Sequence[Sequence[str]]) -> Taxonomy:
    """The model's tree with new labels where the corpus has them, or at the top."""
    where = {path[-1]: path for path in paths}
    return Taxonomy.of_paths([*old.paths, *(where.get(label, (label,)) for label in labels if label not in old.labels)])


@dataclass(frozen=True, eq=False)
class _Update:
    """What is added to a model; `labels` are those of both, `is_same` where neither they nor the tree change."""

    old: Model
    setup: Setup
    labelled: Dataset
    labels: tuple[str, ...]
    tree: Taxonomy
    is_same: bool

    def trained(self, name: str, jobs: int, progress: Progress | None) -> Trained:
        """The new model; its report is of the added recordings, each group held out."""
        from audioclass.classifier.model import Model
        from audioclass.training.memory import memory_of
        from audioclass.training.train import assemble

        examples, n_old = self._examples()
        plan = self._plan(examples)
        results = self._results(plan, examples, n_old, jobs, progress)
        training = assemble(examples, self.labels, self.setup.method, plan, results)
        added = self.labelled.among(self.labels)
        grouped = judge(added, training.held_out[n_old:], None, self.old.inverse_temperature)
        about = describe(added, self.setup, training, grouped, None, examples.y) | {"updates": self._history()}
        memory = memory_of(training, examples)
        made = (training.classifier, self.tree, about, memory, self.old.inverse_temperature)
        model = Model.of(name, self.old.recipe, self.old.preprocessing, *made)
        return Trained(model, training, added, grouped, None)

    def _examples(self) -> tuple[Examples, int]:
        """The remembered rows, then the added ones; groups of the two never meet."""
        from audioclass.training.examples import Examples

        memory, bank = self.old.memory, self.old.classifier.machines
        X = np.concatenate([bank.X.astype(np.float64), self.old.preprocessing.apply(self.labelled.X)])
        place = np.array([self.labels.index(label) for label in self.old.labels])
        y = np.concatenate([place[memory.y], self.labelled.y_among(self.labels)])
        added = np.unique(self.labelled.groups, return_inverse=True)[1]
        groups = np.concatenate([memory.groups, added + memory.groups.max(initial=-1) + 1])
        weights = np.concatenate([memory.weights, self.labelled.weights])
        return Examples.of(X, y, weights, groups), len(bank.X)

    def _plan(self, examples: Examples) -> Plan:
        """The model's own plan while labels and tree are the same, else a new one."""
        from audioclass.training.train import plan_of

        if self.is_same:
            return self.old.classifier.plan
        return plan_of(examples, self.labels, self.setup.method, self.tree)

    def _results(
        self, plan: Plan, examples: Examples, n_old: int, jobs: int, progress: Progress | None
    ) -> list[TrainedDichotomy]:
        """Kept machines where nothing was added, trained ones elsewhere."""
        from audioclass.training.dichotomies import train_dichotomies

        kept = {i: self._kept(dichotomy, examples, n_old) for i, dichotomy in enumerate(plan.dichotomies)}
        touched = [i for i, result in kept.items() if result is None]
        facts = [self._facts(plan.dichotomies[i]) for i in touched]
        fresh = train_dichotomies(
            [plan.dichotomies[i] for i in touched],
            examples,
            [kernel for kernel, _ in facts],
            [C for _, C in facts],
            self.setup.method.components,
            everywhere=True,
            jobs=jobs,
            progress=None if progress is None else partial(progress, "training"),
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
        which = self._was(dichotomy) or 0  # a new one is chosen for as the first was
        kernel = next(p.kernel for p in self.old.classifier.machines.parts if which in p.machines)
        return kernel, float(self.old.about["machines"][which]["C"])

    def _kept(self, dichotomy: Dichotomy, examples: Examples, n_old: int) -> TrainedDichotomy | None:
        """The model's own machine, if none of the added recordings takes part in it."""
        from audioclass.training.dichotomies import TrainedDichotomy

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


def _machine(bank: Bank, which: int) -> Machine:
    for part in bank.parts:
        if which in part.machines:
            column = int(np.flatnonzero(part.machines == which)[0])
            return Machine(part.rows, part.coefficients[:, column].astype(np.float64), float(part.intercepts[column]))
    raise ModelError(f"no machine {which} in the bank")

"""A model and more recordings: only what they touch is trained again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import Memory, Model
from audioclass.contracts import Kernel, PlansRounds
from audioclass.engine.datasets import Dataset, gather, read_corpus_at
from audioclass.engine.models import load_model
from audioclass.engine.provenance import describe
from audioclass.engine.runs import make_run
from audioclass.engine.training import Trained, evaluate_posteriors
from audioclass.errors import ModelError
from audioclass.problems import Dichotomy, Machine, Plan
from audioclass.run import Run
from audioclass.taxonomy import Taxonomy
from audioclass.training.assemble import assemble
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, train_dichotomies
from audioclass.training.examples import Examples
from audioclass.training.memory import memory_of
from audioclass.training.train import plan_of


def update(
    model: str | Path,
    corpus: str | Path,
    *,
    name: str = "",
    taxonomy: Taxonomy | None = None,
    reader: str | None = None,
    run: Run | None = None,
) -> Trained:
    """Add a corpus to a model: more recordings of its labels, or of new ones.

    Features are preprocessed as the model does it, and the configuration is the model's own. Dichotomies without any of
    the added labels keep their machines; the others are trained on the rows that the model remembers and the added
    ones. A `taxonomy` is needed only where a new label belongs to a group; else the corpus's own tree says where it
    stands.
    """
    run = run or make_run()
    old = load_model(model, registry=run.registry)
    bank = old.classifier.machines
    if old.memory is None or not isinstance(bank, Bank) or not old.about.get("machines"):
        raise ModelError(f"{model}: it remembers no training rows to add to; train again on both corpora")
    config, run = config_of(old, run)
    if isinstance(config.strategy, PlansRounds):  # who counts in a later round hangs on all that were trained before
        raise ModelError(f"{model}: strategy {config.strategy.name!r} plans in rounds; train again on both corpora")
    read = read_corpus_at(corpus, run, reader)
    dataset = gather(read, old.recipe, run)
    labels = tuple(sorted({*old.labels, *dataset.labels}))
    tree = taxonomy or _grown_tree(old, labels, read.paths)
    tree.check_labels(labels)
    is_same = taxonomy is None and labels == old.labels
    work = _Update(old, bank, old.memory, config, dataset, labels, tree, is_same=is_same)
    return work.trained(name or old.name, run)


def config_of(model: Model, run: Run) -> tuple[TrainingConfig, Run]:
    """The configuration that a model was trained with, and the run with its seed."""
    choices = dict(model.about.get("choices", {}))
    seed = choices.pop("seed", 0)
    run = replace(run, seed=int(seed))
    sources = dict.fromkeys(choices, model.name)
    return TrainingConfig.of({**choices, "recipe": model.recipe}, run, sources=sources), run


def _grown_tree(old: Model, labels: Sequence[str], paths: Sequence[Sequence[str]]) -> Taxonomy:
    """The model's tree with new labels where the corpus has them, or at the top."""
    where = {path[-1]: path for path in paths}
    return Taxonomy.of_paths([*old.paths, *(where.get(label, (label,)) for label in labels if label not in old.labels)])


@dataclass(frozen=True, eq=False)
class _Update:
    """What is added to a model; `labels` are those of both, `is_same` where neither they nor the tree change."""

    old: Model
    bank: Bank
    memory: Memory
    config: TrainingConfig
    dataset: Dataset
    labels: tuple[str, ...]
    tree: Taxonomy
    is_same: bool

    def trained(self, name: str, run: Run) -> Trained:
        """The new model; its report is of the added recordings, each group held out."""
        examples, n_old = self._examples()
        plan = self._plan(examples, run)
        training = assemble(examples, self.labels, self.config, plan, self._results(plan, examples, n_old, run))
        added = self.dataset.among(self.labels)
        grouped = evaluate_posteriors(added, training.held_out[n_old:], None, self.old.inverse_temperature)
        about = describe(added, self.config, run, training, grouped, None, examples.y)
        model = Model.of(
            name,
            self.old.recipe,
            self.old.preprocessing,
            training.classifier,
            self.tree,
            about | {"updates": self._history()},
            memory_of(training, examples),
            self.old.inverse_temperature,
        )
        return Trained(model, training, added, grouped, None)

    def _examples(self) -> tuple[Examples, int]:
        """The remembered rows, then the added ones; groups of the two never meet."""
        memory = self.memory
        X = np.concatenate([self.bank.X.astype(np.float64), self.old.preprocessing.apply(self.dataset.X)])
        place = np.array([self.labels.index(label) for label in self.old.labels])
        y = np.concatenate([place[memory.y], self.dataset.y_among(self.labels)])
        added = np.unique(self.dataset.groups, return_inverse=True)[1]
        groups = np.concatenate([memory.groups, added + memory.groups.max(initial=-1) + 1])
        weights = np.concatenate([memory.weights, self.dataset.weights])
        return Examples.of(X, y, weights, groups), len(self.bank.X)

    def _plan(self, examples: Examples, run: Run) -> Plan:
        """The model's own plan while labels and tree are the same, else a new one."""
        if self.is_same and self.old.classifier.plan is not None:
            return self.old.classifier.plan
        return plan_of(examples, self.labels, self.config, run, self.tree)

    def _results(self, plan: Plan, examples: Examples, n_old: int, run: Run) -> list[TrainedDichotomy]:
        """The model's machines where nothing was added, trained ones elsewhere."""
        results = {
            dichotomy: self._unchanged(dichotomy, which, examples, n_old)
            for dichotomy in plan.dichotomies
            if (which := self._place(dichotomy)) is not None and not self._is_touched(dichotomy, examples.y[n_old:])
        }
        touched = [dichotomy for dichotomy in plan.dichotomies if dichotomy not in results]
        choices = [self._choice(self._place(dichotomy)) for dichotomy in touched]
        trained = train_dichotomies(
            touched,
            examples,
            [kernel for kernel, _ in choices],
            [C for _, C in choices],
            self.config,
            run,
            everywhere=True,
        )
        results |= dict(zip(touched, trained, strict=True))
        return [results[dichotomy] for dichotomy in plan.dichotomies]

    @staticmethod
    def _is_touched(dichotomy: Dichotomy, added: np.ndarray) -> bool:
        """Whether any of the added recordings takes part in a dichotomy."""
        return bool(np.isin(added, [*dichotomy.positive, *dichotomy.negative]).any())

    def _place(self, dichotomy: Dichotomy) -> int | None:
        """Which of the model's dichotomies has these sides."""
        sides = tuple(frozenset(self.labels[k] for k in side) for side in (dichotomy.positive, dichotomy.negative))
        plan = self.old.classifier.plan
        for i, other in enumerate(plan.dichotomies if plan else ()):
            named = (frozenset(self.old.labels[k] for k in side) for side in (other.positive, other.negative))
            if tuple(named) == sides:
                return i
        return None

    def _choice(self, which: int | None) -> tuple[Kernel, float]:
        """The kernel and C of a machine of the model; a new one is chosen for as the first was."""
        which = which or 0
        kernel = next(part.kernel for part in self.bank.parts if which in part.machines)
        return kernel, float(self.old.about["machines"][which]["C"])

    def _unchanged(self, dichotomy: Dichotomy, which: int, examples: Examples, n_old: int) -> TrainedDichotomy:
        """The model's own machine, with its scores of what was added."""
        kernel, C = self._choice(which)
        classifier = self.old.classifier
        new = classifier.scores(examples.statistics.X[n_old:].astype(np.float32))[:, which]
        held_out = np.concatenate([self.memory.held_out[:, which], new]).astype(np.float64)
        return TrainedDichotomy(
            dichotomy, kernel, C, _machine(self.bank, which), classifier.calibrations[which], held_out
        )

    def _history(self) -> list[dict[str, Any]]:
        was = self.old.about.get("corpus", {})
        return [*self.old.about.get("updates", []), {"model": self.old.name, "corpus": was}]


def _machine(bank: Bank, which: int) -> Machine:
    for part in bank.parts:
        if which in part.machines:
            column = int(np.flatnonzero(part.machines == which)[0])
            return Machine(part.rows, part.coefficients[:, column].astype(np.float64), float(part.intercepts[column]))
    raise ModelError(f"no machine {which} in the bank")

"""The work of an update: which machines stay to the bit, and which are trained again on old and added rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from audioclass.classifier.bank import Bank, kept_rows
from audioclass.classifier.model import Memory, Model, TrainedRecordings
from audioclass.contracts import Kernel
from audioclass.engine.datasets import Dataset
from audioclass.engine.durations import with_added_labels
from audioclass.engine.knowing import KnownGroups
from audioclass.engine.provenance import describe, thresholds_of
from audioclass.engine.remembering import Joined
from audioclass.engine.trained import Trained
from audioclass.engine.training import N_RESAMPLES, evaluate_posteriors, recipe_of, transitions_of
from audioclass.engine.tree_editing import (
    TreeChanges,
    places_of,
    sides_of,
)
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import Evaluation, evaluate
from audioclass.evaluation.multi_label import MultiLabelEvaluation, evaluate_labels
from audioclass.problems import Dichotomy, Plan
from audioclass.run import Run
from audioclass.taxonomy import Taxonomy
from audioclass.training.assemble import Training, assemble
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, train_dichotomies
from audioclass.training.examples import Examples
from audioclass.training.inner_folds import inner_folds
from audioclass.training.last_steps import same_kind_again
from audioclass.training.memory import memory_of, support_rows
from audioclass.training.train import plan_of
from audioclass.trees.text import WrittenTree


@dataclass(frozen=True, eq=False)
class ModelUpdate:
    """What is added to a model; `labels` are those of both, `is_same` where neither they nor the taxonomy change.

    Where labels overlap, these are the names of their sets.
    `joined` says which of the model's rows stay, and the groups of these and of the added ones.
    `edited` is a tree that the model shall have, with its `changes`.
    """

    old: Model
    bank: Bank
    memory: Memory
    config: TrainingConfig
    dataset: Dataset
    joined: Joined
    labels: tuple[str, ...]
    taxonomy: Taxonomy
    edited: WrittenTree | None
    changes: TreeChanges | None
    is_same: bool

    def trained(self, name: str, run: Run) -> Trained:
        """The new model; its report is of the added recordings, each group held out, or of the remembered windows."""
        examples, n_old = self._examples()
        if self._is_untouched:
            return self._untouched(name, examples, n_old, run)
        plan = self._plan(examples, run)
        results = self._results(plan, examples, n_old, run)
        training = assemble(examples, self.labels, self.config, plan, results, run=run)
        added = self.dataset.among(self.labels)
        if len(added.X):
            grouped = self._added_evaluation(added, training, n_old)
        else:
            grouped = self._evaluation(training, examples)
        about = describe(added, self.config, run, training, grouped, None, examples.y)
        about |= thresholds_of(training.classifier)
        about["durations"] = with_added_labels(self.old.about.get("durations", {}), about["durations"])
        if not len(added.X):
            about |= {"corpus": self.old.about.get("corpus", {})}
        model = Model.of(
            name,
            self.old.recipe,
            self.old.preprocessing,
            training.classifier,
            self.taxonomy,
            about | {"updates": self._history()},
            memory_of(training, examples),
            self.old.inverse_temperature,
            self._transitions(),
            self._recordings(training),
        )
        model = replace(model, default_depth=self.old.default_depth, short_power=self.old.short_power)
        if model.is_multi_label:  # what is strange to a label, and sets of labels, are of one label at a time
            return Trained(model, training, added, grouped, None)
        # Nobody remembers which windows were of one clip: those of a label in a group are taken for one.
        clips = [f"{group} {label}" for group, label in zip(examples.groups, examples.y, strict=True)]
        model = KnownGroups.of(examples, training, clips).taught(model, run)
        return Trained(model, training, added, grouped, None)

    def _added_evaluation(self, added: Dataset, training: Training, n_old: int) -> Evaluation | MultiLabelEvaluation:
        """Of the added recordings, each held out with its group."""
        P, classifier = training.held_out[n_old:], training.classifier
        if not classifier.is_multi_label:
            return evaluate_posteriors(added, P, None, self.old.inverse_temperature)
        holds, resampling = added.holds_among(classifier.labels), Resampling(n_resamples=N_RESAMPLES)
        return evaluate_labels(classifier.labels, holds, P, classifier.thresholds, added.groups, resampling)

    @property
    def _is_untouched(self) -> bool:
        """Whether nothing was added, and the edited tree asks for what the model has."""
        return self.changes is not None and self.changes.is_same and not len(self.dataset.X)

    def _untouched(self, name: str, examples: Examples, n_old: int, run: Run) -> Trained:
        """The same classifier; only names of groups may differ."""
        classifier, scores = self.old.classifier, self.memory.held_out[self._remembered].astype(np.float64)
        results = self._results(self._plan(examples, run), examples, n_old, run)
        folds = inner_folds(scores, results, examples, self.config, run)
        P = same_kind_again(classifier, folds.folds, examples) if folds.folds else classifier.combine(scores)
        training = Training(classifier, P)
        model = replace(self.old, name=name, taxonomy=self.taxonomy)
        return Trained(model, training, self.dataset.among(self.labels), self._evaluation(training, examples), None)

    def _evaluation(self, training: Training, examples: Examples) -> Evaluation:
        """Of the remembered rows, each held out with its group; windows alone, nobody remembers their recordings."""
        paths = [self.taxonomy.path(label) for label in self.labels]
        return evaluate(
            self.labels,
            examples.y,
            training.held_out,
            examples.groups,
            paths=paths if any(len(path) > 1 for path in paths) else (),
            resampling=Resampling(n_resamples=N_RESAMPLES),
        )

    @cached_property
    def _remembered(self) -> np.ndarray:
        """Of each remembered window that stays, its first row in the bank."""
        firsts = np.flatnonzero(self.joined.stays)
        windows = self.memory.windows
        return firsts if windows is None else firsts[np.unique(windows[firsts], return_index=True)[1]]

    @property
    def _n_versions(self) -> int:
        return len(recipe_of(self.config).versions)

    def _examples(self) -> tuple[Examples, int]:
        """The remembered windows that stay, then the added ones; also how many of the first there are."""
        memory, stays, firsts = self.memory, self.joined.stays, self._remembered
        n_features, n_added = self.old.preprocessing.n_features, len(self.dataset.X)
        added = self.old.preprocessing.apply(self.dataset.X.reshape(n_added * self._n_versions, n_features))
        place = np.array([self.labels.index(label) for label in self.old.classifier.classes])
        windows = None
        if memory.windows is not None or self._n_versions > 1:
            before = np.arange(len(memory.y)) if memory.windows is None else memory.windows
            of_added = len(firsts) + np.repeat(np.arange(n_added), self._n_versions)
            windows = np.concatenate([np.unique(before[stays], return_inverse=True)[1], of_added])
        examples = Examples.of(
            kept_rows(np.concatenate([self.bank.X[stays].astype(np.float64), added])),
            np.concatenate([place[memory.y[firsts]], self.dataset.y_among(self.labels)]),
            np.concatenate([memory.weights[firsts], self.dataset.weights]),
            np.concatenate(
                [self.joined.groups[: stays.sum()][self._places(firsts)], self.joined.groups[stays.sum() :]]
            ),
            windows=windows,
            averages=self.config.average_versions,
        )
        return examples, len(firsts)

    def _places(self, rows: np.ndarray) -> np.ndarray:
        """Where rows of the bank that stay stand among those that do."""
        return np.asarray((np.cumsum(self.joined.stays) - 1)[rows])

    def _recordings(self, training: Training) -> TrainedRecordings:
        """Those of the rows of the new bank: remembered rows stand first among the examples, then added windows."""
        rows, n_stay = support_rows(training), int(self.joined.stays.sum())
        if rows is None:
            return self.joined.recordings.of_rows(np.empty(0, dtype=int))
        return self.joined.recordings.of_rows(
            np.where(rows < n_stay, rows, n_stay + (rows - n_stay) // self._n_versions)
        )

    def _plan(self, examples: Examples, run: Run) -> Plan:
        """That of the edited tree; the model's own while labels and taxonomy are the same, else a new one."""
        if self.changes is not None:
            return self.changes.plan
        if self.is_same and self.old.classifier.plan is not None:
            return self.old.classifier.plan
        return plan_of(examples, self.labels, self.config, run, self.taxonomy)

    def _results(self, plan: Plan, examples: Examples, n_old: int, run: Run) -> list[TrainedDichotomy]:
        """The model's machines where nothing was added or edited, trained ones elsewhere."""
        added = examples.y[n_old:]
        place_of = self._places_of(plan)
        results = {
            each: self._unchanged(each, place, examples, n_old)
            for each, place in place_of.items()
            if place is not None and not self._is_touched(each, added) and not self._is_replaced(place)
        }
        touched = [each for each in plan.dichotomies if each not in results]
        choices = [self._choice(each, place_of[each], run) for each in touched]
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
        return [results[each] for each in plan.dichotomies]

    def _places_of(self, plan: Plan) -> dict[Dichotomy, int | None]:
        """Where the model has each dichotomy; of labels that overlap that of the same label, whatever its sets are."""
        if self.old.is_multi_label:
            return {each: place for place, each in enumerate(plan.dichotomies)}
        places = places_of(self.old)
        return {each: places.get(sides_of(each, self.labels)) for each in plan.dichotomies}

    def _is_touched(self, dichotomy: Dichotomy, added: np.ndarray) -> bool:
        """Whether any of the added recordings takes part in a dichotomy, or its machine was edited."""
        if self.changes is not None and dichotomy in self.changes.touched:
            return True
        return bool(np.isin(added, [*dichotomy.positive, *dichotomy.negative]).any())

    def _is_replaced(self, place: int) -> bool:
        """Whether a machine stands on remembered rows of which newer windows took the place."""
        machine = self.bank.machine(place)
        return bool(machine.coefficients[~self.joined.stays[machine.support]].any())

    def _choice(self, dichotomy: Dichotomy, place: int | None, run: Run) -> tuple[Kernel, float]:
        """The kernel and C that the edited tree states, or those of the model's machine; a new one has the first's."""
        stated = self.edited.machines.get(dichotomy) if self.edited is not None else None
        if stated is not None:
            return run.component("kernel", stated["kernel"]), float(stated["C"])
        return self._choice_at(place or 0)

    def _choice_at(self, place: int) -> tuple[Kernel, float]:
        kernel = next(part.kernel for part in self.bank.parts if place in part.machines)
        return kernel, float(self.old.about["machines"][place]["C"])

    def _unchanged(self, dichotomy: Dichotomy, place: int, examples: Examples, n_old: int) -> TrainedDichotomy:
        """The model's own machine, with its scores of what was added."""
        kernel, C = self._choice_at(place)
        classifier = self.old.classifier
        stays, scores = self.joined.stays, np.zeros(examples.n_rows, np.float32)
        scores[stays.sum() :] = classifier.scores(examples.statistics.X[stays.sum() :].astype(np.float32))[:, place]
        new = examples.to_windows(scores)[n_old:]
        held_out = np.concatenate([self.memory.held_out[self._remembered, place], new]).astype(np.float64)
        machine = self.bank.machine(place)
        is_there = stays[machine.support]
        support = self._places(machine.support[is_there])
        machine = replace(machine, support=support, coefficients=machine.coefficients[is_there])
        return TrainedDichotomy(dichotomy, kernel, C, machine, classifier.calibrations[place], held_out)

    def _transitions(self) -> np.ndarray | None:
        """What the model counted of how labels follow one another, and what the added recordings show."""
        new = self.dataset.take(np.flatnonzero(~self.joined.is_known))  # the others were counted before
        added = transitions_of(new.among(self.labels), self.old.recipe)
        if self.old.transitions is None:
            return added
        counts = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        place = [self.labels.index(label) for label in self.old.labels]
        counts[np.ix_(place, place)] = self.old.transitions
        return counts if added is None else counts + added

    def _history(self) -> list[dict[str, Any]]:
        was = {"model": self.old.name, "corpus": self.old.about.get("corpus", {}) if len(self.dataset.X) else {}}
        if self.edited is not None:
            was["tree"] = "edited"
        return [*self.old.about.get("updates", []), was]

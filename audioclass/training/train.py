"""Examples to a classifier: plan, choose kernels, train every dichotomy, keep what proved its worth, combine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.classifier import Classifier
from audioclass.contracts import FitsCombination, Kernel, Prunes
from audioclass.numerics import one_thread
from audioclass.problems import Dichotomy, FeatureMachine, Geometry, Machine, Plan
from audioclass.storage import Store
from audioclass.taxonomy import Taxonomy
from audioclass.training.dichotomies import TrainedDichotomy, train_dichotomies
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples, FitOptions, spread_rows
from audioclass.training.selection import Selected, Selection, select
from audioclass.training.stored_selection import kept_selection

GEOMETRY_ROWS = 3000  # of the examples, spread over the labels: their centres need no more
Progress = Callable[[str, int, int], None]  # what is being done, items done, items in all


@dataclass(frozen=True)
class Method:
    """Every choice of a training, as components; `kernels` compete under a `selection`, else the first is taken."""

    strategy: Any
    kernels: tuple[Kernel, ...]
    components: FitOptions
    C: float = 1.0
    selection: Selection | None = None

    @property
    def is_direct(self) -> bool:
        """Whether the strategy fits all labels at once."""
        return not hasattr(self.strategy, "plan")


@dataclass(frozen=True, eq=False)
class Training:
    """A classifier, the out-of-fold posteriors (n, n_labels) of its examples, and what was found on the way.

    `trained` and `selected` go with the dichotomies that were kept; both are empty for a direct strategy, but for its
    one selection.
    """

    classifier: Classifier
    held_out: np.ndarray
    trained: tuple[TrainedDichotomy, ...] = ()
    selected: tuple[Selected, ...] = ()
    notes: tuple[str, ...] = field(default=())


@one_thread()
def train_classifier(
    examples: Examples,
    labels: Sequence[str],
    method: Method,
    *,
    taxonomy: Taxonomy | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Training:
    """A classifier of `labels` from prepared examples whose `y` are indices of them; every label needs an example."""
    if len(labels) < 2:
        raise ValueError(f"{len(labels)} labels, at least 2 are needed")
    run = _Run(examples, tuple(labels), method, taxonomy, jobs, progress or (lambda *_: None), store)
    return run.direct() if method.is_direct else run.planned()


def plan_of(examples: Examples, labels: Sequence[str], method: Method, taxonomy: Taxonomy | None = None) -> Plan:
    """The dichotomies that a strategy asks for, by the geometry of the labels under the first kernel."""
    geometry = geometry_of(examples, method.kernels[0], len(labels))
    return method.strategy.plan(labels, geometry, taxonomy, np.random.default_rng(method.components.seed))


def geometry_of(examples: Examples, kernel: Kernel, n_labels: int) -> Geometry:
    """The labels as the kernel sees them, from some of the examples where there are many."""
    rows = spread_rows(examples.y, GEOMETRY_ROWS)
    geometry = Geometry.of_gram(examples.statistics.gram(kernel, rows), examples.y[rows], n_labels)
    return replace(geometry, counts=np.bincount(examples.y, minlength=n_labels))


@dataclass(frozen=True, eq=False)
class _Run:
    examples: Examples
    labels: tuple[str, ...]
    method: Method
    taxonomy: Taxonomy | None
    jobs: int
    progress: Progress
    store: Store | None

    def planned(self) -> Training:
        """Train the plan of the strategy."""
        plan = plan_of(self.examples, self.labels, self.method, self.taxonomy)
        chosen = self._choose(plan.dichotomies)
        trained = train_dichotomies(
            plan.dichotomies,
            self.examples,
            [choice.kernel for choice in chosen],
            [choice.C for choice in chosen],
            self.method.components,
            everywhere=True,
            jobs=self.jobs,
            progress=partial(self.progress, "training"),
            store=self.store,
        )
        self.progress("calibration", 0, 1)
        training = assemble(self.examples, self.labels, self.method, plan, trained, chosen)
        self.progress("calibration", 1, 1)
        return training

    def direct(self) -> Training:
        """Train a direct strategy; its kernel and C are those of each label against the rest."""
        n_labels, method = len(self.labels), self.method
        each = [Dichotomy((k,), tuple(other for other in range(n_labels) if other != k)) for k in range(n_labels)]
        [choice, *_] = self._choose(each if method.strategy.wants != "features" else []) or [self._given()]
        self.progress("training", 0, 1)
        trained = train_direct(
            method.strategy, self.examples, n_labels, choice.kernel, choice.C, method.components, self.store
        )
        self.progress("training", 1, 1)
        machines = _label_machines(trained.machine, self.examples, choice.kernel, n_labels)
        counts = np.bincount(self.examples.y, minlength=n_labels)
        classifier = Classifier(self.labels, method.strategy, machines, counts, fitted=trained.fitted)
        notes = (trained.note,) if trained.note else ()
        return Training(classifier, classifier.combine(trained.held_out), (), (choice,), notes)

    def _choose(self, dichotomies: Sequence[Dichotomy]) -> list[Selected]:
        """A kernel and C for each dichotomy: chosen by the selection, or as they were given."""
        if self.method.selection is None or self.method.components.trainer.wants == "features":
            return [self._given()] * len(dichotomies)
        method = self.method
        said = (tuple(dichotomies), method.kernels, method.C, method.selection)

        def choose() -> list[Selected]:
            say = partial(self.progress, "selection")
            return select(dichotomies, self.examples, *said[1:], jobs=self.jobs, progress=say)

        return kept_selection(self.store, lambda: f"{self.examples.fingerprint}\n{said!r}", method.kernels, choose)

    def _given(self) -> Selected:
        return Selected(self.method.kernels[0], self.method.C)


def assemble(
    examples: Examples,
    labels: Sequence[str],
    method: Method,
    plan: Plan,
    trained: Sequence[TrainedDichotomy],
    selected: Sequence[Selected] = (),
) -> Training:
    """A classifier of trained dichotomies: those that the strategy keeps, with its combination fitted on them."""
    counts = np.bincount(examples.y, minlength=len(labels))
    plan, kept = _pruned(method, plan, trained, examples.y, counts)
    trained = [trained[i] for i in kept]
    scores, probabilities = _answers(method, trained)
    fitted: Mapping[str, Any] = {}
    if isinstance(method.strategy, FitsCombination):
        fitted = method.strategy.fit_combination(plan, probabilities, scores, examples.y, counts)
    classifier = Classifier(
        tuple(labels),
        method.strategy,
        _machines(examples, trained),
        counts,
        plan,
        method.components.trainer,
        method.components.calibrator,
        tuple(result.calibration for result in trained),
        fitted,
    )
    held_out = method.strategy.combine(plan, probabilities, scores, counts, fitted)
    notes = tuple(f"{_said(result.dichotomy, labels)}: {result.note}" for result in trained if result.note)
    return Training(classifier, held_out, tuple(trained), tuple(selected[i] for i in kept if selected), notes)


def _pruned(
    method: Method, plan: Plan, trained: Sequence[TrainedDichotomy], y: np.ndarray, counts: np.ndarray
) -> tuple[Plan, list[int]]:
    """The plan that the strategy keeps, and which of the dichotomies those are."""
    if not isinstance(method.strategy, Prunes):
        return plan, list(range(len(trained)))
    scores, probabilities = _answers(method, trained)
    kept = method.strategy.prune(plan, probabilities, scores, y, counts)
    place = {dichotomy: i for i, dichotomy in enumerate(plan.dichotomies)}
    return kept, [place[dichotomy] for dichotomy in kept.dichotomies]


def _answers(method: Method, trained: Sequence[TrainedDichotomy]) -> tuple[np.ndarray, np.ndarray]:
    """(n, n_dichotomies) held-out scores of every example, and their calibrated probabilities."""
    scores = np.stack([result.held_out for result in trained], axis=1)
    calibrator = method.components.calibrator
    return scores, np.stack([calibrator.probabilities(r.held_out, r.calibration) for r in trained], axis=1)


def _machines(examples: Examples, trained: Sequence[TrainedDichotomy]) -> Bank | tuple[FeatureMachine, ...]:
    machines = [result.machine for result in trained]
    if isinstance(machines[0], FeatureMachine):
        return tuple(machines)
    return Bank.of(examples.statistics.X, machines, [result.kernel for result in trained])


def _label_machines(
    machine: Machine | FeatureMachine, examples: Examples, kernel: Kernel, n_labels: int
) -> Bank | tuple[FeatureMachine, ...]:
    """The outputs of a direct strategy's machine, one for each label."""
    if isinstance(machine, FeatureMachine):
        return (machine,)
    intercepts = np.broadcast_to(machine.intercept, n_labels)
    each = [Machine(machine.support, machine.coefficients[:, k], float(intercepts[k])) for k in range(n_labels)]
    return Bank.of(examples.statistics.X, each, [kernel] * n_labels)


def _said(dichotomy: Dichotomy, labels: Sequence[str]) -> str:
    sides = (dichotomy.positive, dichotomy.negative)
    return " against ".join("{" + ", ".join(labels[i] for i in side) + "}" for side in sides)

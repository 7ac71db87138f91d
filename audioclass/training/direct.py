"""Train a direct strategy: all labels at once, with out-of-fold scores for its combination and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.contracts import FitsDirectCombination, HoldsOutOfBag, Kernel
from audioclass.numerics import one_thread
from audioclass.parameters import parameter_values
from audioclass.problems import FeatureMachine, LabelTask, Machine
from audioclass.storage import Store, computed
from audioclass.training.dichotomies import form_of
from audioclass.training.examples import Examples, FitOptions
from audioclass.training.folds import fold_count, grouped_folds, trainable_folds
from audioclass.training.results import AnyMachine

IN_SAMPLE = "combined by its own training scores: a label has a single group"


@dataclass(frozen=True, eq=False)
class TrainedDirect:
    """A machine of all labels, what its combination learnt, and the held-out scores (n, n_labels)."""

    machine: AnyMachine
    fitted: Mapping[str, Any]
    held_out: np.ndarray
    note: str = ""


@one_thread()
def train_direct(
    strategy: Any,
    examples: Examples,
    n_labels: int,
    kernel: Kernel,
    C: float,
    components: FitOptions,
    store: Store | None = None,
) -> TrainedDirect:
    """The machine on all examples; labels weigh the same in sum, as the sides of a dichotomy do."""
    problem = _Direct(strategy, examples, n_labels, kernel, C, components, store)
    machine, scores, note = problem.train()
    known = np.isfinite(scores).all(axis=1)
    if len(np.unique(examples.y[known])) < n_labels:  # every bag held a group that a label cannot do without
        scores, note = problem.scores(machine, np.arange(len(examples.y))), IN_SAMPLE
        known = np.ones(len(scores), bool)
    if not known.all():
        scores = scores.copy()
        scores[~known] = problem.scores(machine, np.flatnonzero(~known))
    fitted = {}
    if isinstance(strategy, FitsDirectCombination):
        fitted = strategy.fit_combination(scores[known], examples.y[known])
    return TrainedDirect(machine, fitted, scores, note)


@dataclass(frozen=True, eq=False)
class _Direct:
    strategy: Any
    examples: Examples
    n_labels: int
    kernel: Kernel
    C: float
    components: FitOptions
    store: Store | None

    def train(self) -> tuple[AnyMachine, np.ndarray, str]:
        """The machine, held-out scores of every example, and what is to be said of them."""
        everything = np.arange(len(self.examples.y))
        if isinstance(self.strategy, HoldsOutOfBag):
            machine, scores = self.fitted(everything, None)
            return machine, scores, ""
        machine, _ = self.fitted(everything, None)
        folds = self._folds()
        if folds is None:
            return machine, self.scores(machine, everything), IN_SAMPLE
        scores = np.full((len(everything), self.n_labels), np.nan)
        for fold in trainable_folds(self.examples.y, folds):
            away, _ = self.fitted(np.flatnonzero(folds != fold), fold)
            scores[folds == fold] = self.scores(away, np.flatnonzero(folds == fold))
        return machine, scores, ""

    def _folds(self) -> np.ndarray | None:
        y, groups = self.examples.y, self.examples.groups
        count = fold_count(y, groups, self.components.n_folds)
        folds = grouped_folds(y, groups, count) if count > 1 else None
        return folds if folds is not None and trainable_folds(y, folds) else None

    def fitted(self, rows: np.ndarray, fold: int | None) -> tuple[AnyMachine, np.ndarray]:
        """The machine on these rows, and its out-of-bag scores where it has them, else none."""
        kept = computed(self.store, lambda: self._key(fold), lambda: _arrays(*self._fit(rows, fold)))
        return _machine(kept, rows)

    def _fit(self, rows: np.ndarray, fold: int | None) -> tuple[AnyMachine, np.ndarray]:
        form = form_of(self.examples, self.kernel, rows, self.strategy.wants)
        rng = np.random.default_rng([self.components.seed, 0 if fold is None else fold + 1])
        task = LabelTask(self.examples.y[rows], self.n_labels, self.C, self._weights(rows), rng, **form)
        if isinstance(self.strategy, HoldsOutOfBag):
            return self.strategy.fit_out_of_bag(task, self.examples.groups[rows])
        return self.strategy.fit(task), np.empty(0)

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        own, y = self.examples.weights[rows], self.examples.y[rows]
        sums = np.bincount(y, weights=own, minlength=self.n_labels)
        return own * own.sum() / (self.n_labels * np.maximum(sums[y], np.finfo(float).tiny))

    def _key(self, fold: int | None) -> str:
        named = [(component.name, parameter_values(component)) for component in (self.strategy, self.kernel)]
        return "\n".join(
            [self.examples.fingerprint, repr((named, self.C, self.components.n_folds, self.components.seed, fold))]
        )

    def scores(self, machine: AnyMachine, rows: np.ndarray) -> np.ndarray:
        """(n, n_labels) of examples by a machine whose support are examples."""
        if isinstance(machine, FeatureMachine):
            return self.strategy.scores(machine, self.examples.statistics.X[rows])
        K = self.examples.statistics.gram(self.kernel, rows, machine.support)
        return K @ machine.coefficients + machine.intercept


def _arrays(machine: AnyMachine, scores: np.ndarray) -> dict[str, np.ndarray]:
    if isinstance(machine, FeatureMachine):
        return {"scores": scores, **{f"features/{name}": array for name, array in machine.arrays.items()}}
    own = {"support": machine.support, "coefficients": machine.coefficients}
    return {"scores": scores, "intercept": np.asarray(machine.intercept), **own}


def _machine(kept: Mapping[str, np.ndarray], rows: np.ndarray) -> tuple[AnyMachine, np.ndarray]:
    if "support" in kept:
        return Machine(rows[kept["support"]], kept["coefficients"], kept["intercept"]), kept["scores"]
    arrays = {name.removeprefix("features/"): array for name, array in kept.items() if name != "scores"}
    return FeatureMachine(arrays), kept["scores"]

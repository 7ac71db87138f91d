"""Examples to a classifier: plan, choose kernels, train every dichotomy, keep what proved its worth, combine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import HasTree, Kernel, PlansRounds
from audioclass.problems import Dichotomy, Geometry, Plan, Round
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread
from audioclass.training.assemble import Training, assemble, assemble_direct, held_out_answers
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, planning_strategy, train_dichotomies
from audioclass.training.direct import direct_strategy, train_direct
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.levels import levels_of
from audioclass.training.rounds import MOST_ROUNDS, check_round
from audioclass.training.select import stored_selection, stored_selection_for_labels
from audioclass.training.stored_selection import Selected

GEOMETRY_ROWS = 3000  # of the examples, spread over the labels: their centres need no more


@one_thread()
def train_classifier(
    examples: Examples,
    labels: Sequence[str],
    config: TrainingConfig,
    run: Run,
    *,
    taxonomy: Taxonomy | None = None,
    store: Store | None = None,
) -> Training:
    """A classifier of `labels` from prepared examples whose `y` are indices of them; every label needs an example.

    What a `store` holds from a run before is not computed again.
    """
    if len(labels) < 2:
        raise ValueError(f"{len(labels)} labels, at least 2 are needed")
    choose = _Choice(examples, config, run, store)
    train = _train_direct if config.is_direct else _train_planned
    return train(choose, tuple(labels), taxonomy)


def plan_of(
    examples: Examples, labels: Sequence[str], config: TrainingConfig, run: Run, taxonomy: Taxonomy | None = None
) -> Plan:
    """The dichotomies that a strategy asks for, by the geometry of the labels under the first kernel."""
    geometry = geometry_of(examples, config.kernels[0], len(labels))
    return planning_strategy(config).plan(labels, geometry, taxonomy, np.random.default_rng(run.seed))


def geometry_of(examples: Examples, kernel: Kernel, n_labels: int) -> Geometry:
    """The labels as the kernel sees them, from some of the examples where there are many."""
    rows = spread_rows(examples.y, GEOMETRY_ROWS)
    K = examples.statistics.gram(kernel, examples.firsts[rows])
    geometry = Geometry.of_gram(K, examples.y[rows], n_labels)
    return replace(geometry, counts=np.bincount(examples.y, minlength=n_labels))


@dataclass(frozen=True, eq=False)
class _Choice:
    """A training and its way to kernels: chosen by the criterion, or as they were given."""

    examples: Examples
    config: TrainingConfig
    run: Run
    store: Store | None

    @property
    def given(self) -> Selected:
        return Selected(self.config.kernels[0], self.config.C)

    def __call__(
        self,
        dichotomies: Sequence[Dichotomy],
        importance: np.ndarray | None = None,
        levels: Sequence[int] | None = None,
    ) -> list[Selected]:
        """A kernel and C for each dichotomy, of which `levels` are the depths in the tree where those matter."""
        if self.config.criterion is None or self.config.trainer.wants == "features":
            return [self.given] * len(dichotomies)
        return stored_selection(
            self.store,
            dichotomies,
            self.examples,
            self.config,
            self.run,
            importance=importance,
            levels=levels,
        )

    def for_labels(self, n_labels: int) -> Selected:
        """The kernel and C of a strategy that fits all labels at once."""
        if self.config.criterion is None or direct_strategy(self.config).wants == "features":
            return self.given
        return stored_selection_for_labels(self.store, self.examples, n_labels, self.config, self.run)


def _train_planned(choose: _Choice, labels: tuple[str, ...], taxonomy: Taxonomy | None) -> Training:
    """Train the plan of the strategy, and whatever it plans after seeing how that went."""
    examples, config, run = choose.examples, choose.config, choose.run
    current = Round(plan_of(examples, labels, config, run, taxonomy))
    chosen: list[Selected] = []
    trained: list[TrainedDichotomy] = []
    for _ in range(MOST_ROUNDS):
        plan, importance = current.plan, current.importance
        new = plan.dichotomies[len(trained) :]
        levels = None
        if config.selection_scope == "level" and isinstance(config.strategy, HasTree):
            levels = levels_of(config.strategy, plan)[len(trained) :]
        choices = choose(new, importance, levels)
        trained += train_dichotomies(
            new,
            examples,
            [choice.kernel for choice in choices],
            [choice.C for choice in choices],
            config,
            run,
            importance=None if importance is None else list(importance.T),
            everywhere=True,
            store=choose.store,
        )
        chosen += choices
        following = _next_round(config, plan, trained, examples, len(labels))
        if following is None:
            break
        current = following
    else:
        raise ValueError(f"strategy {config.strategy.name!r} still plans more after {MOST_ROUNDS} rounds")
    run.progress("calibration", 0, 1)
    training = assemble(examples, labels, config, plan, trained, chosen, run=run, store=choose.store)
    run.progress("calibration", 1, 1)
    return training


def _next_round(
    config: TrainingConfig, plan: Plan, trained: Sequence[TrainedDichotomy], examples: Examples, n_labels: int
) -> Round | None:
    """What the strategy wants trained after what is trained; nothing for those that plan once."""
    strategy = planning_strategy(config)
    if not isinstance(strategy, PlansRounds):
        return None
    counts = np.bincount(examples.y, minlength=n_labels)
    following = strategy.plan_next(plan, *held_out_answers(config, trained), examples.y, counts)
    return None if following is None else check_round(strategy, plan, following, len(examples.y))


def _train_direct(choose: _Choice, labels: tuple[str, ...], taxonomy: Taxonomy | None) -> Training:
    """Train a direct strategy, with one kernel and C."""
    examples, config, run = choose.examples, choose.config, choose.run
    choice = choose.for_labels(len(labels))
    trained = train_direct(examples, len(labels), choice.kernel, choice.C, config, run, store=choose.store)
    return assemble_direct(examples, labels, config, trained, choice)

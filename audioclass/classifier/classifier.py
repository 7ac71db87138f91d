"""A classifier over prepared features: machines, calibrations and a combination; evaluated with numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.contracts import (
    Calibrator,
    Decides,
    DirectStrategy,
    Fitted,
    Kernel,
    ScoresFeatures,
    ScoresGroups,
    ScoresLabels,
    Strategy,
    TellsLabelsIndependently,
    Trainer,
)
from audioclass.label_sets import LabelSets
from audioclass.numerics import led_by
from audioclass.problems import FeatureMachine, LabelEvidence, Plan
from audioclass.strategies.last_step import FittedLink, LastStep
from audioclass.strategies.posterior_calibration import PosteriorCalibration
from audioclass.strategies.second_stage import SecondStage
from audioclass.threads import one_thread

Machines = Bank | tuple[FeatureMachine, ...]


@dataclass(frozen=True)
class StatedComponent:
    """A component known by its table alone: the trainer of kernel machines, which nobody needs to evaluate them."""

    table: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Classifier:
    """Everything learnt about `labels`: kernel machines in a bank or machines over features, and how they combine.

    `plan` is None for a direct strategy, whose machines have a score for each label. `counts` is (n_labels,): examples
    of each. `calibrations` has an entry for each dichotomy; `fitted` is what the combination learnt. Where posteriors
    are better with them, `posterior_calibration` or a `link` comes after it, and a `second_stage` last.

    A multi-label classifier has `label_sets`: `labels` are then independent of one another, the plan and `counts` are
    of these sets, and posteriors are a probability for each label, whose rows need not sum to 1.
    """

    labels: tuple[str, ...]
    strategy: Strategy | DirectStrategy
    machines: Machines
    counts: np.ndarray
    plan: Plan | None = None
    trainer: Trainer | StatedComponent | None = None
    calibrator: Calibrator | None = None
    calibrations: tuple[Fitted, ...] = ()
    fitted: Fitted = field(default_factory=dict)
    posterior_calibration: PosteriorCalibration | None = None
    link: FittedLink | None = None
    second_stage: SecondStage | None = None
    label_sets: LabelSets | None = None

    @property
    def is_multi_label(self) -> bool:
        """Whether several labels may hold at once."""
        return self.label_sets is not None

    @property
    def classes(self) -> tuple[str, ...]:
        """What the plan is over: the labels, or the names of the sets of them."""
        return self.labels if self.label_sets is None else self.label_sets.names

    @cached_property
    def thresholds(self) -> np.ndarray:
        """(n_labels,): from which probability on each label holds, where labels are independent."""
        if not isinstance(self.strategy, TellsLabelsIndependently):
            return np.full(len(self.labels), 0.5)
        return np.asarray(self.strategy.thresholds(self.fitted), np.float64)

    @one_thread()
    def scores(self, X: np.ndarray) -> np.ndarray:
        """(n, n_dichotomies) scores of prepared rows; (n, n_labels) for a direct strategy."""
        if isinstance(self.machines, Bank):
            return self.machines.scores(X)
        scorer = self.strategy if self.plan is None else self.trainer
        if not isinstance(scorer, ScoresFeatures):
            raise TypeError(f"{scorer!r} cannot score machines over features")
        scores = [scorer.scores(machine, X) for machine in self.machines]
        return scores[0] if self.plan is None else np.stack(scores, axis=1)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The calibrated probability of the positive side of each dichotomy, from finite scores."""
        if self.calibrator is None:
            return np.empty((len(scores), 0))
        columns = zip(scores.T, self.calibrations, strict=True)
        parts = [self.calibrator.probabilities(column, fitted) for column, fitted in columns]
        return np.stack(parts, axis=1) if parts else np.empty((len(scores), 0))

    @one_thread()
    def combine(self, scores: np.ndarray) -> np.ndarray:
        """Posteriors (n, n_labels) from scores, at least 0 and of sum 1; the label of a row is that of the largest."""
        if self.link is None and self.second_stage is None:
            return self.last_step.posteriors(LabelEvidence(self.strategy_posteriors(scores)))
        return self.last_step.posteriors(self.evidence(scores))

    @property
    def last_step(self) -> LastStep:
        """What comes after the strategy."""
        return LastStep(self.posterior_calibration, self.link, self.second_stage)

    def with_last_step(self, step: LastStep) -> Classifier:
        """The same machines and combination with another last step."""
        return replace(self, posterior_calibration=step.tempering, link=step.link, second_stage=step.stage)

    def evidence(self, scores: np.ndarray) -> LabelEvidence:
        """What the last step is given: the strategy's posteriors, and its scores of labels and groups if it has any."""
        scores, strategy = np.asarray(scores, np.float64), self.strategy
        of_labels = strategy.label_scores(self.plan, scores) if isinstance(strategy, ScoresLabels) else None
        columns = None
        if self.plan is not None and isinstance(strategy, ScoresGroups):
            columns = strategy.group_scores(self.plan, scores)
        return LabelEvidence(self.strategy_posteriors(scores), of_labels, columns)

    @one_thread()
    def strategy_posteriors(self, scores: np.ndarray) -> np.ndarray:
        """Posteriors as the strategy gives them, before the last step."""
        scores = np.asarray(scores, np.float64)
        if self.plan is None:
            return cast("DirectStrategy", self.strategy).combine(scores, self.fitted)
        return self.combine_calibrated(self.probabilities(scores), scores)

    def combine_calibrated(self, probabilities: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The same from the calibrated probabilities of the dichotomies, where there is a plan.

        Where the strategy has a decision of its own, posteriors are the nearest to what it combines that agree with it:
        whoever takes the label of the largest then follows the strategy.
        """
        strategy, plan = cast("Strategy", self.strategy), cast("Plan", self.plan)
        P = strategy.combine(plan, probabilities, scores, self.counts, self.fitted)
        return led_by(P, strategy.decide(plan, P, scores)) if isinstance(strategy, Decides) else P

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        """Posteriors of prepared rows."""
        return self.combine(self.scores(X)) if len(X) else np.empty((0, len(self.labels)))

    @property
    def n_machines(self) -> int:
        """Dichotomies of a plan; one for a direct strategy."""
        return 1 if self.plan is None else len(self.plan.dichotomies)

    @property
    def n_support(self) -> int:
        """Rows that all kernel machines share; 0 for machines over features."""
        return len(self.machines.X) if isinstance(self.machines, Bank) else 0

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of its machines, each once."""
        return tuple(part.kernel for part in self.machines.parts) if isinstance(self.machines, Bank) else ()

    @cached_property
    def in_single(self) -> Classifier:
        """The same with its bank in single precision: half the size, twice as fast, scores within 1e-4, not votes."""
        if not isinstance(self.machines, Bank):
            return self
        return replace(self, machines=self.machines.astype(np.float32))

    @cached_property
    def rounded(self) -> Classifier:
        """The same in single precision, its many support rows rounded: for features that are normalised by rank."""
        return replace(self, machines=self.machines.rounded()) if isinstance(self.machines, Bank) else self

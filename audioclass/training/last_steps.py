"""Choose the last steps of a classifier in inner folds; what is chosen is then fitted on all held-out scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.step_contest import InnerFold, StepContest
from audioclass.numerics import log_losses
from audioclass.strategies.last_step import TEMPERINGS_IN_ORDER, LastStep, StepKind
from audioclass.strategies.second_stage import penalty_by_rule
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy
from audioclass.training.examples import Examples
from audioclass.training.inner_folds import InnerFolds

LEAST_WRONG = 40  # rows outside their fold, for a second stage: fewer tell too little of what is taken for what
LEAST_GROUPS = 8  # for a second stage: of fewer, such as five speakers, even a gain in every one may be chance
ROUNDING = 1e-9  # relative: by less no log-loss is lower
LEAST_GAIN = 0.5  # standard errors by which a second stage lowers the log-loss
CLEARLY = 2.0  # standard errors by which another kind than a link of scores lowers it where there are many labels
MANY_LABELS = 20
PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.05, 0.025, 0.01, 0.005)


@dataclass(frozen=True, eq=False)
class StepChoice:
    """A last step, and the posteriors (n, n_labels) of all examples outside their inner fold, by a step of its kind.

    `losses` are the log-losses of the kinds that competed, by name; empty where there were no folds to judge by.
    """

    step: LastStep
    held_out: np.ndarray
    losses: Mapping[str, float] = field(default_factory=dict)

    def to_plain(self, folds: InnerFolds) -> dict[str, Any]:
        """What a model says of it, beside the folds that decided; nothing where there were none."""
        if not folds.folds or not self.losses:
            return {}
        stated = {"chosen": str(self.step.kind), "folds": len(folds.folds), "clean": folds.are_clean}
        return {**stated, "log_loss": dict(self.losses)}


def chosen_step(
    classifier: Classifier,
    scores: np.ndarray,
    folds: InnerFolds,
    examples: Examples,
    config: TrainingConfig,
    trained: Sequence[TrainedDichotomy] = (),
) -> StepChoice:
    """The last step that a configuration asks for: clean folds choose among many penalties, others take the rule's."""
    penalties: Sequence[float] = ()
    if config.second_stage != "none":
        penalties = PENALTIES if folds.are_clean else (penalty_by_rule(len(examples.y)),)
    return choose_last_step(
        classifier, scores, folds.folds, examples, config, penalties=penalties, refits=can_refit(trained)
    )


def can_refit(trained: Sequence[TrainedDichotomy]) -> bool:
    """Whether calibrations can be fitted anew from scores alone: not where rounds said who counts in a dichotomy."""
    return all(result.importance is None for result in trained)


def choose_last_step(
    classifier: Classifier,
    scores: np.ndarray,
    folds: Sequence[InnerFold],
    examples: Examples,
    config: TrainingConfig,
    *,
    penalties: Sequence[float] = (),
    refits: bool = True,
) -> StepChoice:
    """The last step of the lowest log-loss over the inner folds; `penalties` are those that a second stage may have.

    `scores` are the held-out ones of all examples. Without folds there is no last step: what cannot be held out says
    nothing of what is new. Without `refits` calibrations and combination stay as they are in every fold.
    """
    bare = classifier.with_last_step(LastStep())
    if not folds:
        return StepChoice(LastStep(), bare.strategy_posteriors(scores))
    contest = StepContest(bare, folds, examples.y, examples.weights, refits=refits)
    if bare.is_multi_label:  # each label is calibrated by itself, and there is nothing left to share out
        return StepChoice(LastStep(), contest.strategy_posteriors)
    kind = _best_kind(contest, config, penalties, examples.groups)
    step = kind.fit(bare.evidence(scores), examples.y, examples.weights)
    return StepChoice(step, contest.posteriors[kind], {str(each): loss for each, loss in contest.losses.items()})


def same_kind_again(
    classifier: Classifier, folds: Sequence[InnerFold], examples: Examples, *, refits: bool = True
) -> np.ndarray:
    """Posteriors of all examples outside their inner fold, by a last step of the kind that the classifier has."""
    contest, kind = (
        StepContest(classifier, folds, examples.y, examples.weights, refits=refits),
        classifier.last_step.kind,
    )
    if classifier.is_multi_label:
        return contest.strategy_posteriors
    contest.loss(kind)
    return contest.posteriors[kind]


def _best_kind(
    contest: StepContest, config: TrainingConfig, penalties: Sequence[float], groups: np.ndarray
) -> StepKind:
    """The first steps compete, then the best with a second stage of each penalty, then that with scores of groups.

    A second stage learns from confusions, and must prove its worth on enough of them, in enough groups and beyond half
    its standard error. On words of FSDD it lowered the log-loss of each of five speakers, from 0.235 to 0.183 together,
    and raised that of a sixth from 0.120 to 0.255.
    """
    first = _preferred(contest, *_first_steps(contest, config), groups)
    n_wrong = int((contest.posteriors[first].argmax(axis=1) != contest.y).sum())
    if not penalties or n_wrong < LEAST_WRONG or len(np.unique(groups)) < LEAST_GROUPS:
        return first
    stage = _best_stage(contest, first, penalties)
    if contest.views[0].fitted_on.columns is not None:
        stage = contest.best([stage, replace(stage, reads_columns=True)])
    return _preferred(contest, [first, stage], LEAST_GAIN, groups)


def _preferred(contest: StepContest, kinds: Sequence[StepKind], n_errors: float, groups: np.ndarray) -> StepKind:
    """The first kind, or the best of those whose log-loss is lower by so many standard errors of the difference."""
    first, *others = kinds
    better = [kind for kind in others if contest.loss(kind) < contest.loss(first)]
    gains = ((kind, *_gain(contest, first, kind, groups)) for kind in better)
    return contest.best([first, *(kind for kind, gain, error in gains if gain > n_errors * error)])


def _gain(contest: StepContest, one: StepKind, other: StepKind, groups: np.ndarray) -> tuple[float, float]:
    """How much lower the log-loss of the other kind is, and the standard error of that over groups."""
    losses = [log_losses(contest.posteriors[kind], contest.y) * contest.weights for kind in (one, other)]
    sums = np.bincount(groups, weights=losses[0] - losses[1]) / contest.weights.sum()
    sums = sums[np.bincount(groups) > 0]
    return float(sums.sum()), float(sums.std() * np.sqrt(len(sums)))


def _first_steps(contest: StepContest, config: TrainingConfig) -> tuple[list[StepKind], float]:
    """One link by itself; or the strategy's own posteriors, these tempered if that helps, and links that compete.

    Also by how many standard errors any must be better than the first. Of many labels that have scores this is the
    first link: inner folds tell little of kinds that are nearly as good, and on new recordings of 40 and 50 labels the
    log link of scores with a second stage has a log-loss that is 0.01 to 0.015 lower than that of any other kind.
    """
    links = [StepKind(link=link) for link in config.links or ()]
    if len(links) == 1:
        return links, 0.0
    plain = StepKind()
    temperings = TEMPERINGS_IN_ORDER if config.calibrate_posteriors else ()
    better = [kind for kind in temperings if contest.loss(kind) < (1 - ROUNDING) * contest.loss(plain)]
    evidence = contest.views[0].fitted_on
    if links and evidence.scores is not None and evidence.P.shape[1] >= MANY_LABELS:
        return [*links, plain, *better[:1]], CLEARLY
    return [plain, *better[:1], *links], 0.0


def _best_stage(contest: StepContest, kind: StepKind, penalties: Sequence[float]) -> StepKind:
    """The penalty of the lowest log-loss, from the one nearest to the rule on while it falls to either side."""
    stages = [replace(kind, penalty=penalty) for penalty in sorted(penalties)]
    rule = penalty_by_rule(len(contest.y))
    at = int(np.argmin([abs(np.log(penalty / rule)) for penalty in sorted(penalties)]))
    for step in (1, -1):
        while 0 <= at + step < len(stages) and contest.loss(stages[at + step]) < contest.loss(stages[at]):
            at += step
    return stages[at]

"""A classifier with its calibration fitted anew from scores of examples that it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.step_contest import InnerFold, StepContest, recombined
from audioclass.label_sets import LabelSets, members_of
from audioclass.problems import Dichotomy, Plan
from audioclass.strategies.last_step import TEMPERINGS_IN_ORDER, LastStep, StepKind


def recalibrated(
    classifier: Classifier,
    scores: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    folds: np.ndarray | None = None,
) -> Classifier:
    """The same machines; each calibration, the combination and the last step fitted on `scores` and label indices.

    `scores` are (n, n_scores). A dichotomy of which a side has no example keeps the calibration that it had. `folds`
    are those by which the last step must prove its worth; without any a tempering goes, and a link or a second stage
    stays as it was. A second stage has more numbers than a few recordings tell: it stays as it was, or goes.
    """
    weights = np.ones(len(y)) if weights is None else weights
    renewed = recombined(classifier.with_last_step(LastStep()), scores, y, weights)
    if folds is None or len(np.unique(folds)) < 2:
        return renewed.with_last_step(replace(classifier.last_step, tempering=None))
    views = [InnerFold(folds != fold, scores) for fold in np.unique(folds)]
    kind = _best_kind(StepContest(renewed, views, y, weights), classifier.last_step)
    return renewed.with_last_step(kind.fit(renewed.evidence(scores), y, weights))


def over_sets(classifier: Classifier, names: Sequence[str]) -> Classifier:
    """A multi-label classifier over further sets of its labels: each is on the side of a label that it holds or not.

    It has no example of them, but whoever calibrates it may.
    """
    sets, plan = classifier.label_sets, classifier.plan
    if sets is None or plan is None or len(plan.dichotomies) != len(sets.labels):
        raise ValueError(f"strategy {classifier.strategy.name!r} has no dichotomy for each label")
    place = {label: k for k, label in enumerate(sets.labels)}
    further = (tuple(sorted(place[label] for label in members_of(name))) for name in names if name not in sets.names)
    wider = LabelSets(sets.labels, (*sets.sets, *further))
    sides = (
        Dichotomy(tuple(np.flatnonzero(holds).tolist()), tuple(np.flatnonzero(~holds).tolist()))
        for holds in wider.membership.T
    )
    counts = np.concatenate([classifier.counts, np.zeros(len(wider.sets) - len(sets.sets), classifier.counts.dtype)])
    return replace(classifier, label_sets=wider, plan=Plan(len(wider.sets), tuple(sides)), counts=counts)


def _best_kind(contest: StepContest, step: LastStep) -> StepKind:
    """None at all, the first tempering that helps, the link that there was, and all that there was."""
    kinds = [StepKind()]
    kinds += [kind for kind in TEMPERINGS_IN_ORDER if contest.loss(kind) < contest.loss(kinds[0])][:1]
    kinds += [StepKind(link=step.link.link)] if step.link is not None else []
    kinds += [replace(step.kind.without_stage, fixed_stage=step.stage)] if step.stage is not None else []
    return contest.best(kinds)

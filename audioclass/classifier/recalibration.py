"""A classifier with its calibration fitted anew from scores of examples that it never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.step_contest import InnerFold, StepContest, recombined
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


def _best_kind(contest: StepContest, step: LastStep) -> StepKind:
    """None at all, the first tempering that helps, the link that there was, and all that there was."""
    kinds = [StepKind()]
    kinds += [kind for kind in TEMPERINGS_IN_ORDER if contest.loss(kind) < contest.loss(kinds[0])][:1]
    kinds += [StepKind(link=step.link.link)] if step.link is not None else []
    kinds += [replace(step.kind.without_stage, fixed_stage=step.stage)] if step.stage is not None else []
    return contest.best(kinds)

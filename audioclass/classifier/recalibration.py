"""A classifier with its calibration fitted anew from scores of examples that it never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.contracts import Calibrator, FitsCombination, FitsDirectCombination, Fitted
from audioclass.problems import Dichotomy
from audioclass.strategies.posterior_calibration import choose_posterior_calibration


def recalibrated(
    classifier: Classifier,
    scores: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    folds: np.ndarray | None = None,
) -> Classifier:
    """The same machines; each calibration, the combination and the last step fitted on `scores` and label indices.

    `scores` are (n, n_scores). A dichotomy of which a side has no example keeps the calibration that it had. `folds`
    are those by which the last step must prove its worth; without any there is none.
    """
    weights = np.ones(len(y)) if weights is None else weights
    renewed = _recombined(replace(classifier, posterior_calibration=None), scores, y, weights)
    calibration, _ = choose_posterior_calibration(renewed.strategy_posteriors(scores), y, folds, weights)
    return replace(renewed, posterior_calibration=calibration)


def _recombined(classifier: Classifier, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Classifier:
    """With the calibrations and the combination fitted anew."""
    if classifier.plan is None:
        if not isinstance(classifier.strategy, FitsDirectCombination):
            return classifier
        return replace(classifier, fitted=classifier.strategy.fit_combination(scores, y))
    plan, calibrator = classifier.plan, classifier.calibrator
    calibrations = tuple(
        fitted if calibrator is None else _calibration(calibrator, dichotomy, fitted, scores[:, i], y, weights)
        for i, (dichotomy, fitted) in enumerate(zip(plan.dichotomies, classifier.calibrations, strict=True))
    )
    renewed = replace(classifier, calibrations=calibrations)
    if not isinstance(renewed.strategy, FitsCombination):
        return renewed
    fitted = renewed.strategy.fit_combination(plan, renewed.probabilities(scores), scores, y, renewed.counts)
    return replace(renewed, fitted=fitted)


def _calibration(
    calibrator: Calibrator,
    dichotomy: Dichotomy,
    fitted: Fitted,
    scores: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
) -> Fitted:
    positive, negative = np.isin(y, dichotomy.positive), np.isin(y, dichotomy.negative)
    if not positive.any() or not negative.any():
        return fitted
    rows = positive | negative
    return calibrator.fit(scores[rows], np.where(positive, 1, -1)[rows], weights[rows])

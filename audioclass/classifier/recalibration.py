"""A classifier with its calibration fitted anew from scores of examples that it never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.contracts import FitsCombination, FitsDirectCombination


def recalibrated(
    classifier: Classifier, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> Classifier:
    """The same machines; each calibration and the combination fitted on `scores` (n, n_scores) and label indices.

    A dichotomy of which a side has no example keeps the calibration that it had.
    """
    weights = np.ones(len(y)) if weights is None else weights
    if classifier.plan is None:
        if not isinstance(classifier.strategy, FitsDirectCombination):
            return classifier
        return replace(classifier, fitted=classifier.strategy.fit_combination(scores, y))
    calibrations = tuple(
        _calibration(classifier, i, scores[:, i], y, weights) for i in range(len(classifier.calibrations))
    )
    renewed = replace(classifier, calibrations=calibrations)
    if not isinstance(renewed.strategy, FitsCombination):
        return renewed
    fitted = renewed.strategy.fit_combination(renewed.plan, renewed.probabilities(scores), scores, y, renewed.counts)
    return replace(renewed, fitted=fitted)


def _calibration(classifier: Classifier, i: int, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> object:
    dichotomy = classifier.plan.dichotomies[i]
    positive, negative = np.isin(y, dichotomy.positive), np.isin(y, dichotomy.negative)
    if not positive.any() or not negative.any():
        return classifier.calibrations[i]
    rows = positive | negative
    return classifier.calibrator.fit(scores[rows], np.where(positive, 1, -1)[rows], weights[rows])

"""The measures of each label against the rest, all at once and for any weighting, as a bootstrap asks for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audioclass.evaluation.calibration import LabelBinnings
from audioclass.evaluation.confusion import confusion_matrix, label_rates
from audioclass.evaluation.predictions import Predictions
from audioclass.evaluation.ranking import LabelRankings

LABEL_MEASURES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "calibration_error": "ECE",
}


def label_measures(predictions: Predictions) -> Callable[[np.ndarray], dict[tuple[str, int], float]]:
    """A function of multiplicities: each of `LABEL_MEASURES` of each label, keyed by both; NaN where undefined.

    A label that a resample leaves out is unknown in it, and not wrong.
    """
    n_labels = len(predictions.labels)
    rankings, binnings = LabelRankings.of(predictions.P, predictions.y), LabelBinnings.of(predictions.P, predictions.y)

    def measures(multiplicities: np.ndarray) -> dict[tuple[str, int], float]:
        weights = predictions.weights * multiplicities
        rates = label_rates(confusion_matrix(predictions.y, predictions.estimated, n_labels, weights), undefined=np.nan)
        columns = (rates.precision, rates.recall, rates.f, rankings.areas(weights), binnings.errors(weights))
        return {
            (name, label): float(value)
            for name, column in zip(LABEL_MEASURES, columns, strict=True)
            for label, value in enumerate(column)
        }

    return measures

"""The measures of one number each, all at once and for any weighting: what a table shows and a bootstrap repeats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from audioclass.evaluation.calibration import Binning, brier_scores
from audioclass.evaluation.confusion import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    label_rates,
    macro,
    mean_of_defined,
    micro_f,
    weighted,
)
from audioclass.evaluation.hierarchy import ancestry, hierarchical_rates
from audioclass.evaluation.predictions import Predictions
from audioclass.evaluation.ranking import LabelRankings
from audioclass.numerics import log_losses

MEASURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "weighted_f1": "weighted F1",
    "hierarchical_precision": "hierarchical precision",
    "hierarchical_recall": "hierarchical recall",
    "hierarchical_f1": "hierarchical F1",
    "auc_one_vs_rest": "AUC, one vs rest",
    "auc_pairs": "AUC, pairs (Hand and Till)",
    "log_loss": "log-loss (nats)",
    "brier": "Brier score (0 to 2)",
    "calibration_error": "expected calibration error (ECE)",
    "maximum_calibration_error": "maximum calibration error (MCE)",
}
OF_POSTERIORS = {"log_loss", "brier", "calibration_error", "maximum_calibration_error"}
OF_AREAS = {"auc_one_vs_rest"}
LOWER_IS_BETTER = OF_POSTERIORS
Measures = Callable[[np.ndarray], dict[str, float]]


def decision_measures(confusion: np.ndarray, left_out: np.ndarray | None = None) -> dict[str, float]:
    """What follows from the decisions alone; macro means go over all labels but those that a resample `left_out`."""
    rates = label_rates(confusion)
    over = None if left_out is None else ~left_out
    return {
        "accuracy": accuracy(confusion),
        "balanced_accuracy": balanced_accuracy(confusion),
        "macro_precision": macro(rates, "precision", over),
        "macro_recall": macro(rates, "recall", over),
        "macro_f1": macro(rates, "f", over),
        "micro_f1": micro_f(confusion),
        "weighted_f1": weighted(rates, "f"),
    }


def summary_measures(
    predictions: Predictions, paths: Sequence[Sequence[str]] = (), only: Collection[str] = MEASURES
) -> Measures:
    """A function of multiplicities: every measure but the pairs' AUC when example i counts that often.

    Multiplicities multiply the predictions' own weights. What can be sorted, binned or logged beforehand is; kinds of
    measures that `only` does not name are left out, for those who ask often.
    """
    wanted = set(only)
    parts = [_decisions(predictions, paths)] if wanted - OF_POSTERIORS - OF_AREAS else []
    parts += [_posteriors(predictions)] if wanted & OF_POSTERIORS else []
    parts += [_areas(predictions)] if wanted & OF_AREAS else []

    def measures(multiplicities: np.ndarray) -> dict[str, float]:
        weights = predictions.weights * multiplicities
        return {name: value for part in parts for name, value in part(weights).items()}

    return measures


def _decisions(predictions: Predictions, paths: Sequence[Sequence[str]]) -> Measures:
    membership = ancestry(paths) if paths else None
    n_labels = len(predictions.labels)
    everything = confusion_matrix(predictions.y, predictions.estimated, n_labels, predictions.weights)
    occurs = label_rates(everything).occurs

    def measures(weights: np.ndarray) -> dict[str, float]:
        confusion = confusion_matrix(predictions.y, predictions.estimated, n_labels, weights)
        measures = decision_measures(confusion, left_out=occurs & ~label_rates(confusion).occurs)
        if membership is None:
            return measures
        rates = hierarchical_rates(confusion, membership)
        return measures | {
            f"hierarchical_{name}": getattr(rates, name.rstrip("1")) for name in ("precision", "recall", "f1")
        }

    return measures


def _posteriors(predictions: Predictions) -> Measures:
    losses, squares = log_losses(predictions.P, predictions.y), brier_scores(predictions.P, predictions.y)
    binning = Binning.of(predictions.P[np.arange(len(predictions)), predictions.estimated], predictions.is_right)

    def measures(weights: np.ndarray) -> dict[str, float]:
        total = weights.sum() or np.nan
        reliability = binning.reliability(weights)
        return {
            "log_loss": float(weights @ losses / total),
            "brier": float(weights @ squares / total),
            "calibration_error": reliability.error,
            "maximum_calibration_error": reliability.maximum_error,
        }

    return measures


def _areas(predictions: Predictions) -> Measures:
    rankings = LabelRankings.of(predictions.P, predictions.y)

    def measures(weights: np.ndarray) -> dict[str, float]:
        return {"auc_one_vs_rest": mean_of_defined(rankings.areas(weights))}

    return measures

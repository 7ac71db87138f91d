"""What was found for each dichotomy of a training: plain values for reports and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from audioclass.contracts import Calibrator
from audioclass.numerics import log_loss
from audioclass.parameters import parameter_values
from audioclass.problems import Machine
from audioclass.training.assemble import Training
from audioclass.training.dichotomies import TrainedDichotomy


def machine_report(training: Training, y: np.ndarray) -> list[dict[str, Any]]:
    """For each dichotomy its sides, kernel, C, numbers of examples and support vectors, and calibrated log-loss."""
    classifier = training.classifier
    if classifier.calibrator is None:  # a direct strategy has no dichotomies to tell of
        return []
    return [_report(result, classifier.classes, classifier.calibrator, y) for result in training.trained]


def _report(result: TrainedDichotomy, labels: Sequence[str], calibrator: Calibrator, y: np.ndarray) -> dict[str, Any]:
    sides = [np.isin(y, side) for side in (result.dichotomy.positive, result.dichotomy.negative)]
    rows = sides[0] | sides[1]
    if result.importance is not None:
        rows &= result.importance > 0
    P = calibrator.probabilities(result.held_out[rows], result.calibration)
    return {
        "positive": [labels[k] for k in result.dichotomy.positive],
        "negative": [labels[k] for k in result.dichotomy.negative],
        "kernel": {"name": result.kernel.name, **parameter_values(result.kernel)},
        "C": float(result.C),
        "examples": int(rows.sum()),
        "support_vectors": len(result.machine.support) if isinstance(result.machine, Machine) else 0,
        "log_loss": log_loss(np.stack([1 - P, P], axis=1), sides[0][rows].astype(int)),
    }

"""The mistakes worth listening to first: those that were made with the greatest confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.data import Segment
from audioclass.evaluation.predictions import Predictions

N_MISTAKES = 20


@dataclass(frozen=True)
class Mistake:
    """Where it is, what it should have been, what was predicted instead, and the posteriors of both."""

    file: str
    segment: Segment | None
    reference: str
    estimated: str
    posterior: float
    reference_posterior: float


def worst_mistakes(predictions: Predictions, most: int = N_MISTAKES) -> tuple[Mistake, ...]:
    """Wrong predictions by how much more probable they were held than the reference, the first of equals first."""
    wrong = np.flatnonzero(~predictions.is_right)
    excess = predictions.P[wrong, predictions.estimated[wrong]] - predictions.P[wrong, predictions.y[wrong]]
    return tuple(_mistake(predictions, int(row)) for row in wrong[np.argsort(-excess, kind="stable")][:most])


def _mistake(predictions: Predictions, row: int) -> Mistake:
    reference, estimated = int(predictions.y[row]), int(predictions.estimated[row])
    return Mistake(
        predictions.files[row] if predictions.files else "",
        predictions.segments[row] if predictions.segments else None,
        predictions.labels[reference],
        predictions.labels[estimated],
        float(predictions.P[row, estimated]),
        float(predictions.P[row, reference]),
    )

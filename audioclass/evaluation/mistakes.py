"""The mistakes worth listening to first: those that were made with the greatest confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.data import Segment
from audioclass.evaluation.predictions import Answers

N_MISTAKES = 20


@dataclass(frozen=True)
class Mistake:
    """Where it is, what it should have been, what was said instead, and the posteriors of both."""

    file: str
    segment: Segment | None
    reference: str
    estimated: str
    posterior: float
    reference_posterior: float


def worst_mistakes(answers: Answers, most: int = N_MISTAKES) -> tuple[Mistake, ...]:
    """Wrong answers by how much more probable they were held than the reference, the first of equals first."""
    wrong = np.flatnonzero(~answers.is_right)
    excess = answers.P[wrong, answers.estimated[wrong]] - answers.P[wrong, answers.y[wrong]]
    return tuple(_mistake(answers, int(row)) for row in wrong[np.argsort(-excess, kind="stable")][:most])


def _mistake(answers: Answers, row: int) -> Mistake:
    reference, estimated = int(answers.y[row]), int(answers.estimated[row])
    return Mistake(
        answers.files[row] if answers.files else "",
        answers.segments[row] if answers.segments else None,
        answers.labels[reference],
        answers.labels[estimated],
        float(answers.P[row, estimated]),
        float(answers.P[row, reference]),
    )

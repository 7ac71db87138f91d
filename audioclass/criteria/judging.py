"""Whether a criterion can judge what will be trained: where it cannot, it is refused before any work."""

from __future__ import annotations

from collections.abc import Mapping

from audioclass.contracts import Criterion, DirectStrategy, JudgesLosses, Loss, StatesLoss, Trainer
from audioclass.errors import UsageError

TRAINERS: Mapping[Loss, str] = {  # of the built-in ones, for messages
    "hinge": "svm",
    "squared_hinge": "l2_svm",
    "hard_margin": "hard_margin",
    "squared": "least_squares",
}


def check_judges(criterion: Criterion, learner: Trainer | DirectStrategy) -> None:
    """A UsageError where the criterion is defined for the machines of other losses only."""
    if not isinstance(criterion, JudgesLosses):
        return
    loss = learner.loss if isinstance(learner, StatesLoss) else None
    if loss not in criterion.judges:
        known = " or ".join(name for known, name in TRAINERS.items() if known in criterion.judges)
        raise UsageError(
            f"criterion {criterion.name} judges machines of the trainer {known}, not of {learner.name}; "
            "choose another trainer or criterion"
        )

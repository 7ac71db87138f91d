"""Nearest centre: a score is how much nearer an example lies to the centre of +1 than to that of -1."""

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl
from audioclass.contracts import Trainer, Wants
from audioclass.problems import Machine, Task


@component
class ExampleName:
    """Compares distances to the two weighted centres in kernel space; nothing to solve."""

    name: ClassVar[str] = "example_name"
    wants: ClassVar[Wants] = "gram"

    def fit(self, task: Task) -> Machine:
        centres = [np.where(task.y == side, task.weights, 0.0) for side in (1, -1)]
        positive, negative = (centre / centre.sum() for centre in centres)
        intercept = (negative @ task.K @ negative - positive @ task.K @ positive) / 2
        return Machine(np.arange(len(task.y)), positive - negative, float(intercept))


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [ExampleName]

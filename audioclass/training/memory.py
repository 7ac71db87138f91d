"""What a model remembers of the examples that support its machines, so that it can be added to."""

from __future__ import annotations

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import Memory
from audioclass.training.examples import Examples
from audioclass.training.train import Training


def memory_of(training: Training, examples: Examples) -> Memory | None:
    """The rows of the bank; None where machines have no rows to remember, as those over features."""
    if not training.trained or not isinstance(training.classifier.machines, Bank):
        return None
    rows = np.unique(np.concatenate([result.machine.support for result in training.trained])).astype(int)
    held_out = np.stack([result.held_out[rows] for result in training.trained], axis=1).astype(np.float32)
    return Memory(examples.y[rows], examples.groups[rows], examples.weights[rows], held_out)

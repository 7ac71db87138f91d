"""What a model remembers of the examples that support its machines, so that it can be added to."""

from __future__ import annotations

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import Memory
from audioclass.problems import Machine
from audioclass.training.assemble import Training
from audioclass.training.examples import Examples


def memory_of(training: Training, examples: Examples) -> Memory | None:
    """The rows of the bank; None where machines have no rows to remember, as those over features."""
    rows = support_rows(training)
    if rows is None:
        return None
    windows = examples.windows_of(rows)
    held_out = np.stack([result.held_out[windows] for result in training.trained], axis=1).astype(np.float32)
    return Memory(
        examples.y[windows],
        examples.groups[windows],
        examples.weights[windows],
        held_out,
        None if examples.windows is None else np.unique(windows, return_inverse=True)[1],
    )


def support_rows(training: Training) -> np.ndarray | None:
    """Which of the examples stand in the bank; None where there is no bank that is remembered."""
    if not training.trained or not isinstance(training.classifier.machines, Bank):
        return None
    machines = [result.machine for result in training.trained if isinstance(result.machine, Machine)]
    return np.unique(np.concatenate([machine.support for machine in machines])).astype(int)

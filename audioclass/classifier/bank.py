"""The bank: all machines of a model over one set of support rows, evaluated together with numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.contracts import Kernel
from audioclass.kernels.statistics import gram_between
from audioclass.problems import Machine

ENTRIES_TOGETHER = 2**18  # of the Gram matrix: what stays in the processor's cache between two passes over it


@dataclass(frozen=True, eq=False)
class KernelPart:
    """Machines of one kernel: (n_rows, m) coefficients over rows of the bank, (m,) intercepts, and which machines."""

    kernel: Kernel
    rows: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    machines: np.ndarray


@dataclass(frozen=True, eq=False)
class Bank:
    """Support rows that all machines share; a block of examples costs one statistic and one product for each kernel."""

    X: np.ndarray
    parts: tuple[KernelPart, ...]
    n_machines: int

    @classmethod
    def of(cls, X: np.ndarray, machines: Sequence[Machine], kernels: Sequence[Kernel]) -> Bank:
        """From training rows and machines whose support are indices of them, each with its kernel."""
        used = np.unique(np.concatenate([machine.support for machine in machines] or [np.empty(0, int)])).astype(int)
        place = np.zeros(len(X), int)
        place[used] = np.arange(len(used))
        parts = []
        for kernel in dict.fromkeys(kernels):
            members = [i for i, other in enumerate(kernels) if other == kernel]
            parts.append(_part(kernel, members, [machines[i] for i in members], place, len(used)))
        return cls(np.ascontiguousarray(X[used]), tuple(parts), len(machines))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """(n, n_machines) scores of new rows; in float32 where bank and rows are."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.X.shape[1]:
            raise ValueError(f"X has shape {X.shape}, must have {self.X.shape[1]} features")
        scores = np.zeros((len(X), self.n_machines), np.result_type(X, self.X))
        step = max(64, ENTRIES_TOGETHER // max(len(self.X), 1))
        for first in range(0, len(X), step):
            block = slice(first, first + step)
            for part, rows in zip(self.parts, self._rows, strict=True):
                scores[block, part.machines] = _evaluate(part, X[block], rows)
        return scores

    def astype(self, dtype: np.dtype | type) -> Bank:
        """The same bank in another precision; float32 is twice as fast and within 1e-4."""
        parts = tuple(
            KernelPart(p.kernel, p.rows, p.coefficients.astype(dtype), p.intercepts.astype(dtype), p.machines)
            for p in self.parts
        )
        return Bank(self.X.astype(dtype), parts, self.n_machines)

    @cached_property
    def _rows(self) -> list[np.ndarray]:
        """The support rows of each part; all of them need no copy."""
        return [self.X if len(part.rows) == len(self.X) else self.X[part.rows] for part in self.parts]


def _part(kernel: Kernel, members: Sequence[int], machines: Sequence[Machine], place: np.ndarray, n: int) -> KernelPart:
    coefficients = np.zeros((n, len(machines)))
    for column, machine in enumerate(machines):
        np.add.at(coefficients[:, column], place[machine.support], machine.coefficients)
    rows = np.flatnonzero(coefficients.any(axis=1))
    intercepts = np.array([float(machine.intercept) for machine in machines])
    return KernelPart(kernel, rows, coefficients[rows], intercepts, np.array(members))


def _evaluate(part: KernelPart, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.broadcast_to(part.intercepts, (len(X), len(part.intercepts)))
    scores: np.ndarray = gram_between(part.kernel, X, rows) @ part.coefficients + part.intercepts
    return scores

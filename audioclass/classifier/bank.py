"""The bank: all machines of a model over one set of support rows, evaluated together with numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from audioclass.contracts import HasMinusOne, Kernel
from audioclass.kernels.statistics import gram_between, gram_minus_one, squared_norms
from audioclass.problems import Machine, Members

ENTRIES_TOGETHER = 2**18  # of the Gram matrix: what stays in the processor's cache between two passes over it
ROWS_TOGETHER = 32  # that are rounded while they are in the cache
DOUBLES_TOGETHER = 2**21  # of rows or coefficients, where sums in double precision are of values in single
ROUNDED_FROM = 2**20  # values of the support rows: fewer are small enough as they are
COARSE_FROM = 2**24  # values from which on fewer levels are taken, which a file packs into two thirds of the space
HIGHEST_CODE, HIGHEST_COARSE_CODE = 255, 63


@dataclass(frozen=True, eq=False)
class Levels:
    """Rows rounded to 256 levels of each feature at most: lowest + step · codes, a quarter of single precision.

    Normalised features lie within a few deviations: rounding to 256 levels moves one by a thirtieth of a deviation at
    most. With 64 levels the log-loss of new clips of 40 labels rose by half a thousandth, with 32 by a hundredth, where
    steps were any numbers and rows were rounded after the training. Steps are powers of two, and levels their
    multiples, so that rows which were rounded once stay as they are, also a few of them by themselves: machines are
    trained on rows as they will be kept (`kept_rows`). Rounded after the training, rows along 500 principal axes made a
    model wrong of 13 in a hundred of its own training windows instead of 9: its coefficients are large and cancel, and
    the first axes hold most of a distance.
    """

    codes: np.ndarray
    lowest: np.ndarray
    step: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, highest_code: int = HIGHEST_CODE) -> Levels:
        """The levels nearest to rows of finite values, of codes from 0 on."""
        lowest, highest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        step = _steps(lowest, highest, highest_code)
        varies, codes = step > 0, np.empty(X.shape, np.uint8)
        np.multiply(_multiples(lowest, step), step, out=lowest, where=varies)
        levels = cls(codes, lowest.astype(np.float32), step.astype(np.float32))
        for first in range(0, len(X), ROWS_TOGETHER):
            rows = X[first : first + ROWS_TOGETHER]
            places = np.zeros(rows.shape, np.float32)
            np.divide(rows - levels.lowest, levels.step, out=places, where=varies, casting="same_kind")
            codes[first : first + ROWS_TOGETHER] = np.rint(places, out=places).clip(0, highest_code, out=places)
        return levels

    @property
    def rows(self) -> np.ndarray:
        """The rows in single precision, the same to the bit wherever they are computed."""
        return np.asarray(self.codes * self.step + self.lowest)


def kept_rows(X: np.ndarray) -> np.ndarray:
    """Rows as a bank of all of them would keep them, and one of some of them does."""
    levels = _levels_of(X)
    return X if levels is None else levels.rows.astype(X.dtype)


def _levels_of(X: np.ndarray) -> Levels | None:
    if X.size < ROUNDED_FROM:
        return None
    return Levels.of(X, HIGHEST_CODE if X.size < COARSE_FROM else HIGHEST_COARSE_CODE)


def _steps(lowest: np.ndarray, highest: np.ndarray, highest_code: int) -> np.ndarray:
    """For each feature a power of two of whose multiples so many steps reach from its lowest value to its highest.

    It is 0 where a feature does not vary, or by less than single precision tells.
    """
    mantissa, exponent = np.frexp((highest - lowest) / highest_code)
    step: np.ndarray = np.where(highest > lowest, np.ldexp(1.0, exponent - (mantissa == 0.5)), 0.0)
    is_short = _multiples(highest, step) - _multiples(lowest, step) > highest_code
    return np.where(step < np.finfo(np.float32).tiny, 0.0, np.where(is_short, 2 * step, step))


def _multiples(values: np.ndarray, step: np.ndarray) -> np.ndarray:
    """How many steps of their feature values are, to the nearest; 0 where there is none."""
    return np.asarray(np.rint(np.divide(values, step, out=np.zeros_like(values), where=step > 0)))


@dataclass(frozen=True, eq=False)
class KernelPart:
    """Machines of one kernel: (n_rows, m) coefficients over rows of the bank, (m,) intercepts, and which machines.

    Where there are `members` each column is one of them, and those of a machine stand side by side.
    """

    kernel: Kernel
    rows: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    machines: np.ndarray
    members: Members | None = None

    @cached_property
    def places(self) -> np.ndarray:
        """The machines, each once."""
        return self.machines if self.members is None else np.asarray(self.machines[self.starts])

    @cached_property
    def starts(self) -> np.ndarray:
        """The first column of each machine."""
        return np.concatenate([[0], np.flatnonzero(self.machines[1:] != self.machines[:-1]) + 1])

    @cached_property
    def intercepts_at_one(self) -> np.ndarray:
        """The scores of an example of which the kernel with every row is 1: Σ aᵢkᵢ + b = Σ aᵢ(kᵢ − 1) + (b + Σ aᵢ)."""
        sums = self.intercepts + self.coefficients.sum(axis=0, dtype=np.float64)
        return np.asarray(sums.astype(self.intercepts.dtype))

    def machine(self, place: int) -> Machine:
        """One of the machines, its support as rows of the bank."""
        columns = np.flatnonzero(self.machines == place)
        coefficients, intercepts = (a[..., columns].astype(np.float64) for a in (self.coefficients, self.intercepts))
        if self.members is None:
            return Machine(self.rows, coefficients[:, 0], float(intercepts[0]))
        return Machine(self.rows, coefficients, intercepts, self.members.take(columns).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Bank:
    """Support rows that all machines share; a block of examples costs one statistic and one product for each kernel.

    Where there are `levels`, X are the rows that they stand for.
    """

    X: np.ndarray
    parts: tuple[KernelPart, ...]
    n_machines: int
    levels: Levels | None = None

    @classmethod
    def of(cls, X: np.ndarray, machines: Sequence[Machine], kernels: Sequence[Kernel]) -> Bank:
        """From training rows and machines whose support are indices of them, each with its kernel."""
        used = np.unique(np.concatenate([machine.support for machine in machines] or [np.empty(0, int)])).astype(int)
        place = np.zeros(len(X), int)
        place[used] = np.arange(len(used))
        sorts = [(kernel, each.members and each.members.link) for kernel, each in zip(kernels, machines, strict=True)]
        parts = []
        for sort in dict.fromkeys(sorts):
            which = [i for i, other in enumerate(sorts) if other == sort]
            parts.append(_part(sort[0], which, [machines[i] for i in which], place, len(used)))
        return cls(np.ascontiguousarray(X[used]), tuple(parts), len(machines))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """(n, n_machines) scores of new rows; in float32 where bank and rows are."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.X.shape[1]:
            raise ValueError(f"X has shape {X.shape}, must have {self.X.shape[1]} features")
        scores = np.zeros((len(X), self.n_machines), np.result_type(X, self.X))
        step = max(64, ENTRIES_TOGETHER // max(len(self.X), 1))
        n_members = max((len(part.machines) for part in self.parts if part.members is not None), default=0)
        if n_members:
            step = max(1, min(step, ENTRIES_TOGETHER // n_members))
        for first in range(0, len(X), step):
            block = slice(first, first + step)
            for part, rows, norms in zip(self.parts, self._rows, self._norms, strict=True):
                scores[block, part.places] = _evaluate(part, X[block], rows, norms)
        return scores

    def astype(self, dtype: np.dtype | type) -> Bank:
        """The same bank in another precision; float32 is twice as fast and within 1e-4, votes on the border aside."""
        return Bank(self.X.astype(dtype), tuple(_in_precision(part, dtype) for part in self.parts), self.n_machines)

    def rounded(self) -> Bank:
        """The same bank in single precision, with rows of 256 levels where there are many, of 64 where very many."""
        single, levels = self.astype(np.float32), _levels_of(self.X)
        return single if levels is None else replace(single, X=levels.rows, levels=levels)

    def machine(self, place: int) -> Machine:
        """One of the machines, its support as rows of the bank."""
        return next(part for part in self.parts if place in part.places).machine(place)

    @cached_property
    def _rows(self) -> list[np.ndarray]:
        """The support rows of each part; all of them need no copy."""
        return [self.X if len(part.rows) == len(self.X) else self.X[part.rows] for part in self.parts]

    @cached_property
    def _norms(self) -> list[np.ndarray]:
        """The squared norms of these."""
        return [squared_norms(rows) for rows in self._rows]


def _in_precision(part: KernelPart, dtype: np.dtype | type) -> KernelPart:
    """The same machines; where kernels may be 1 nearly everywhere, intercepts make up for rounded coefficients."""
    coefficients, intercepts = part.coefficients.astype(dtype), part.intercepts
    if isinstance(part.kernel, HasMinusOne):
        intercepts = intercepts + np.sum(part.coefficients - coefficients.astype(np.float64), axis=0)
    return replace(
        part,
        coefficients=coefficients,
        intercepts=intercepts.astype(dtype),
        members=None if part.members is None else part.members.astype(dtype),
    )


def _part(kernel: Kernel, which: Sequence[int], machines: Sequence[Machine], place: np.ndarray, n: int) -> KernelPart:
    members = [machine.members for machine in machines if machine.members is not None]
    widths = [len(each.slopes) for each in members] or [1] * len(machines)
    coefficients = np.zeros((n, sum(widths)))
    for last, width, machine in zip(np.cumsum(widths), widths, machines, strict=True):
        columns = coefficients[:, last - width : last]
        np.add.at(columns, place[machine.support], machine.coefficients.reshape(-1, width))
    rows = np.flatnonzero(coefficients.any(axis=1))
    intercepts = np.concatenate([np.ravel(machine.intercept).astype(np.float64) for machine in machines])
    joined = Members.joined(members) if members else None
    return KernelPart(kernel, rows, coefficients[rows], intercepts, np.repeat(which, widths), joined)


def _evaluate(part: KernelPart, X: np.ndarray, rows: np.ndarray, norms: np.ndarray) -> np.ndarray:
    if part.members is None:
        return _columns(part, X, rows, norms)
    columns = _exact_columns(part, X, rows) if part.members.link == "vote" else _columns(part, X, rows, norms)
    return part.members.combine(columns, part.starts)


def _columns(part: KernelPart, X: np.ndarray, rows: np.ndarray, norms: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.broadcast_to(part.intercepts, (len(X), len(part.intercepts)))
    K_minus_one = gram_minus_one(part.kernel, X, rows, norms)
    if K_minus_one is not None:
        return np.asarray(K_minus_one @ part.coefficients + part.intercepts_at_one)
    return np.asarray(gram_between(part.kernel, X, rows, norms) @ part.coefficients + part.intercepts)


def _exact_columns(part: KernelPart, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """In double precision, some rows at a time: the sign of a score near 0 must not hang on who rounds it."""
    X, columns = X.astype(np.float64), np.tile(part.intercepts.astype(np.float64), (len(X), 1))
    step = max(1, DOUBLES_TOGETHER // max(rows.shape[1], len(part.intercepts), 1))
    for first in range(0, len(rows), step):
        some = slice(first, first + step)
        columns += gram_between(part.kernel, X, rows[some].astype(np.float64)) @ part.coefficients[some]
    return columns

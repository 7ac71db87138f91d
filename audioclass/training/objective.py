"""The objective that searches walk: a criterion for one kernel over dichotomies of the same rows, at a point."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.contracts import Criterion, DirectStrategy, HasGradient, HasGradients, Kernel, Trainer
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.radius import error_factor, squared_distances_to
from audioclass.kernels.gaussian_scaled import window_of
from audioclass.kernels.statistics import diagonal, gram, gram_of_statistic, pairwise, statistic_of
from audioclass.parameters import parameter_values, parameters_of
from audioclass.problems import Axis, Objective, Point
from audioclass.training.config import ErrorFactorRule
from audioclass.training.folds import fold_count, grouped_folds

C_AXIS = "C"
NUDGE = 1e-4  # of a parameter, to see how Joachims' C moves with it


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionTarget:
    """A dichotomy, or all labels at once, on some rows of a sample, and how training will fit and hold it out.

    `rows` are indices into the sample, `y` their sides in ±1 or their labels; the rest is as in a selection problem.
    """

    rows: np.ndarray
    y: np.ndarray
    learner: Trainer | DirectStrategy | None = None
    balanced: bool = False
    hold_out: Callable[[SelectionProblem], np.ndarray] | None = None

    def folds(self, groups: np.ndarray, n_folds: int) -> np.ndarray:
        """The fold of each of its rows, whole groups in each; `groups` are those of the sample."""
        of_rows = groups[self.rows]
        return grouped_folds(self.y, of_rows, max(2, fold_count(self.y, of_rows, n_folds)))


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionSample:
    """Rows of features that a selection looks at with their weights and groups, and one target or more over them."""

    X: np.ndarray
    targets: tuple[SelectionTarget, ...]
    weights: np.ndarray
    groups: np.ndarray
    n_folds: int

    @cached_property
    def folds(self) -> list[np.ndarray]:
        """The folds of each target."""
        return [target.folds(self.groups, self.n_folds) for target in self.targets]


class CriterionObjective:
    """Values and derivatives of a criterion at points of kernel parameters and C, smaller being better.

    What cannot be evaluated is NaN, and `failure` keeps the last reason. Where a point has no C, that is `C`, or
    Joachims' value for each kernel. The statistic `S` of the kernel is computed once, or handed in where several
    samples share it. With `climbs`, derivatives of the kernel go with every selection problem.
    """

    def __init__(
        self,
        sample: SelectionSample,
        kernel: Kernel,
        criterion: Criterion,
        *,
        C: float,
        c_rule: ErrorFactorRule = "fixed",
        S: np.ndarray | None = None,
        climbs: bool = False,
    ) -> None:
        self.sample, self.kernel, self.criterion, self.failure = sample, kernel, criterion, ""
        self.C, self.climbs = C, climbs
        self._c_rule, self._sign = c_rule, 1 if criterion.better == "lower" else -1
        statistic = statistic_of(kernel)
        self._S = pairwise(statistic, sample.X) if S is None and statistic is not None else S
        self._last: tuple[Point, list[SelectionProblem]] | None = None

    def axes(self, only: Sequence[str] | None = None) -> list[Axis]:
        """One for each parameter that may be searched, beginning where the kernel is; `only` some of them."""
        return [
            axis_of(p.name, p.searchable, p.scale, getattr(self.kernel, p.name))
            for p in parameters_of(type(self.kernel))
            if p.searchable and p.type in ("float", "int") and (only is None or p.name in only)
        ]

    @property
    def objective(self) -> Objective:
        """What a search makes small."""
        return Objective(self.value, self.gradient)

    def at(self, point: Point) -> tuple[Kernel, float]:
        """The kernel and C of a point."""
        kernel = _with(self.kernel, {name: value for name, value in point.items() if name != C_AXIS})
        return kernel, point[C_AXIS] if C_AXIS in point else self._c_of(kernel)

    def value(self, point: Point) -> float:
        """The mean over the targets, turned so that smaller is better."""
        return self._attempt(lambda: self._sign * _mean([self.criterion.value(p) for p in self.problems(point)]))

    def gradient(self, point: Point) -> Mapping[str, float]:
        """Its derivatives; where C follows the kernel, along that too."""
        if not isinstance(self.criterion, HasGradient):
            raise ValueError(f"{self.criterion.name} has no derivatives")
        parts = [self.criterion.gradient(problem) for problem in self.problems(point)]
        slopes = {name: self._sign * _mean([part[name] for part in parts]) for name in parts[0]}
        if C_AXIS in point or self._c_rule != "joachims" or C_AXIS not in slopes:
            return slopes
        by_C = slopes.pop(C_AXIS)
        return {name: slope + by_C * self._c_slope(point, name) for name, slope in slopes.items()}

    def shown(self, value: float) -> float:
        """A value as the criterion states it."""
        return self._sign * value

    def problems(self, point: Point) -> list[SelectionProblem]:
        """The selection problem of each target at a point; those of the last point are at hand for its gradient."""
        if self._last is None or self._last[0] != dict(point):
            self._last = dict(point), self._problems_at(point)
        return self._last[1]

    def _problems_at(self, point: Point) -> list[SelectionProblem]:
        kernel, C = self.at(point)
        K, gradients = self._matrices(point, kernel)
        shared: dict[bytes, SelectionProblem] = {}  # the first over the same rows, whose work others share
        problems = []
        for target, folds in zip(self.sample.targets, self.sample.folds, strict=True):
            key = target.rows.tobytes()
            if key not in shared:
                shared[key] = self._first_problem(target, C, kernel, K, gradients)
            methods = {"learner": target.learner, "balanced": target.balanced, "hold_out": target.hold_out}
            problems.append(shared[key].against(target.y, folds, **methods))
        return problems

    def _first_problem(
        self, target: SelectionTarget, C: float, kernel: Kernel, K: np.ndarray, gradients: Mapping[str, np.ndarray]
    ) -> SelectionProblem:
        """That of the first target over its rows."""
        rows = target.rows
        are_all = len(rows) == len(self.sample.X)
        return SelectionProblem(
            K=K if are_all else K[np.ix_(rows, rows)],
            y=target.y,
            C=C,
            gradients=gradients if are_all else {name: G[np.ix_(rows, rows)] for name, G in gradients.items()},
            parameters=_numbers(kernel),
            window=window_of(kernel, self.sample.X.shape[1]),
            weights=self.sample.weights[rows],
            groups=self.sample.groups[rows],
        )

    def _matrices(self, point: Point, kernel: Kernel) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """K, and ∂K/∂θ where the search climbs."""
        if self._S is None:
            return gram(kernel, self.sample.X), {}
        K = gram_of_statistic(kernel, self._S)
        return K, kernel.gradients(self._S, K) if self.climbs and isinstance(kernel, HasGradients) else {}

    def _attempt(self, work: Callable[[], float]) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # a machine that did not converge says nothing
                value = float(work())
        except (ValueError, ArithmeticError, RuntimeWarning) as error:
            self.failure = str(error)
            return math.nan
        return value if math.isfinite(value) else math.nan

    def _c_of(self, kernel: Kernel) -> float:
        return joachims_error_factor(kernel, self.sample.X) if self._c_rule == "joachims" else self.C

    def _c_slope(self, point: Point, name: str) -> float:
        """∂C/∂θ of Joachims' C, by a central difference."""
        step = NUDGE * max(abs(point[name]), NUDGE)
        up, down = (self.at({**point, name: point[name] + move})[1] for move in (step, -step))
        return (up - down) / (2 * step)


def joachims_error_factor(kernel: Kernel, X: np.ndarray) -> float:
    """Joachims' C (13.1, 13.2): 1/(mean ‖Φ(x) − Φ(0)‖)², 0 being the null vector of features.

    A ValueError where all examples are there.
    """
    origin = np.zeros((1, X.shape[1]))
    to_origin = gram(kernel, X, origin)[:, 0]
    return error_factor(squared_distances_to(diagonal(kernel, X), to_origin, float(gram(kernel, origin)[0, 0])))


def axis_of(name: str, interval: Sequence[float], scale: str, start: float) -> Axis:
    """An axis that begins at `start` where that lies inside."""
    low, high = interval
    return Axis(name, low, high, scale, start if low <= start <= high else None)


def _with(kernel: Kernel, changes: Mapping[str, float]) -> Kernel:
    """The kernel with other parameters; whole numbers are rounded."""
    whole = {p.name for p in parameters_of(type(kernel)) if p.type == "int"}
    rounded = {name: round(value) if name in whole else value for name, value in changes.items()}
    return type(kernel)(**{**parameter_values(kernel), **rounded})


def _numbers(kernel: Kernel) -> dict[str, float]:
    values = parameter_values(kernel)
    return {name: float(value) for name, value in values.items() if isinstance(value, (int, float))}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))

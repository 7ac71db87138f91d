"""A walk through a space in fractions of its axes, 0 to 1: every point is evaluated once, and the trace is kept."""

from __future__ import annotations

import math

import numpy as np

from audioclass.problems import Axis, Found, Objective, Point, Space, Trial

ATTEMPTS = 20  # random points to find one that can be evaluated, for each start


class Walk:
    """Evaluates points of a space and remembers them; a point that cannot be evaluated counts as infinitely bad."""

    def __init__(self, space: Space, objective: Objective, needs_gradient: bool = False) -> None:
        if not space:
            raise ValueError("the space has no axis, at least one is needed to search")
        if needs_gradient and objective.gradient is None:
            raise ValueError("the search needs derivatives, the objective has none")
        self.space, self._objective = space, objective
        self._values: dict[tuple[float, ...], float] = {}
        self._slopes: dict[tuple[float, ...], np.ndarray] = {}
        self._trace: list[Trial] = []

    def point(self, at: np.ndarray) -> Point:
        """The values of the axes at these fractions."""
        return {axis.name: axis.at(float(fraction)) for axis, fraction in zip(self.space, at, strict=True)}

    def value(self, at: np.ndarray) -> float:
        """The objective there, infinity for NaN."""
        key = tuple(np.asarray(at, float).tolist())
        if key not in self._values:
            point = self.point(at)
            value = float(self._objective.value(point))
            self._trace.append(Trial(point, value))
            self._values[key] = math.inf if math.isnan(value) else value
        return self._values[key]

    def gradient(self, at: np.ndarray) -> np.ndarray:
        """Its derivative by the fractions, kept as well; 0 along an axis that the objective says nothing of."""
        key = tuple(np.asarray(at, float).tolist())
        if key not in self._slopes:
            self._slopes[key] = self._slope(self.point(at))
        return self._slopes[key]

    def _slope(self, point: Point) -> np.ndarray:
        slopes = self._objective.gradient(point) if self._objective.gradient else {}
        gradient = [slopes.get(axis.name, 0.0) * _stretch(axis, point[axis.name]) for axis in self.space]
        return np.asarray(np.nan_to_num(np.array(gradient), nan=0.0, posinf=0.0, neginf=0.0))

    def starts(self, count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Where the axes begin and random points, `count` together, that can be evaluated; fewer where few can."""
        points: list[np.ndarray] = []
        first = np.array([0.5 if axis.start is None else axis.fraction(axis.start) for axis in self.space])
        for at in [first, *rng.random((ATTEMPTS * count, len(self.space)))]:
            if len(points) < count and math.isfinite(self.value(at)):
                points.append(at)
        return points

    def found(self, converged: bool = True) -> Found:
        """The best of the trace, the first of equals."""
        evaluated = [trial for trial in self._trace if not math.isnan(trial.value)]
        if not evaluated:
            raise ValueError("no point of the space can be evaluated: every value is NaN")
        best = min(evaluated, key=lambda trial: trial.value)
        return Found(best.point, best.value, tuple(self._trace), converged)


def _stretch(axis: Axis, value: float) -> float:
    """The derivative of the axis's value by the fraction."""
    return value * math.log(axis.high / axis.low) if axis.scale == "log" else axis.high - axis.low

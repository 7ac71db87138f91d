"""A search that ends at an end of its range goes on beyond it, whichever search it is, or says where it had to stop.

The axis is moved by half its length, so that its end becomes its middle, and the search begins anew from what it found;
what was evaluated before is not evaluated again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from audioclass.contracts import Search
from audioclass.parameters import Parameter
from audioclass.problems import Axis, Found, Objective, Point, Trial

MOST_MOVES = 3  # of the ranges, half their length each
CLOSE = 0.02  # of an axis: a search that never tries the very end ends this near to it
WORTH = 1e-3  # relative gain for which it is worth going on: sigma and C can grow together and change nothing
DIGITS = 10  # by which points are the same


@dataclass(frozen=True)
class Limits:
    """How far the range of a parameter may be moved, and whether a user stated it; an open end is never reached."""

    low: float = -math.inf
    high: float = math.inf
    is_open_below: bool = False
    is_open_above: bool = False
    is_stated: bool = False

    @classmethod
    def of(cls, parameter: Parameter) -> Limits:
        """What the parameter allows."""
        low = parameter.above if parameter.low is None else parameter.low
        high = parameter.below if parameter.high is None else parameter.high
        return cls(
            -math.inf if low is None else low,
            math.inf if high is None else high,
            is_open_below=parameter.low is None and parameter.above is not None,
            is_open_above=parameter.high is None and parameter.below is not None,
        )

    @classmethod
    def stated(cls, axis: Axis) -> Limits:
        """Those of a range that somebody stated."""
        return cls(axis.low, axis.high, is_stated=True)

    def moved(self, axis: Axis, upwards: bool) -> Axis:
        """The axis moved by half its length as far as that is allowed; itself where it is not at all."""
        if axis.scale == "log":
            factor = math.sqrt(axis.high / axis.low)
            low, high = (axis.low * factor, axis.high * factor) if upwards else (axis.low / factor, axis.high / factor)
        else:
            step = (axis.high - axis.low) / 2 if upwards else (axis.low - axis.high) / 2
            low, high = axis.low + step, axis.high + step
        if upwards and high >= self.high:
            high = (axis.high + self.high) / 2 if self.is_open_above else self.high
            low = axis.low
        if not upwards and low <= self.low:
            low = (axis.low + self.low) / 2 if self.is_open_below else self.low
            high = axis.high
        is_sound = math.isfinite(high) and low < high and (axis.scale != "log" or low > 0)
        return replace(axis, low=low, high=high, start=None) if is_sound else axis


class _Remembered:
    """An objective whose points are evaluated once, however often and by whom they are looked at."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._values: dict[tuple[tuple[str, float], ...], float] = {}
        self.trace: list[Trial] = []

    @property
    def objective(self) -> Objective:
        """The same with a memory."""
        return Objective(self.value, self._objective.gradient)

    def value(self, point: Point) -> float:
        """As it was the first time."""
        key = tuple(sorted((name, float(f"{value:.{DIGITS}g}")) for name, value in point.items()))
        if key not in self._values:
            self._values[key] = float(self._objective.value(point))
            self.trace.append(Trial(point, self._values[key]))
        return self._values[key]


def search_widening(
    search: Search, axes: Sequence[Axis], objective: Objective, limits: Mapping[str, Limits], *, seed: int
) -> tuple[Found, str]:
    """The best point of a search, and a note where a better one may lie beyond an end of a range.

    Ranges at whose end it was found are moved as far as their `limits` allow, at most three times and while that gains
    something; each search starts from the `seed`. A range that is all that a parameter allows needs no note.
    """
    remembered = _Remembered(objective)
    best = search.search(axes, remembered.objective, np.random.default_rng(seed))
    gains = True
    for _ in range(MOST_MOVES):
        moved = [_moved(axis, best.point[axis.name], limits[axis.name]) for axis in axes]
        if all((new.low, new.high) == (old.low, old.high) for new, old in zip(moved, axes, strict=True)):
            break
        further = search.search(moved, remembered.objective, np.random.default_rng(seed))
        gains = best.value - further.value > WORTH * abs(best.value)
        if not gains:
            break
        best, axes = further, moved
    notes = [_note(axis, best.point[axis.name], limits[axis.name], gains) for axis in axes]
    return replace(best, trace=tuple(remembered.trace)), "; ".join(filter(None, notes))


def reaching(axis: Axis, value: float) -> Axis:
    """The axis from `value` on, stretched where that lies outside."""
    return replace(axis, low=min(axis.low, value), high=max(axis.high, value), start=value)


def _moved(axis: Axis, value: float, limits: Limits) -> Axis:
    """The axis that a search goes on along from a value."""
    end = _end(axis, value)
    beyond = limits.moved(axis, upwards=end == "upper") if end else axis
    return replace(beyond, start=min(max(value, beyond.low), beyond.high))


def _end(axis: Axis, value: float) -> Literal["lower", "upper"] | None:
    """The end of the axis that a value is at."""
    fraction = axis.fraction(value)
    if fraction <= CLOSE:
        return "lower"
    return "upper" if fraction >= 1 - CLOSE else None


def _note(axis: Axis, value: float, limits: Limits, gains: bool) -> str:
    """What a user should know of where a search ended on an axis; empty where nothing is amiss."""
    end = _end(axis, value)
    if end is None:
        return ""
    if limits.is_stated:
        return f"{axis.name}={value:.3g} is at the {end} end of its range, a better one may lie beyond"
    is_all = axis.high >= limits.high if end == "upper" else axis.low <= limits.low
    if is_all or not gains:
        return ""
    return f"{axis.name}={value:.3g} is at the {end} end of its range though that was widened"

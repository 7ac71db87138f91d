"""The contract of a search (specification 10)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audioclass.problems import Axis, Found, Objective, Point
from audioclass.testing.checks import COMMON, Check, require, require_refusal

SPACE = (Axis("sigma", 0.1, 20.0, "log"), Axis("offset", -2.0, 3.0))


def _bowl(point: Point) -> float:
    """Smallest, and 0, at sigma 2 and offset 1."""
    return math.log(point["sigma"] / 2) ** 2 + (point["offset"] - 1) ** 2


def _slope(point: Point) -> dict[str, float]:
    return {"sigma": 2 * math.log(point["sigma"] / 2) / point["sigma"], "offset": 2 * (point["offset"] - 1)}


def _search(search: Any, value: Any = _bowl, space: Any = SPACE) -> Found:
    result: Found = search.search(space, Objective(value, _slope), np.random.default_rng(0))
    return result


def finds_a_good_point(search: Any) -> None:
    """On a bowl it ends lower than most of the space."""
    rng = np.random.default_rng(1)
    others = [_bowl({axis.name: axis.at(rng.random()) for axis in SPACE}) for _ in range(1000)]
    result = _search(search)
    require(result.value <= np.quantile(others, 0.1), f"{result.value:.3g}, a tenth of the space is below that")


def keeps_the_whole_trace(search: Any) -> None:
    """What it found is the best of its trace, each value of which is the objective's."""
    result = _search(search)
    require(result.trace, "the trace is empty")
    best = min(result.trace, key=lambda trial: trial.value)
    require(
        result.value == best.value and dict(result.point) == dict(best.point), f"{best} is better than what was found"
    )
    wrong = [trial for trial in result.trace if trial.value != _bowl(trial.point)]
    require(not wrong, f"{len(wrong)} values in the trace are not those of the objective")


def stays_inside(search: Any) -> None:
    """Every point lies in the space and names each axis."""
    for trial in _search(search).trace:
        require(set(trial.point) == {axis.name for axis in SPACE}, f"point {dict(trial.point)}")
        inside = all(axis.low <= trial.point[axis.name] <= axis.high for axis in SPACE)
        require(inside, f"point {dict(trial.point)} is outside")


def one_axis_is_enough(search: Any) -> None:
    """It works on a single axis."""
    objective = Objective(lambda point: (point["offset"] - 1) ** 2, lambda point: {"offset": 2 * (point["offset"] - 1)})
    result = search.search(SPACE[1:], objective, np.random.default_rng(0))
    require(abs(result.point["offset"] - 1) < 1, f"offset {result.point['offset']}, the best is 1")


def skips_what_cannot_be_judged(search: Any) -> None:
    """Points of value NaN are skipped; where all are NaN it is a ValueError."""
    result = _search(search, lambda point: math.nan if point["offset"] > 1.5 else _bowl(point))
    require(math.isfinite(result.value), "found a point of value NaN")
    require_refusal(lambda: _search(search, lambda _: math.nan), "all values NaN")


def same_seed_same_trace(search: Any) -> None:
    """The same seed walks the same way."""
    require(_search(search) == _search(search), "the trace differs the second time")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    finds_a_good_point,
    keeps_the_whole_trace,
    stays_inside,
    one_axis_is_enough,
    skips_what_cannot_be_judged,
    same_seed_same_trace,
)

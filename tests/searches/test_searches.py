"""What each search promises beyond the contract, on bowls whose lowest point is known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.problems import Axis, Objective
from audioclass.searches.gradient import Gradient
from audioclass.searches.grid import Grid
from audioclass.searches.lbfgs import LBFGS
from audioclass.searches.pattern import Pattern
from audioclass.searches.walk import Walk

CLIMBERS = (Gradient(), LBFGS())
WALKERS = (*CLIMBERS, Pattern())


def rng():
    return np.random.default_rng(0)


def bowl(sigma=2.0, C=30.0):
    def value(point):
        return math.log(point["sigma"] / sigma) ** 2 + 0.5 * math.log(point["C"] / C) ** 2

    def slope(point):
        return {
            "sigma": 2 * math.log(point["sigma"] / sigma) / point["sigma"],
            "C": math.log(point["C"] / C) / point["C"],
        }

    return Objective(value, slope)


SPACE = (Axis("sigma", 0.1, 20.0, "log"), Axis("C", 0.1, 1000.0, "log"))


def test_the_log_grid_is_that_of_the_thesis():
    found = Grid(25).search(SPACE[:1], Objective(lambda point: point["sigma"]), rng())
    values = [trial.point["sigma"] for trial in found.trace]
    assert np.round(values[10:14], 3).tolist() == [0.909, 1.134, 1.414, 1.764]
    assert (values[0], values[-1]) == (0.1, 20.0)


def test_a_linear_grid_has_equal_steps_and_ties_go_to_the_first():
    found = Grid(5).search((Axis("a", 0.0, 4.0), Axis("b", 0.0, 1.0)), Objective(lambda point: 0.0), rng())
    assert [trial.point["a"] for trial in found.trace][::5] == [0, 1, 2, 3, 4]
    assert dict(found.point) == {"a": 0.0, "b": 0.0}
    assert len(found.trace) == 25


@settings(max_examples=15)
@given(st.floats(0.2, 15), st.floats(0.3, 800))
def test_climbers_reach_the_lowest_point_from_either_side(sigma, C):
    for search in CLIMBERS:
        found = search.search(SPACE, bowl(sigma, C), rng())
        assert found.value < 1e-3, search.name
        assert found.converged


@pytest.mark.parametrize("search", WALKERS, ids=lambda search: search.name)
def test_a_lowest_point_outside_ends_at_the_border(search):
    found = search.search(SPACE, bowl(sigma=100.0), rng())
    assert found.point["sigma"] == pytest.approx(20.0)


def test_steps_of_the_gradient_never_rise():
    values = []

    class Recorded(Walk):
        def gradient(self, at):
            values.append(self.value(at))
            return super().gradient(at)

    walk = Recorded(SPACE, bowl(), needs_gradient=True)
    assert Gradient()._descend(walk, np.array([0.9, 0.1]))
    first_looks = list(dict.fromkeys(values))
    assert len(first_looks) > 2
    assert first_looks == sorted(first_looks, reverse=True)


def test_running_out_of_steps_is_reported():
    assert not Gradient(steps=1).search(SPACE, bowl(15.0), rng()).converged
    assert not LBFGS(steps=1).search(SPACE, bowl(15.0), rng()).converged


def test_pattern_ends_where_no_neighbour_is_better_and_judges_nothing_twice():
    objective = bowl()
    found = Pattern(tolerance=0.01).search(SPACE, objective, rng())
    points = [tuple(trial.point.values()) for trial in found.trace]
    assert len(points) == len(set(points))
    at = np.array([axis.fraction(found.point[axis.name]) for axis in SPACE])
    last = 0.25 / 16  # half of it is below the tolerance
    for move in last * np.vstack([np.eye(2), -np.eye(2)]):
        other = {axis.name: axis.at(f) for axis, f in zip(SPACE, np.clip(at + move, 0, 1), strict=True)}
        assert objective.value(other) >= found.value


def test_several_starts_find_the_deeper_valley():
    def value(point):
        return min((point["x"] - 0.2) ** 2, (point["x"] - 0.9) ** 2 - 0.1)

    def slope(point):
        x = point["x"]
        return {"x": 2 * (x - 0.2) if (x - 0.2) ** 2 < (x - 0.9) ** 2 - 0.1 else 2 * (x - 0.9)}

    space = (Axis("x", 0.0, 1.0, start=0.1),)
    for search in (Gradient(starts=8), LBFGS(starts=8), Pattern(starts=8, step=0.01, tolerance=0.005)):
        assert search.search(space, Objective(value, slope), rng()).point["x"] == pytest.approx(0.9, abs=0.02)
    assert Gradient().search(space, Objective(value, slope), rng()).point["x"] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("search", WALKERS, ids=lambda search: search.name)
def test_a_walk_begins_where_the_axes_do(search):
    space = (Axis("sigma", 0.1, 20.0, "log", start=0.5), Axis("C", 0.1, 1000.0, "log"))
    first = search.search(space, bowl(), rng()).trace[0].point
    assert first == {"sigma": pytest.approx(0.5), "C": pytest.approx(10.0)}


@pytest.mark.parametrize("search", CLIMBERS, ids=lambda search: search.name)
def test_an_axis_without_derivative_stays(search):
    objective = Objective(bowl().value, lambda point: {"sigma": bowl().gradient(point)["sigma"]})
    assert search.search(SPACE, objective, rng()).point["C"] == pytest.approx(10.0)


@pytest.mark.parametrize("search", CLIMBERS, ids=lambda search: search.name)
def test_a_climber_without_derivatives_is_refused(search):
    with pytest.raises(ValueError, match="needs derivatives, the objective has none"):
        search.search(SPACE, Objective(bowl().value), rng())


def test_an_empty_space_is_refused():
    with pytest.raises(ValueError, match="the space has no axis"):
        Grid().search((), bowl(), rng())


def test_nothing_that_can_be_judged_is_an_error():
    with pytest.raises(ValueError, match="every value is NaN"):
        Pattern().search(SPACE, Objective(lambda point: math.nan), rng())


def test_a_start_outside_its_axis_is_refused():
    with pytest.raises(ValueError, match="start 30.0 must lie from 0.1 to 20.0"):
        Axis("sigma", 0.1, 20.0, "log", start=30.0)

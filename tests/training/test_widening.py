"""Searches whose best point lies outside the range they were given."""

import math

import numpy as np
import pytest
from trainings import make_config

from audioclass.parameters import Parameter
from audioclass.problems import Axis, Objective
from audioclass.searches.gradient import Gradient
from audioclass.searches.grid import Grid
from audioclass.searches.lbfgs import LBFGS
from audioclass.searches.pattern import Pattern
from audioclass.searches.walk import Walk
from audioclass.training.widening import Limits, reaching, search_widening

AXES = (Axis("sigma", 0.1, 100.0, "log"), Axis("C", 0.1, 1000.0, "log", start=10.0))
FREE = {"sigma": Limits(low=0.0), "C": Limits(low=0.0)}


class Draws:
    """A search of a third party that never tries the very end of an axis."""

    name = "draws"
    needs_gradient = False

    def search(self, space, objective, rng):
        walk = Walk(space, objective)
        for at in rng.beta(0.3, 0.3, (300, len(space))):
            walk.value(at)
        return walk.found()


def bowl(sigma=2.0, C=30.0):
    def value(point):
        return 1 + math.log(point["sigma"] / sigma) ** 2 + math.log(point["C"] / C) ** 2

    def slope(point):
        return {name: 2 * math.log(point[name] / best) / point[name] for name, best in (("sigma", sigma), ("C", C))}

    return Objective(value, slope)


def counted(objective):
    """The objective, and the points that it was asked for."""
    asked = []

    def value(point):
        asked.append(tuple(float(f"{point[name]:.9g}") for name in sorted(point)))
        return objective.value(point)

    return Objective(value, objective.gradient), asked


@pytest.mark.parametrize("search", [Grid(9), Pattern(), Gradient(), LBFGS(), Draws()], ids=lambda search: search.name)
@pytest.mark.parametrize("C", [3e4, 2e6, 1e-3], ids=["above", "far above", "below"])
def test_every_search_reaches_what_lies_outside(search, C):
    found, note = search_widening(search, AXES, bowl(C=C), FREE, seed=0)
    assert abs(math.log10(found.point["C"] / C)) < 0.7
    assert note == ""


@pytest.mark.parametrize("search", [Grid(9), Pattern(), LBFGS()], ids=lambda search: search.name)
def test_nothing_is_evaluated_twice(search):
    objective, asked = counted(bowl(C=2e6))
    found, _ = search_widening(search, AXES, objective, FREE, seed=0)
    assert len(asked) == len(set(asked)) == len(found.trace)
    assert found.value == min(trial.value for trial in found.trace)


def test_a_search_that_ends_inside_is_not_changed():
    found, note = search_widening(Pattern(), AXES, bowl(), FREE, seed=0)
    assert found == Pattern().search(AXES, bowl(), np.random.default_rng(0))
    assert note == ""


def test_a_stated_range_is_kept_and_its_end_noted():
    limits = FREE | {"C": Limits.stated(AXES[1])}
    found, note = search_widening(Pattern(), AXES, bowl(sigma=1e3, C=3e4), limits, seed=0)
    assert found.point["C"] == 1000
    assert found.point["sigma"] == pytest.approx(1e3, rel=0.5)
    assert note == "C=1e+03 is at the upper end of its range, a better one may lie beyond"


def test_the_end_of_a_range_that_was_widened_enough_is_noted():
    found, note = search_widening(Pattern(), AXES, bowl(C=1e-30), FREE, seed=0)
    assert found.point["C"] == pytest.approx(1e-7)
    assert note == "C=1e-07 is at the lower end of its range though that was widened"


def test_a_range_whose_end_is_as_good_as_what_lies_beyond_is_not_noted():
    flat = Objective(lambda point: 1 + 1 / point["C"])
    found, note = search_widening(Pattern(), AXES, flat, FREE, seed=0)
    assert (found.point["C"], note) == (1000, "")


def test_a_parameter_stays_within_its_limits_without_a_note():
    axes = (Axis("degree", 1, 5), Axis("epsilon", 0.0, 0.8))
    stated = (Parameter("degree", "int", low=1, high=7), Parameter("epsilon", "float", low=0.0, below=1.0))
    limits = {parameter.name: Limits.of(parameter) for parameter in stated}
    found, note = search_widening(Grid(5), axes, Objective(lambda p: 9 - p["degree"] - p["epsilon"]), limits, seed=0)
    assert found.point["degree"] == 7
    assert 0.9 <= found.point["epsilon"] < 1
    assert note == "epsilon=0.975 is at the upper end of its range though that was widened"
    found, note = search_widening(Grid(5), axes[:1], Objective(lambda point: point["degree"]), limits, seed=0)
    assert (found.point["degree"], note) == (1, "")


def test_axes_reach_values_outside():
    assert reaching(AXES[1], 5e4) == Axis("C", 0.1, 5e4, "log", 5e4)
    assert reaching(AXES[1], 1.0) == Axis("C", 0.1, 1000.0, "log", 1.0)


def test_a_range_of_C_that_is_not_the_default_is_stated():
    assert not make_config().states_c_range
    assert make_config(c_range=(1, 10)).states_c_range
    assert make_config(chosen=frozenset({"c_range"})).states_c_range

"""Grid: every combination of evenly spaced values, in logarithm on a log scale (specification 10.1)."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np

from audioclass.contracts import Search
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Found, Objective, Space
from audioclass.searches.walk import Walk


@component
class Grid:
    """Every combination of so many values of each axis; of equals the first in the order of the axes."""

    name: ClassVar[str] = "grid"
    needs_gradient: ClassVar[bool] = False
    points: int = parameter(7, low=2, high=1000, help="values of each axis, both ends included")

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """points^n_axes values."""
        walk = Walk(space, objective)
        for at in itertools.product(np.linspace(0, 1, self.points), repeat=len(space)):
            walk.value(np.array(at))
        return walk.found()


@hookimpl
def register_searches() -> list[type[Search]]:
    """The grid."""
    return [Grid]

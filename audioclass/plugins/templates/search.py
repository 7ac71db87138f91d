"""Random search: points drawn evenly over the space, each axis on its own scale."""

import math
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Search
from audioclass.problems import Found, Objective, Space, Trial


@component
class ExampleName:
    """The best of so many points drawn at random."""

    name: ClassVar[str] = "example_name"
    needs_gradient: ClassVar[bool] = False
    points: int = parameter(60, low=1, high=100000, help="how many points are tried")

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        points = [{axis.name: axis.at(rng.random()) for axis in space} for _ in range(self.points)]
        trace = tuple(Trial(point, objective.value(point)) for point in points)
        defined = [trial for trial in trace if not math.isnan(trial.value)]
        if not defined:
            raise ValueError("every value of the objective is NaN")
        best = min(defined, key=lambda trial: trial.value)
        return Found(best.point, best.value, trace)


@hookimpl
def register_searches() -> list[type[Search]]:
    return [ExampleName]

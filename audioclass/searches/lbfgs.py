"""L-BFGS within the bounds of the space: steps that learn the curvature as they go, for any number of parameters."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from audioclass.contracts import Search
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Found, Objective, Space
from audioclass.searches.walk import Walk


@component
class LBFGS:
    """Needs the fewest values where the objective is smooth; ends in the nearest valley of each start."""

    name: ClassVar[str] = "lbfgs"
    needs_gradient: ClassVar[bool] = True
    starts: int = parameter(1, low=1, high=1000, help="where the axes begin, then random points")
    steps: int = parameter(30, low=1, high=10000, help="most steps from each start")
    tolerance: float = parameter(1e-5, above=0.0, scale="log", help="relative gain of a step that is enough")

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """The best valley; `converged` is false where a start ran out of steps."""
        walk = Walk(space, objective, needs_gradient=True)
        ended = [self._descend(walk, at) for at in walk.starts(self.starts, rng)]
        return walk.found(converged=all(ended))

    def _descend(self, walk: Walk, start: np.ndarray) -> bool:
        from scipy.optimize import minimize

        worst = walk.value(start)

        def evaluated(at: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal worst
            value = walk.value(at)
            if not math.isfinite(value):
                return worst + abs(worst) + 1, start - at  # a wall that leads back
            worst = max(worst, value)
            return value, walk.gradient(at)

        result = minimize(
            evaluated,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(start),
            options={"maxiter": self.steps, "ftol": self.tolerance, "gtol": 1e-6},
        )
        return bool(result.nit < self.steps)


@hookimpl
def register_searches() -> list[type[Search]]:
    """L-BFGS."""
    return [LBFGS]

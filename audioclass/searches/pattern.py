"""Pattern search (Momma and Bennett): to the best neighbour along the axes, else closer ones (specification 10.3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Search
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Found, Objective, Space
from audioclass.searches.walk import Walk


@component
class Pattern:
    """Looks a step away both ways along each axis and moves only to what is better, else halves the step."""

    name: ClassVar[str] = "pattern"
    needs_gradient: ClassVar[bool] = False
    starts: int = parameter(1, low=1, high=1000, help="where the axes begin, then random points")
    step: float = parameter(0.25, above=0.0, high=1.0, scale="log", help="first step, as a part of each axis")
    tolerance: float = parameter(0.03, above=0.0, high=1.0, scale="log", help="step at which it ends")

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """2 n_axes values a round; none is evaluated twice."""
        walk = Walk(space, objective)
        for at in walk.starts(self.starts, rng):
            self._descend(walk, at)
        return walk.found()

    def _descend(self, walk: Walk, at: np.ndarray) -> None:
        step = self.step
        while step >= self.tolerance:
            best = min(_neighbours(at, step), key=walk.value)
            if walk.value(best) < walk.value(at):
                at = best
            else:
                step /= 2


def _neighbours(at: np.ndarray, step: float) -> list[np.ndarray]:
    moves = step * np.vstack([np.eye(len(at)), -np.eye(len(at))])
    return list(np.clip(at + moves, 0, 1))


@hookimpl
def register_searches() -> list[type[Search]]:
    """Pattern search."""
    return [Pattern]

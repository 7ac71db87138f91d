"""Gradient descent with backtracking, in logarithm on a log scale (specification 10.2)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Search
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.problems import Found, Objective, Space
from audioclass.searches.walk import Walk

ARMIJO = 1e-4  # part of the gain that the slope promises, which a step must bring
FIRST_MOVE = 0.1  # of the longest axis
LONGEST_MOVE = 0.5
SHORTEST_MOVE = 1e-6


@component
class Gradient:
    """Follows the slope, halving each step until it gains enough; ends in the nearest valley of each start."""

    name: ClassVar[str] = "gradient"
    needs_gradient: ClassVar[bool] = True
    starts: int = parameter(1, low=1, high=1000, help="where the axes begin, then random points")
    steps: int = parameter(50, low=1, high=10000, help="most steps from each start")
    tolerance: float = parameter(
        1e-4, above=0.0, scale="log", help="slope at which it ends; so does a gain of a hundredth of it"
    )

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """The best valley; `converged` is false where a start ran out of steps."""
        walk = Walk(space, objective, needs_gradient=True)
        ended = [self._descend(walk, at) for at in walk.starts(self.starts, rng)]
        return walk.found(converged=all(ended))

    def _descend(self, walk: Walk, at: np.ndarray) -> bool:
        """Whether the descent ended before its steps did."""
        slope = _inward(walk.gradient(at), at)
        size = FIRST_MOVE / max(float(np.abs(slope).max()), SHORTEST_MOVE)
        for _ in range(self.steps):
            if np.abs(slope).max() <= self.tolerance:
                return True
            new = _step(walk, at, slope, size)
            if new is None or walk.value(at) - walk.value(new) <= 1e-2 * self.tolerance * max(abs(walk.value(at)), 1):
                return True
            moved, bent = new - at, walk.gradient(new) - walk.gradient(at)
            size = _next_size(moved, bent, slope)
            at, slope = new, _inward(walk.gradient(new), new)
        return False


def _step(walk: Walk, at: np.ndarray, slope: np.ndarray, size: float) -> np.ndarray | None:
    """The first point that gains enough; None where even the shortest step does not."""
    while size * np.abs(slope).max() > SHORTEST_MOVE:
        new = np.clip(at - size * slope, 0, 1)
        if walk.value(new) <= walk.value(at) - ARMIJO * float(slope @ (at - new)):
            return new
        size /= 2
    return None


def _next_size(moved: np.ndarray, bent: np.ndarray, slope: np.ndarray) -> float:
    """The step that the curvature along the last one asks for (Barzilai and Borwein), at most half an axis."""
    longest = LONGEST_MOVE / max(float(np.abs(slope).max()), SHORTEST_MOVE)
    curvature = float(moved @ bent)
    return min(float(moved @ moved) / curvature, longest) if curvature > 0 else longest


def _inward(slope: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The slope without what points out of the space."""
    return np.where(((at <= 0) & (slope > 0)) | ((at >= 1) & (slope < 0)), 0.0, slope)


@hookimpl
def register_searches() -> list[type[Search]]:
    """Gradient descent."""
    return [Gradient]

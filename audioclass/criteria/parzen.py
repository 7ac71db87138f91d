"""Parzen separability: densities of an example's own side less those of the other (specification 12.4, 12.7).

With K the Gram matrix of a Gaussian exp(−‖x−y‖²/(2σ²)), K/(√(2π) σ)^d are Parzen windows; P = ⟨K,T̂⟩/(√(2π) σ)^d with
T̂ = ŷŷ' and ŷ_i = y_i/n_side. It grows without limit as σ → 0, because each example is its own
neighbour: leave it out to choose σ.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.adjusted import added_diagonal
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


class _ParzenSeparability:
    """P and its derivatives; by sigma the window moves too."""

    name: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    is_adjusted: ClassVar[bool] = False
    needs_window: ClassVar[bool] = True
    dimension: int
    leave_one_out: bool

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """On C where it is adjusted: only the diagonal, which leaving each example out drops, has a part of C."""
        return frozenset({"C"}) if self.is_adjusted and not self.leave_one_out else frozenset()

    def value(self, problem: SelectionProblem) -> float:
        """The mean over sides of own less other density, times two."""
        return self._product(problem.K, added_diagonal(problem, self.is_adjusted), problem.y) / self._window(problem)

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter; by C where it is adjusted."""
        nothing = np.zeros(len(problem.y))
        window = self._window(problem)
        moves = {name: self._product(G, nothing, problem.y) / window for name, G in problem.gradients.items()}
        if "sigma" in moves:
            moves["sigma"] -= self.dimension * self.value(problem) / problem.parameters["sigma"]
        if self.is_adjusted:
            moves["C"] = self._product(None, -problem.ridge / problem.C, problem.y) / window
        return moves

    def _product(self, K: np.ndarray | None, diagonal: np.ndarray, y: np.ndarray) -> float:
        """⟨K + Λ, T̂⟩, without the diagonal where each example is left out of its own density; K may be None for 0."""
        shares = _shares(y)
        total = diagonal if K is None else diagonal + K.diagonal()
        between = 0.0 if K is None else shares @ K @ shares - shares**2 @ K.diagonal()
        return float(between + (0.0 if self.leave_one_out else shares**2 @ total))

    def _window(self, problem: SelectionProblem) -> float:
        if problem.window is None:
            raise ValueError(f"{self.name} needs a Gaussian kernel, which alone is a Parzen window")
        return float((np.sqrt(2 * np.pi) * problem.window) ** self.dimension)


def _shares(y: np.ndarray) -> np.ndarray:
    """ŷ = y/n_side."""
    return np.asarray(np.where(y > 0, 1 / (y > 0).sum(), -1 / (y <= 0).sum()))


@component
class ParzenSeparability(_ParzenSeparability):
    """How much denser each side is around its own examples than the other side is."""

    name: ClassVar[str] = "parzen_separability"
    dimension: int = parameter(1, low=1, high=1000, help="of the density: 1 as in the thesis, else of the features")
    leave_one_out: bool = parameter(False, help="leave each example out of the density around itself")


@component
class ParzenSeparabilityC(_ParzenSeparability):
    """Parzen separability of K + I/C."""

    name: ClassVar[str] = "parzen_separability_c"
    is_adjusted: ClassVar[bool] = True
    dimension: int = parameter(1, low=1, high=1000, help="of the density: 1 as in the thesis, else of the features")
    leave_one_out: bool = parameter(False, help="leave each example out of the density around itself")


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Parzen separability, plain and C-adjusted."""
    return [ParzenSeparability, ParzenSeparabilityC]

"""Two made-up sets in the unit square, and what machines of several sigma and C make of them (specification 17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.run import Progress
from audioclass.trainers.svm import SVM
from audioclass_lab.ledger import Ledger

RESOLUTION = 80


def checkerboard(n: int, rng: np.random.Generator, cells: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Points of a board of cells × cells: 2 mod(⌊N x₁⌋ + ⌊N x₂⌋, 2) − 1."""
    X = rng.random((n, 2))
    return X, 2 * (np.floor(cells * X).sum(axis=1).astype(int) % 2) - 1


def curve(n: int, rng: np.random.Generator, flipped: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Points above and below a wave, some with the wrong label."""
    X = rng.random((n, 2))
    y = np.where(X[:, 1] > 0.5 + 0.25 * np.sin(2 * np.pi * X[:, 0]), 1, -1)
    wrong = rng.permutation(n)[: min(flipped, n)]
    y[wrong] = -y[wrong]
    return X, y


SETS: dict[str, Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "checkerboard": checkerboard,
    "curve": curve,
}


@dataclass(frozen=True, eq=False)
class Surface:
    """Scores of a machine on a grid over the unit square, rows from low x₂ to high, and how it does."""

    sigma: float
    C: float
    training_error: float
    leave_one_out: float
    support_vectors: float
    scores: np.ndarray


def surfaces(
    X: np.ndarray,
    y: np.ndarray,
    sigmas: Sequence[float],
    Cs: Sequence[float],
    ledger: Ledger,
    progress: Progress,
) -> list[Surface]:
    """One for each sigma and C."""
    drawn = []
    for sigma in map(float, sigmas):
        for C in map(float, Cs):
            point = {"surface": [X.tolist(), y.tolist()], "sigma": sigma, "C": C}
            drawn.append(_surface(sigma, C, ledger.once(point, partial(_computed, X, y, sigma, C))))
            progress("surfaces", len(drawn), len(sigmas) * len(Cs))
    return drawn


def _computed(X: np.ndarray, y: np.ndarray, sigma: float, C: float) -> dict[str, Any]:
    kernel = Gaussian(sigma)
    problem = SelectionProblem(gram(kernel, X), y, C, learner=SVM())
    axis = np.linspace(0, 1, RESOLUTION)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return {
        "training_error": float(np.mean(y * problem.scores < 0)),
        "leave_one_out": float(problem.lost.mean()),
        "support_vectors": float(np.mean(problem.alpha > 0)),
        "scores": problem.machine.scores(gram(kernel, grid, X)).round(4).tolist(),
    }


def _surface(sigma: float, C: float, result: Any) -> Surface:
    numbers = {name: result[name] for name in ("training_error", "leave_one_out", "support_vectors")}
    return Surface(sigma, C, **numbers, scores=np.array(result["scores"]).reshape(RESOLUTION, RESOLUTION))

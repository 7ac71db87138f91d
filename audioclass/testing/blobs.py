"""Small made-up problems that every contract of learning is checked on: groups of points in a plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import LabelTask, Task


def blobs(n_labels: int = 2, n_each: int = 15, spread: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points around the corners of a regular polygon of radius 2, and the corner of each; labels in turn."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(n_labels) / n_labels
    y = np.tile(np.arange(n_labels), n_each)
    centres = 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[y] + spread * rng.standard_normal((len(y), 2)), y


def blobs_with_a_wrong_group(n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points, labels, groups of two, and the mask of one group that lies with label 0 but bears label 1.

    Who knows one point of that group knows the label of the other: they are copies.
    """
    X, y = blobs(n_labels, n_each=16)
    copies = np.full((2, 2), X[y == 0].mean(axis=0))
    groups = np.concatenate([np.arange(len(y)) // n_labels // 2 * n_labels + y, np.full(2, len(y))])
    wrong = np.arange(len(y) + 2) >= len(y)
    return np.concatenate([X, copies]), np.concatenate([y, np.ones(2, int)]), groups, wrong


def binary_task(wants: str, X: np.ndarray, y: np.ndarray, **changes: Any) -> Task:
    """A task of ±1 in the form that a trainer wants; `changes` replaces weights or C."""
    return Task(y=y, **_given(wants, X, len(y)) | changes)


def label_task(wants: str, X: np.ndarray, y: np.ndarray) -> LabelTask:
    """A task of all labels in the form that a direct strategy wants."""
    return LabelTask(y=y, n_labels=int(y.max()) + 1, **_given(wants, X, len(y)))


def scores_of(component: Any, machine: Any, X: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Scores of new examples by a machine that was fitted on X; both come from the component that is checked."""
    evaluated = component.scores(machine, new) if component.wants == "features" else machine.scores(_gram(new, X))
    scores: np.ndarray = evaluated
    return scores


def _gram(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return gram(Gaussian(), X, Y)


def _given(wants: str, X: np.ndarray, n: int) -> dict[str, Any]:
    """The examples in one of the three forms, with what every task has."""
    forms: dict[str, Callable[[], dict[str, Any]]] = {
        "gram": lambda: {"K": gram(Gaussian(), X)},
        "entries": lambda: {"entries": lambda rows, columns: _gram(X[rows], X[columns])},
        "features": lambda: {"X": X},
    }
    return {"C": 10.0, "weights": np.ones(n), "rng": np.random.default_rng(0)} | forms[wants]()

"""Joachims' C: one over the squared mean distance of the examples to the origin of the features (13.1, 13.2)."""

from __future__ import annotations

import numpy as np

from audioclass.contracts import Kernel
from audioclass.criteria.radius import error_factor, squared_distances_to
from audioclass.kernels.statistics import diagonal, gram


def joachims_error_factor(kernel: Kernel, X: np.ndarray) -> float:
    """1/(mean ‖Φ(x) − Φ(0)‖)², 0 being the null vector of features; a ValueError where all examples are there."""
    return error_factor(_to_origin(kernel, X))


def null_radius(kernel: Kernel, X: np.ndarray) -> float:
    """max ‖Φ(x) − Φ(0)‖², the squared radius seen from the origin."""
    return float(_to_origin(kernel, X).max())


def _to_origin(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    origin = np.zeros((1, X.shape[1]))
    return squared_distances_to(
        diagonal(kernel, X), gram(kernel, X, origin)[:, 0], float(gram(kernel, origin, origin.copy())[0, 0])
    )

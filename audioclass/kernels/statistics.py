"""Pairwise statistics of examples, and the Gram matrices, diagonals and derivatives that kernels make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from audioclass.contracts import GramKernel, HasGradients, HasMinusOne, Kernel, StatisticKernel
from audioclass.errors import unknown_name

Statistic = Callable[[np.ndarray, np.ndarray], np.ndarray]
MANY = 8  # times as many


def dot(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """x'y of every pair."""
    return np.asarray(X @ Y.T)


def squared_distance(X: np.ndarray, Y: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
    """‖x−y‖² = ‖x‖² + ‖y‖² − 2x'y of every pair, at least 0; `pairwise` makes it exact on a diagonal.

    `norms` are the ‖y‖² where they are at hand.
    """
    S = _products(X, Y)
    S *= -2  # in place, step by step: the matrix may be the largest thing in memory
    S += squared_norms(X)[:, None]
    S += (squared_norms(Y) if norms is None else norms)[None, :]
    np.maximum(S, 0, out=S)
    return S


def mean_squared_distance(X: np.ndarray, Y: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
    """‖x−y‖²/d of every pair, d the number of features."""
    return np.asarray(squared_distance(X, Y, norms) / X.shape[1])


def _products(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """x'y of every pair; of few X with many Y transposed, which saves BLAS a copy of all Y."""
    return np.asarray((Y @ X.T).T if MANY * len(X) <= len(Y) else X @ Y.T)


DISTANCES = (squared_distance, mean_squared_distance)
SHARED: Mapping[str, Statistic] = {f.__name__: f for f in (dot, *DISTANCES)}


def statistic_of(kernel: Kernel) -> Statistic | None:
    """The function behind `kernel.statistic`; None for a kernel that has only `gram`."""
    statistic = getattr(kernel, "statistic", None)
    if isinstance(statistic, str):
        if statistic not in SHARED:
            raise unknown_name(f"statistic of kernel {kernel.name!r}", statistic, SHARED)
        return SHARED[statistic]
    return statistic


def pairwise(statistic: Statistic, X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
    """The statistic of every pair of X and Y, (len(X), len(Y)); of X with itself where Y is left out.

    Then the matrix is symmetric, and a distance is exactly 0 on the diagonal, where rounding leaves a little.
    """
    if Y is not None:
        return statistic(X, Y)
    S = statistic(X, X)
    if statistic in DISTANCES:
        np.fill_diagonal(S, 0)
    return S


def gram_of_statistic(kernel: Kernel, S: np.ndarray) -> np.ndarray:
    """The Gram matrix of a kernel from its statistic, entry by entry."""
    if not isinstance(kernel, StatisticKernel):
        raise ValueError(f"kernel {kernel.name!r} has no statistic, it has only a Gram matrix")
    return kernel.of(S)


def gram(kernel: Kernel, X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
    """Gram matrix (len(X), len(Y)) of checked examples; symmetric and exact on its diagonal where Y is left out."""
    X, Y = _examples(X, "X"), None if Y is None else _examples(Y, "Y")
    if Y is not None and X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features and Y {Y.shape[1]}")
    statistic = statistic_of(kernel)
    if statistic is not None and Y is None:
        return gram_of_statistic(kernel, pairwise(statistic, X))
    return gram_between(kernel, X, X if Y is None else Y)


def gram_between(kernel: Kernel, X: np.ndarray, Y: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
    """The same for examples that were checked before: what a machine computes for every block of rows.

    `norms` are the `squared_norms` of Y, which kernels of distances then need not compute for every block.
    """
    S = _statistic_between(kernel, X, Y, norms)
    if S is not None:
        return gram_of_statistic(kernel, S)
    if not isinstance(kernel, GramKernel):
        raise ValueError(f"kernel {kernel.name!r} has neither a statistic nor a Gram matrix")
    return kernel.gram(X, Y)


def gram_minus_one(kernel: Kernel, X: np.ndarray, Y: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray | None:
    """K(X, Y) − 1, of which nothing is lost where K is close to 1; None of a kernel that does not know it."""
    if not isinstance(kernel, HasMinusOne):
        return None
    S = _statistic_between(kernel, X, Y, norms)
    return None if S is None else kernel.minus_one(S)


def _statistic_between(kernel: Kernel, X: np.ndarray, Y: np.ndarray, norms: np.ndarray | None) -> np.ndarray | None:
    statistic = statistic_of(kernel)
    for distance in DISTANCES:
        if statistic is distance:
            return distance(X, Y, norms)
    return None if statistic is None else statistic(X, Y)


def gram_and_gradients(kernel: Kernel, X: np.ndarray) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """K(X, X) and ∂K/∂θ for each parameter that the kernel can be climbed by."""
    X = _examples(X, "X")
    statistic = statistic_of(kernel)
    if statistic is None or not isinstance(kernel, HasGradients):
        return gram(kernel, X), {}
    S = pairwise(statistic, X)
    K = gram_of_statistic(kernel, S)
    return K, kernel.gradients(S, K)


def diagonal(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    """k(x, x) of each example without the rest of the Gram matrix."""
    X = _examples(X, "X")
    statistic = statistic_of(kernel)
    if statistic is dot:
        return gram_of_statistic(kernel, squared_norms(X))
    if statistic in DISTANCES:
        return gram_of_statistic(kernel, np.zeros(len(X), X.dtype))
    return np.array([gram(kernel, X[i : i + 1])[0, 0] for i in range(len(X))])


def squared_norms(X: np.ndarray) -> np.ndarray:
    """‖x‖² of each example."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _examples(X: np.ndarray, name: str) -> np.ndarray:
    """A matrix of finite numbers with at least one row and one column; whole numbers become float64."""
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {X.dtype}, must hold numbers")
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} has shape {X.shape}, must be examples by features, at least one of each")
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError(f"{name} holds NaN or infinite values")
    return X

"""Scores as if each example had been left out, without training again: the span estimate (specification 11.6).

f without x_p is f(x_p) − y_p α_p S_p², exact where leaving x_p out changes neither which vectors support nor which of
them are free. S_p is the distance in kernel space from x_p to the affine combinations of the free support vectors. With
squared slacks that is the space of K + Λ, in which f(x_p) is y_p, and without a bound on α all vectors are free.
It leaves out one example, not a group: where examples come in groups, use held-out groups instead.
"""

from __future__ import annotations

import numpy as np

from audioclass.contracts import Loss
from audioclass.criteria.dual import is_bounded, ridge_of, with_ridge
from audioclass.problems import Machine

FREE = 1e-8  # α this close to 0 or to its bound, as a part of the bound, is there
WORST_CONDITION = 1e12


def span_scores(
    K: np.ndarray,
    machine: Machine,
    y: np.ndarray,
    C: float,
    weights: np.ndarray | None = None,
    eta: float = 0.0,
    loss: Loss = "hinge",
) -> np.ndarray:
    """(n,): f(x_p) − y_p α_p S_p² for support vectors, f(x_p) for the others, of a machine trained on K and y."""
    S = spans(K, machine, y, C, weights, eta, loss)
    scores = machine.scores(K)
    scores[machine.support] += (ridge_of(C, ones_for(weights, y), loss)[machine.support] - S) * machine.coefficients
    return scores


def spans(
    K: np.ndarray,
    machine: Machine,
    y: np.ndarray,
    C: float,
    weights: np.ndarray | None = None,
    eta: float = 0.0,
    loss: Loss = "hinge",
) -> np.ndarray:
    """S_p² of each support vector of a machine of a loss, (n_support,); O(n_free³).

    `weights` multiply C. `eta` > 0 is the smoothing of Chapelle et al. (2002): combinations pay η Σ λ_i²/α_i, and S_p²
    no longer jumps when a vector becomes free. Where there is no other free vector to combine, S_p² is D², the largest
    squared distance between two examples, which is at most 4R².
    """
    if eta < 0:
        raise ValueError(f"eta={eta} must be at least 0")
    weights = ones_for(weights, y)
    alpha, free = multipliers(machine, y, C, weights, loss)
    A = with_ridge(K, C, weights, loss)
    F, B = machine.support[free], machine.support[~free]
    if not len(F):
        return np.full(len(alpha), squared_diameter(A))
    smoothing = eta / alpha[free]
    inverse = bordered_inverse(A[np.ix_(F, F)] + np.diag(smoothing))
    S = np.empty(len(alpha))
    S[free] = 1 / inverse.diagonal()[:-1] - smoothing if len(F) > 1 else squared_diameter(A)
    V = np.vstack([A[np.ix_(F, B)], np.ones(len(B))])
    S[~free] = A[B, B] - np.einsum("ij,ij->j", V, inverse @ V)
    return np.maximum(S, 0)


def ones_for(weights: np.ndarray | None, y: np.ndarray) -> np.ndarray:
    """The weights, one for each example where there are none."""
    return np.ones(len(y)) if weights is None else weights


def squared_diameter(K: np.ndarray) -> float:
    """max_ij ‖Φ(x_i)−Φ(x_j)‖²; O(n²)."""
    norms = K.diagonal()
    return float(max(0.0, (norms[:, None] + norms[None, :] - 2 * K).max()))


def multipliers(
    machine: Machine, y: np.ndarray, C: float, weights: np.ndarray, loss: Loss
) -> tuple[np.ndarray, np.ndarray]:
    """α of each support vector, and whether it is free: neither 0 nor at the bound C·weight that it may have."""
    if np.ndim(machine.coefficients) != 1:  # of several dichotomies, or of members
        raise ValueError(f"coefficients have shape {machine.coefficients.shape}, must be those of one dichotomy")
    alpha = machine.coefficients * y[machine.support]
    has_bound = is_bounded(loss)
    bound = C * weights[machine.support] if has_bound else np.abs(alpha).max(initial=0) * np.ones(len(alpha))
    if (alpha < -FREE * bound).any() or (has_bound and (alpha > (1 + 1e-6) * bound).any()):
        highest = "C" if has_bound else "no bound"
        raise ValueError(
            f"y times coefficients reach from {alpha.min():g} to {alpha.max():g}, must lie from 0 to {highest}"
        )
    return alpha, (alpha > FREE * bound) & ((alpha < (1 - FREE) * bound) | (not has_bound))


def bordered_inverse(K: np.ndarray) -> np.ndarray:
    """Inverse of [K 1; 1' 0]; where there is none, with eigenvalues below 1e−13 of the largest raised to that.

    A vector that others combine to exactly then has a large entry on the diagonal, and a span of 0 but for rounding.
    """
    size = np.abs(K).max() or 1.0  # a border of the size of K does not spoil the condition
    bordered = np.block([[K, np.full((len(K), 1), size)], [np.full((1, len(K)), size), np.zeros((1, 1))]])
    inverse = _inverse_or_none(bordered)
    if inverse is None:
        eigenvalues, vectors = np.linalg.eigh(bordered)
        least = 1e-13 * np.abs(eigenvalues).max()
        inverse = (vectors / np.where(np.abs(eigenvalues) < least, least, eigenvalues)) @ vectors.T
    inverse[-1] *= size
    inverse[:, -1] *= size
    return inverse


def _inverse_or_none(matrix: np.ndarray) -> np.ndarray | None:
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(matrix).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()
    return inverse if condition < WORST_CONDITION else None

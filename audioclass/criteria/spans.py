"""Scores as if each example had been left out, without training again: the span estimate (specification 11.6).

f without x_p is f(x_p) − y_p α_p S_p², exact where leaving x_p out changes neither which vectors support nor which of
them are free. S_p is the distance in kernel space from x_p to the affine combinations of the free support vectors.
It leaves out one example, not a group: where examples come in groups, use held-out groups instead.
"""

from __future__ import annotations

import numpy as np

from audioclass.problems import Machine

FREE = 1e-8  # α this close to 0 or to its bound, as a part of the bound, is there
WORST_CONDITION = 1e12


def span_scores(
    K: np.ndarray, machine: Machine, y: np.ndarray, C: float, weights: np.ndarray | None = None, eta: float = 0.0
) -> np.ndarray:
    """(n,): f(x_p) − y_p α_p S_p² for support vectors, f(x_p) for the others, of an L1 machine trained on K and y."""
    scores = machine.scores(K)
    scores[machine.support] -= machine.coefficients * spans(K, machine, y, C, weights, eta)
    return scores


def spans(
    K: np.ndarray, machine: Machine, y: np.ndarray, C: float, weights: np.ndarray | None = None, eta: float = 0.0
) -> np.ndarray:
    """S_p² of each support vector of an L1 machine, (n_support,); O(n_free³).

    `weights` multiply C. `eta` > 0 is the smoothing of Chapelle et al. (2002): combinations pay η Σ λ_i²/α_i, and S_p²
    no longer jumps when a vector becomes free. Where there is no other free vector to combine, S_p² is D², the largest
    squared distance between two examples, which is at most 4R².
    """
    if eta < 0:
        raise ValueError(f"eta={eta} must be at least 0")
    alpha, bound = multipliers(machine, y, C, weights)
    free = (alpha > FREE * bound) & (alpha < (1 - FREE) * bound)
    F, B = machine.support[free], machine.support[~free]
    if not len(F):
        return np.full(len(alpha), squared_diameter(K))
    smoothing = eta / alpha[free]
    inverse = bordered_inverse(K[np.ix_(F, F)] + np.diag(smoothing))
    S = np.empty(len(alpha))
    S[free] = 1 / inverse.diagonal()[:-1] - smoothing if len(F) > 1 else squared_diameter(K)
    V = np.vstack([K[np.ix_(F, B)], np.ones(len(B))])
    S[~free] = K[B, B] - np.einsum("ij,ij->j", V, inverse @ V)
    return np.maximum(S, 0)


def squared_diameter(K: np.ndarray) -> float:
    """max_ij ‖Φ(x_i)−Φ(x_j)‖²; O(n²)."""
    norms = K.diagonal()
    return float(max(0.0, (norms[:, None] + norms[None, :] - 2 * K).max()))


def multipliers(machine: Machine, y: np.ndarray, C: float, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """α of each support vector, and the bound C·weight it may reach."""
    if np.ndim(machine.coefficients) != 1:
        raise ValueError(f"coefficients have shape {machine.coefficients.shape}, must be those of one dichotomy")
    alpha = machine.coefficients * y[machine.support]
    bound = C * (np.ones(len(y)) if weights is None else weights)[machine.support]
    if (alpha < -FREE * bound).any() or (alpha > (1 + 1e-6) * bound).any():
        raise ValueError(f"y times coefficients reach from {alpha.min():g} to {alpha.max():g}, must lie from 0 to C")
    return alpha, bound


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

"""Pairwise probabilities → posteriors (specification 5.4)."""

from __future__ import annotations

import numpy as np

SMALLEST = 1e-7


def pair_matrix(probabilities: np.ndarray, n_labels: int) -> np.ndarray:
    """(n, Q, Q) of r_kl = P(k | k or l) from (n, Q(Q−1)/2) of them for k < l in order; ½ on the diagonal."""
    r = np.full((len(probabilities), n_labels, n_labels), 0.5)
    k, l = np.triu_indices(n_labels, 1)  # noqa: E741 (the specification's letters)
    r[:, k, l] = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    r[:, l, k] = 1 - r[:, k, l]
    return r


def couple_wu_lin_weng(r: np.ndarray) -> np.ndarray:
    """Posteriors (n, Q) that minimise Σ_{k≠l}(r_lk p_k − r_kl p_l)², as LIBSVM's second method does.

    With Q_kk = Σ_{s≠k}r_sk² and Q_kl = −r_lk r_kl, p solves Qp + b1 = 0 and 1'p = 1. It gives back p from consistent r.
    """
    n, n_labels, _ = r.shape
    flipped = r.transpose(0, 2, 1)
    system = np.ones((n, n_labels + 1, n_labels + 1))
    system[:, -1, -1] = 0
    inner = system[:, :-1, :-1]
    np.multiply(-r, flipped, out=inner)
    diagonal = np.arange(n_labels)
    inner[:, diagonal, diagonal] = (r**2).sum(axis=1) - 0.25
    target = np.zeros((n, n_labels + 1, 1))
    target[:, -1] = 1
    P = np.maximum(np.linalg.solve(system, target)[:, :-1, 0], 0)
    return P / P.sum(axis=1, keepdims=True)

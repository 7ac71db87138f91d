"""The generalised Bradley-Terry model as its page has it (specification 6.2), to judge what couples faster."""

import numpy as np

FAINTEST = 1e-250


def divergence(P: np.ndarray, r: np.ndarray, code: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n,): Σ_n weights_n KL(r_n, μ_n), what coupling makes as small as it can."""
    plus, minus = P @ (code > 0), P @ (code < 0)
    mu = plus / (plus + minus)
    entropy = r * np.log(r) + (1 - r) * np.log(1 - r)
    return (entropy - r * np.log(mu) - (1 - r) * np.log(minus / (plus + minus))) @ weights


def fixed_point_step(P: np.ndarray, r: np.ndarray, code: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The thesis's simultaneous update for any sets of labels, p_k Σ_n r_n/S_n / Σ_n 1/(S_n⁺+S_n⁻): it cannot rise."""
    positive, negative = (code > 0).astype(float), (code < 0).astype(float)
    plus, minus = P @ positive, P @ negative
    wins = (weights * r / plus) @ positive.T + (weights * (1 - r) / minus) @ negative.T
    P = np.maximum(P * wins / ((weights / (plus + minus)) @ (positive + negative).T), FAINTEST)
    return P / P.sum(axis=1, keepdims=True)

"""Pairwise probabilities → posteriors (specification 5.3 to 5.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audioclass.numerics import softmax

SMALLEST = 1e-7
BLOCK = 200_000  # numbers in the matrices of the rows coupled at a time, so that they stay in the cache
FAINTEST = 1e-250  # a posterior never falls below this on the way, so that ratios exist


def pair_matrix(probabilities: np.ndarray, n_labels: int) -> np.ndarray:
    """(n, Q, Q) of r_kl = P(k | k or l) from (n, Q(Q−1)/2) of them for k < l in order; ½ on the diagonal."""
    if probabilities.shape[1] != n_labels * (n_labels - 1) // 2:
        raise ValueError(f"{probabilities.shape[1]} pairs, {n_labels} labels have {n_labels * (n_labels - 1) // 2}")
    r = np.full((len(probabilities), n_labels, n_labels), 0.5)
    k, l = np.triu_indices(n_labels, 1)  # noqa: E741 (the specification's letters)
    r[:, k, l] = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    r[:, l, k] = 1 - r[:, k, l]
    return r


def pair_numbers(n_labels: int) -> np.ndarray:
    """(Q, Q), above the diagonal: the place of pair k < l among all pairs in order."""
    number = np.zeros((n_labels, n_labels), dtype=int)
    number[np.triu_indices(n_labels, 1)] = np.arange(n_labels * (n_labels - 1) // 2)
    return number


def pair_weights(counts: np.ndarray) -> np.ndarray:
    """(Q, Q) of n_kl = n_k + n_l, the examples that the machine of k and l has seen."""
    return np.asarray(np.add.outer(counts, counts).astype(np.float64))


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
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def couple_hastie_tibshirani(
    r: np.ndarray, weights: np.ndarray | None = None, tolerance: float = 1e-12, cap: int = 500
) -> np.ndarray:
    """Posteriors (n, Q) of which μ_kl = p_k/(p_k + p_l) has the smallest weighted divergence from r_kl.

    `weights` is (Q, Q), n_kl or all 1 where none are given; a pair of weight 0 is ignored. The limit is that of the
    thesis's fixed-point iteration, Σ_l n_kl r_kl = Σ_l n_kl μ_kl for every k, reached by Newton steps in log p: the
    divergence is convex there. A row is done when a step changes no posterior by more than `tolerance`, or leaves no
    more than that.
    """
    n, n_labels, _ = r.shape
    weights = np.ones((n_labels, n_labels)) if weights is None else np.array(weights, dtype=np.float64)
    np.fill_diagonal(weights, 0)
    _check_connected(weights)
    weights /= weights.max()
    wins = np.einsum("kl,nkl->kn", weights, r)
    P = np.empty((n, n_labels))
    size = max(BLOCK // n_labels**2, 1)
    for start in range(0, n, size):
        P[start : start + size] = _couple_block(wins[:, start : start + size], weights, tolerance, cap).T
    return P


def _couple_block(wins: np.ndarray, weights: np.ndarray, tolerance: float, cap: int) -> np.ndarray:
    """The limit for the columns of `wins`, (Q, n), all at once; those that are done drop out.

    A sum of logistic losses falls under a Newton step of range d in log p: for certain where d is at most 1, and else
    shortened by log(1 + d)/d. What a whole step leaves is of the order of d².
    """
    done = np.empty_like(wins)
    pairs = _Pairs.of(weights)
    left, P = np.arange(wins.shape[1]), _start(wins, weights)
    for _ in range(cap):
        step = pairs.newton_step(P, wins[:, left])
        change = np.abs(P * (step - (P * step).sum(axis=0))).max(axis=0)
        reach = np.ptp(step, axis=0) + FAINTEST
        step -= step.max(axis=0)
        P = np.maximum(P * np.exp(step * np.where(reach <= 1, 1, np.log1p(reach) / reach)), FAINTEST)
        P /= P.sum(axis=0)
        done[:, left] = P
        going = (change > tolerance) & (reach**2 > tolerance)
        left, P = left[going], P[:, going]
        if not len(left):
            break
    return done


def _start(wins: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The odds of each label over all its pairs: positive, and nearer to the limit than equal posteriors."""
    odds = wins / (weights.sum(axis=1)[:, None] - wins)
    return np.asarray(odds / odds.sum(axis=0))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The pairs k < l with their weights (N, 1), and (Q, N) of 1 where a label is the first or the second of a pair."""

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray
    is_first: np.ndarray
    is_second: np.ndarray

    @classmethod
    def of(cls, weights: np.ndarray) -> _Pairs:
        first, second = np.triu_indices(len(weights), 1)
        one = np.eye(len(weights))
        return cls(first, second, weights[first, second][:, None], one[:, first], one[:, second])

    def newton_step(self, P: np.ndarray, wins: np.ndarray) -> np.ndarray:
        """Solves (diag(Σ_l w_kl) − w) step = Σ_l n_kl (r_kl − μ_kl) for w_kl = n_kl μ_kl μ_lk, with the last step 0."""
        ahead, behind = P[self.first], P[self.second]
        behind += ahead
        ahead /= behind  # μ of the first of each pair
        won = self.weights * ahead
        slope = wins - self.is_first @ won - self.is_second @ (self.weights - won)
        won *= 1 - ahead
        labels = np.arange(len(P))
        curvature = np.empty((len(P), *P.shape))
        curvature[self.first, self.second] = -won  # the half that is read
        curvature[labels, labels] = self.is_first @ won + self.is_second @ won + FAINTEST
        step = np.zeros_like(P)
        step[:-1] = solve_each(curvature[:-1, :-1], slope[:-1])
        return step


def solve_each(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x of A x = b for each of n positive definite systems, A being (m, m, n) and b (m, n); both are used up.

    Elimination of the upper half, which alone is read, a whole block at a step: LAPACK takes small systems one by one
    and needs several times as long.
    """
    m = len(b)
    strip = max(1, m // 8)  # rows taken together, so that many labels do not mean many small steps
    for k in range(m - 1):
        factor = A[k, k + 1 :] / A[k, k]
        for i in range(k + 1, m, strip):
            A[i : i + strip, i:] -= factor[i - k - 1 : i - k - 1 + strip, None] * A[k, i:]
        b[k + 1 :] -= factor * b[k]
    for k in reversed(range(m)):
        b[k] = (b[k] - (A[k, k + 1 :] * b[k + 1 :]).sum(axis=0)) / A[k, k]
    return b


def _check_connected(weights: np.ndarray) -> None:
    """Refuse weights that leave two groups of labels without a pair between them."""
    reached = (weights > 0) | np.eye(len(weights), dtype=bool)
    for _ in range(len(weights).bit_length()):
        reached = reached @ reached  # of truth values: through any label between
    if not reached.all():
        raise ValueError("weights must join all labels, some are linked by no pair of positive weight")


def couple_price(r: np.ndarray) -> np.ndarray:
    """Posteriors p_k ∝ 1/(Σ_{l≠k}1/r_kl − (Q−2)) of Price and others; gives back p from consistent r."""
    n_labels = r.shape[1]
    P = 1 / ((1 / r).sum(axis=2) - n_labels)  # the diagonal adds 2
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def couple_product(r: np.ndarray) -> np.ndarray:
    """Posteriors p_k ∝ Π_{l≠k}r_kl: good decisions, too sure of themselves."""
    return softmax(np.log(r).sum(axis=2))


def couple_stars(r: np.ndarray) -> np.ndarray:
    """(n, Q, Q), O-PWC: row c is the Hastie-Tibshirani limit p^(c) of the pairs of label c alone, p_l ∝ r_lc/r_cl."""
    P = r.transpose(0, 2, 1) / r
    return np.asarray(P / P.sum(axis=2, keepdims=True))


def couple_star_own(r: np.ndarray) -> np.ndarray:
    """O-PWC with each label taken from its own star, p_c ∝ p^(c)_c; the same as Price."""
    P = np.diagonal(couple_stars(r), axis1=1, axis2=2)
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def couple_star_mean(r: np.ndarray) -> np.ndarray:
    """O-PWC with the stars of all labels averaged."""
    return np.asarray(couple_stars(r).mean(axis=1))


Coupling = Callable[[np.ndarray, np.ndarray], np.ndarray]

COUPLINGS: dict[str, Coupling] = {  # from the pair matrix and the number of examples of each label
    "wu_lin_weng": lambda r, counts: couple_wu_lin_weng(r),
    "hastie_tibshirani": lambda r, counts: couple_hastie_tibshirani(r, pair_weights(counts)),
    "hastie_tibshirani_equal": lambda r, counts: couple_hastie_tibshirani(r),
    "price": lambda r, counts: couple_price(r),
    "product": lambda r, counts: couple_product(r),
    "star_own": lambda r, counts: couple_star_own(r),
    "star_mean": lambda r, counts: couple_star_mean(r),
}

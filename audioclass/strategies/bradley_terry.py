"""Probabilities of sets of labels → posteriors: the generalised Bradley-Terry model (specification 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.strategies.coupling import FAINTEST, SMALLEST, solve_each

BLOCK = 100_000  # numbers in the matrices of the rows coupled at a time, so that they stay in the cache
MOST_LABELS = 400  # a matrix of them by themselves is solved again and again, for each row
MOST_PRODUCTS = 2**24  # numbers, an eighth of a gigabyte
HURRY = 0.2  # share of its gradient that holds a falling posterior back: it shrinks by up to 1 + 1/HURRY in a step
ROUNDING = 1e-14  # a divergence that falls by less, in units of all weights, does not fall


def couple_bradley_terry(
    probabilities: np.ndarray, code: np.ndarray, weights: np.ndarray, tolerance: float = 1e-10, cap: int = 500
) -> np.ndarray:
    """Posteriors (n, Q) whose μ_n = Σ_{I⁺}p/Σ_{I⁺∪I⁻}p have the smallest divergence from r_n, weighted by (N,) weights.

    `code` is (Q, N): +1 for the labels I⁺ that dichotomy n tells from I⁻, those of −1. Every step lowers the
    divergence; a row is done when one changes no posterior by more than `tolerance` or lowers it no more. With the code
    of all pairs the limit is that of Hastie and Tibshirani.
    """
    sets = _Sets.of(code, weights / weights.sum())
    r = np.clip(probabilities, SMALLEST, 1 - SMALLEST).T
    P = np.empty((r.shape[1], len(code)))
    size = max(BLOCK // len(code) ** 2, 1)
    for start in range(0, len(P), size):
        rows = slice(start, start + size)
        P[rows] = _couple(r[:, rows], sets, tolerance, cap).T
    return P


@dataclass(frozen=True, eq=False)
class _Sets:
    """The two sides of each dichotomy, (N, Q) of 0 and 1, their union, and (N, 1) weights."""

    plus: np.ndarray
    minus: np.ndarray
    both: np.ndarray
    weights: np.ndarray
    products: np.ndarray  # (Q², 3N): e e' of each side and of minus their union

    @classmethod
    def of(cls, code: np.ndarray, weights: np.ndarray) -> _Sets:
        if len(code) > MOST_LABELS or 3 * code.size * len(code) > MOST_PRODUCTS:
            raise ValueError(
                f"{code.shape[1]} dichotomies of {len(code)} labels are more than the Bradley-Terry model can couple;"
                " use another decoding"
            )
        plus, minus = (np.ascontiguousarray(side.T, dtype=np.float64) for side in (code > 0, code < 0))
        both = plus + minus
        squares = [np.einsum("nk,nl->kln", e, e).reshape(-1, len(e)) for e in (plus, minus, both)]
        return cls(plus, minus, both, np.asarray(weights, dtype=np.float64)[:, None], np.hstack(squares))

    def loss(self, P: np.ndarray, r: np.ndarray) -> np.ndarray:
        """(n,) from P (Q, n) and r (N, n): the divergence without the entropy of r, which no posterior changes."""
        plus, minus = self.plus @ P, self.minus @ P
        both = plus + minus
        return np.asarray(-(self.weights * (r * np.log(plus / both) + (1 - r) * np.log(minus / both))).sum(axis=0))

    def step(self, P: np.ndarray, r: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """Relative change (Q, n) of the posteriors by a Newton step in p.

        To the curvature are added: one along p itself, where nothing changes; the pull on a falling posterior, which
        then shrinks by a factor instead of going below 0; and so many times that of the fixed-point step.
        """
        plus, minus = self.plus @ P, self.minus @ P
        both = plus + minus
        won, lost, met = self.weights * r / plus, self.weights * (1 - r) / minus, self.weights / both
        load = self.both.T @ met
        pull = self.plus.T @ won + self.minus.T @ lost - load
        curvature = self.products @ np.concatenate([won / plus, lost / minus, -met / both])
        curvature = curvature.reshape(len(P), *P.shape) + self.weights.sum()
        labels = np.arange(len(P))
        curvature[labels, labels] += (HURRY * np.maximum(-pull, 0) + (damping + 1e-12) * load) / P
        return np.asarray(solve_each(curvature, pull) / P)


def _couple(r: np.ndarray, sets: _Sets, tolerance: float, cap: int) -> np.ndarray:
    """The limit (Q, n) of the columns of r, (N, n), all at once; those that are done drop out.

    A step that does not lower the divergence is not taken: its column is damped more the next time.
    """
    done = np.full((sets.both.shape[1], r.shape[1]), 1 / sets.both.shape[1])
    left, P, damping = np.arange(r.shape[1]), done.copy(), np.zeros(r.shape[1])
    now = sets.loss(P, r)
    for _ in range(cap):
        new = _moved(P, sets.step(P, r, damping))
        then = sets.loss(new, r)
        is_lower = then <= now + ROUNDING
        going = (np.abs(new - P).max(axis=0) > tolerance) & (np.abs(now - then) > ROUNDING)
        damping = np.where(is_lower, np.where(damping < 1e-3, 0, damping / 4), np.maximum(damping * 8, 1e-3))
        P, now = np.where(is_lower, new, P), np.where(is_lower, then, now)
        done[:, left] = P
        left, P, r, now, damping = left[going], P[:, going], r[:, going], now[going], damping[going]
        if not len(left):
            break
    return done


def _moved(P: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Posteriors after a relative step: 1 + s times as large, or 1 − s times as small."""
    size = 1 + np.abs(step)
    P = np.maximum(np.where(step > 0, P * size, P / size), FAINTEST)
    return np.asarray(P / P.sum(axis=0))

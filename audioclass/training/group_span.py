"""Scores as if the whole group of each example had been left out, without training again.

The span estimate leaves out one example; recordings come in groups. With F the free support vectors and B a group, the
machine without B scores x_i ∈ B by f(x_i) − Σ_{p∈B} G_ip y_p α_p, where G is the kernel of B given the free vectors
outside it: what of k(x_i, x_p) their affine combinations do not explain. It is exact where leaving B out changes
neither which other vectors support nor which of them are free; for groups of one it is the span estimate (11.6).
"""

from __future__ import annotations

import numpy as np

from audioclass.contracts import Loss
from audioclass.criteria.dual import ridge_of, with_ridge
from audioclass.criteria.spans import bordered_inverse, multipliers, squared_diameter
from audioclass.problems import Machine


def group_span_scores(
    K: np.ndarray,
    machine: Machine,
    y: np.ndarray,
    C: float,
    weights: np.ndarray,
    groups: np.ndarray,
    loss: Loss = "hinge",
) -> np.ndarray:
    """(n,) scores of a machine of a loss, trained on K and y, each as if its group had not been there.

    Where a group holds all free vectors, nothing is left to combine: its examples lose α times the squared diameter.
    """
    _, is_free = multipliers(machine, y, C, weights, loss)
    A = with_ridge(K, C, weights, loss)
    signed = np.zeros(len(y))
    signed[machine.support] = machine.coefficients
    free = machine.support[is_free]
    inverse = bordered_inverse(A[np.ix_(free, free)]) if len(free) else np.zeros((1, 1))
    place = np.full(len(y), -1)
    place[free] = np.arange(len(free))
    scores = machine.scores(K) + ridge_of(C, weights, loss) * signed  # in the space of A
    for members in _supporting(groups, machine.support):
        if np.sum(place[members] >= 0) < len(free):
            scores[members] -= _unexplained(A, inverse, free, members, place) @ signed[members]
        else:
            scores[members] -= signed[members] * squared_diameter(A)
    return scores


def _supporting(groups: np.ndarray, support: np.ndarray) -> list[np.ndarray]:
    """The members of each group that holds a support vector."""
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    is_support = np.zeros(len(groups), bool)
    is_support[support] = True
    return [members for members in np.split(order, first[1:]) if is_support[members].any()]


def _unexplained(
    K: np.ndarray, inverse: np.ndarray, free: np.ndarray, members: np.ndarray, place: np.ndarray
) -> np.ndarray:
    """G of a group: its kernel given the free vectors outside it, by Schur complements of one inverse for all groups.

    Given all free vectors the others of the group have the kernel R and depend on its free ones by A; those, given the
    rest, have the inverse of their block.
    """
    is_free = place[members] >= 0
    inside, others = place[members[is_free]], members[~is_free]
    if not len(others):
        return _inverse(inverse[np.ix_(inside, inside)])
    V = np.vstack([K[np.ix_(free, others)], np.ones(len(others))])
    explained = inverse @ V
    G = np.empty((len(members), len(members)))
    G[np.ix_(~is_free, ~is_free)] = K[np.ix_(others, others)] - V.T @ explained
    if len(inside):
        of_free, A = _inverse(inverse[np.ix_(inside, inside)]), explained[inside]
        G[np.ix_(is_free, is_free)] = of_free
        G[np.ix_(is_free, ~is_free)] = of_free @ A
        G[np.ix_(~is_free, is_free)] = (of_free @ A).T
        G[np.ix_(~is_free, ~is_free)] += A.T @ of_free @ A
    return G


def _inverse(block: np.ndarray) -> np.ndarray:
    """The inverse, or the pseudo-inverse where there is none."""
    try:
        return np.linalg.inv(block)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(block, hermitian=True)

"""Additive form of a tree: every node has a machine against all the rest, and scores add up over the nodes of a label.

The score of a label is its own machine's times the weight that all leaves share, and that of every group it is in times
the group's own weight; a softmax over labels gives the posteriors. Without groups that is one-vs-rest with a
temperature. Weights are at least 0 and have a price, so that groups that save too little held-out log-loss have weight
0: they are as good as merged into the group above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from audioclass.contracts import Fitted
from audioclass.numerics import log_loss, softmax
from audioclass.problems import Dichotomy
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.strategies.weighted import NodeScores, distinct, oppose
from audioclass.trees.branches import Branch

RIDGE = 1.0  # examples' worth of a prior on all weights: one-vs-rest with a temperature, give or take 1

Group = tuple[int, ...]


@dataclass(frozen=True)
class Additive:
    """Scores of every node against the rest add up; `price` is what a group as heavy as the leaves must save.

    It is a share of the held-out log-loss of the leaves alone.
    """

    price: float = 0.0

    def dichotomies(self, tree: Branch) -> tuple[Dichotomy, ...]:
        """Each node but the root against all other labels; the two children of a binary root share one."""
        nodes = (node.labels for node in tree.walk() if len(node.labels) < len(tree.labels))
        return distinct(_question(labels, len(tree.labels)) for labels in nodes)

    def fit(self, tree: Branch, node_scores: NodeScores, y: np.ndarray) -> Fitted:
        """The weight of the leaves and those of the groups, in the order of `groups`."""
        leaves = leaf_scores(node_scores)
        T = fit_temperature(leaves, y)
        names = groups(tree, node_scores)
        if not names:
            return {"leaves": 1 / T, "groups": []}
        price = self.price * len(y) * log_loss(apply_temperature(leaves, T), y)
        weights = fit_weights(_label_terms(names, leaves / T, group_scores(names, node_scores) / T), y, price) / T
        return {"leaves": float(weights[0]), "groups": weights[1:].tolist()}

    def posteriors(self, tree: Branch, node_scores: NodeScores, fitted: Fitted) -> np.ndarray:
        """A softmax of the weighted sum; without fitted weights each has 1."""
        names = groups(tree, node_scores)
        weights = np.asarray(fitted.get("groups", np.ones(len(names))))
        total = np.asarray(fitted.get("leaves", 1.0)) * leaf_scores(node_scores)
        if names:
            total = total + (group_scores(names, node_scores) * weights) @ _members(names, node_scores.plan.n_labels)
        return softmax(total)

    def worthy(self, tree: Branch, node_scores: NodeScores, y: np.ndarray) -> list[Group]:
        """The groups of a weight above 0."""
        return list(compress(groups(tree, node_scores), np.ravel(self.fit(tree, node_scores, y)["groups"])))


def groups(tree: Branch, node_scores: NodeScores) -> list[Group]:
    """The labels of each group of the tree that has a machine in the plan, each once.

    Of two groups that are the rest of each other only the first: the other would say the same.
    """
    n_labels = len(tree.labels)
    groups: dict[frozenset[int], Group] = {}
    for node in tree.walk():
        if not 1 < len(node.labels) < n_labels or _question(node.labels, n_labels)[0] not in node_scores.columns:
            continue
        if frozenset(range(n_labels)) - set(node.labels) not in groups:
            groups.setdefault(frozenset(node.labels), node.labels)
    return list(groups.values())


def leaf_scores(node_scores: NodeScores) -> np.ndarray:
    """(n, n_labels): each label against the rest; 0 where there is no other label."""
    n_labels = node_scores.plan.n_labels
    if n_labels == 1:
        return np.zeros((len(node_scores.scores), 1))
    return np.stack([node_scores.score((label,), _rest((label,), n_labels)) for label in range(n_labels)], axis=1)


def group_scores(names: Sequence[Group], node_scores: NodeScores) -> np.ndarray:
    """(n, n_groups): each group against the rest."""
    n_labels = node_scores.plan.n_labels
    scores = [node_scores.score(labels, _rest(labels, n_labels)) for labels in names]
    return np.stack(scores, axis=1) if scores else np.empty((len(node_scores.scores), 0))


@dataclass(frozen=True, eq=False)
class LabelTerms:
    """The terms whose sum is the score of one label: (n, m) values, and which of all weights each column has."""

    values: np.ndarray
    weights: np.ndarray


def fit_weights(terms: Sequence[LabelTerms], y: np.ndarray, price: float) -> np.ndarray:
    """Weights, at least 0, of the lowest log-loss of softmax(values · weights) over labels, with a price.

    All but the first weight cost `price` each; a ridge of `RIDGE` draws to 1 for the first and 0 for the others. The
    problem is convex, and each step of Newton's method is the best that keeps weights at 0 or above.
    """
    weights = np.eye(1 + max(int(each.weights.max()) for each in terms))[0]
    prices = price * (1 - weights)
    for _ in range(100):
        value, gradient, hessian = _loss_at(weights, prices, terms, y)
        target = lowest_from_zero_up(hessian, gradient - hessian @ weights)
        step = target - weights
        fall = -gradient @ step
        if fall <= 1e-14 * max(value, 1):
            return target
        size = 1.0
        while _loss_at(weights + size * step, prices, terms, y)[0] > value - 1e-4 * size * fall and size > 1e-9:
            size /= 2
        weights = weights + size * step
    return np.asarray(weights)


def _loss_at(
    weights: np.ndarray, prices: np.ndarray, terms: Sequence[LabelTerms], y: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log-loss over all rows with price and ridge, its gradient and its second derivatives by the weights."""
    total = np.stack([each.values @ weights[each.weights] for each in terms], axis=1)
    total -= total.max(axis=1, keepdims=True)
    P = np.exp(total)
    sums = P.sum(axis=1, keepdims=True)
    P /= sums
    means, told = np.zeros((len(y), len(weights))), np.zeros(len(weights))
    hessian = RIDGE * np.eye(len(weights))
    for label, each in enumerate(terms):
        shares = each.values * P[:, label : label + 1]
        means[:, each.weights] += shares
        hessian[np.ix_(each.weights, each.weights)] += each.values.T @ shares
        told[each.weights] += each.values[y == label].sum(axis=0)
    away = weights - np.eye(len(weights))[0]
    value = (np.log(sums[:, 0]) - total[np.arange(len(y)), y]).sum() + RIDGE / 2 * (away**2).sum() + prices @ weights
    return float(value), means.sum(axis=0) - told + RIDGE * away + prices, hessian - means.T @ means


def lowest_from_zero_up(H: np.ndarray, c: np.ndarray) -> np.ndarray:
    """x ≥ 0 of the lowest ½x'Hx + c'x, H positive definite: least squares on the Cholesky factor of H.

    Which x are above 0 is told by `nnls`; their values are then solved for in H itself, whose digits are better.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    L = np.linalg.cholesky(H)
    x = nnls(L.T, solve_triangular(L, -c, lower=True))[0]
    is_free = x > 0
    x[is_free] = np.linalg.solve(H[np.ix_(is_free, is_free)], -c[is_free])
    return np.asarray(x)


def _label_terms(names: Sequence[Group], leaves: np.ndarray, grouped: np.ndarray) -> list[LabelTerms]:
    """For each label its own score under weight 0, then those of its groups under theirs."""
    members = _members(names, leaves.shape[1])
    inside = [np.flatnonzero(column) for column in members.T]
    return [
        LabelTerms(np.column_stack([leaves[:, label], grouped[:, groups]]), np.append(0, groups + 1))
        for label, groups in enumerate(inside)
    ]


def _members(names: Sequence[Group], n_labels: int) -> np.ndarray:
    """(n_groups, n_labels) of 0 and 1."""
    return np.array([np.isin(np.arange(n_labels), labels) for labels in names], dtype=float).reshape(-1, n_labels)


def _rest(labels: Sequence[int], n_labels: int) -> Group:
    return tuple(sorted(set(range(n_labels)) - set(labels)))


def _question(labels: Sequence[int], n_labels: int) -> tuple[Dichotomy, bool]:
    return oppose(labels, _rest(labels, n_labels))

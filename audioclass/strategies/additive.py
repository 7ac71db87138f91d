"""Additive form of a tree: every node has a machine against all the rest, and scores add up on the way to a label.

The score of a label is the weighted sum of the scores of the nodes on its way from the root, with one weight for each
level, and a softmax over labels gives the posteriors. Without inner nodes that is one-vs-rest with a temperature. The
level of a node is ⌈log2 of its number of labels⌉: leaves share a level however deep they lie, and so do pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.contracts import Fitted
from audioclass.problems import Dichotomy
from audioclass.strategies.temperature import apply_temperature, fit_temperature
from audioclass.strategies.trees import Branch
from audioclass.strategies.weighted import Answers, distinct, oppose

RIDGE = 1.0  # weight of the prior on level weights, in examples: one-vs-rest with a temperature, give or take 1


class Additive:
    """Scores of every node against the rest add up on the way down."""

    def dichotomies(self, tree: Branch) -> tuple[Dichotomy, ...]:
        """Each node but the root against all other labels; the two children of a binary root share one."""
        return distinct(oppose(*question) for node in tree.walk() if (question := _against_the_rest(tree, node)))

    def fit(self, tree: Branch, answers: Answers, y: np.ndarray) -> Fitted:
        """The weights of the levels, the largest level last."""
        scores = np.stack([answers.scores @ level for level in level_maps(tree, answers)])
        return {"levels": fit_levels(scores, y).tolist()}

    def posteriors(self, tree: Branch, answers: Answers, fitted: Fitted) -> np.ndarray:
        """A softmax of the weighted sum of levels; without fitted weights each has 1."""
        maps = level_maps(tree, answers)
        weights = np.asarray(fitted.get("levels", np.ones(len(maps))))
        return apply_temperature(answers.scores @ np.tensordot(weights, maps, 1), 1.0)


def level_maps(tree: Branch, answers: Answers) -> np.ndarray:
    """(n_levels, n_dichotomies, n_labels): from scores of machines to sums over the nodes of a level on each way.

    A label with several leaves has the mean over the ways to them.
    """
    ways = list(tree.ways())
    leaves = np.bincount([label for label, _ in ways])
    levels = sorted({_level(node) for _, way in ways for node in way}) or [0]
    maps = np.zeros((len(levels), len(answers.plan.dichotomies), len(leaves)))
    for label, way in ways:
        for node in way:
            if question := _against_the_rest(tree, node):
                dichotomy, is_positive = oppose(*question)
                sign = 1 if is_positive else -1
                maps[levels.index(_level(node)), answers.columns[dichotomy], label] += sign / leaves[label]
    return maps


def fit_levels(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights (n_levels,), at least 0, of the lowest log-loss of softmax(Σ weight · scores), scores (n_levels, n, Q).

    The first level by itself has the temperature T of `fit_temperature`. The weights of all are drawn to that answer,
    1/T for the first and 0 for the others, by a ridge of `RIDGE` examples in units of 1/T; the problem is convex and
    each step of Newton's method is the best that keeps weights at 0 or above.
    """
    T = fit_temperature(scores[0], y)
    start = np.eye(len(scores))[0]
    if len(scores) == 1:
        return start / T
    weights, scaled = start, scores / T
    for _ in range(100):
        value, gradient, hessian = _levels_at(weights, start, scaled, y)
        target = _lowest_from_zero_up(hessian, gradient - hessian @ weights)
        step = target - weights
        fall = -gradient @ step
        if fall <= 1e-15 * max(value, 1):
            return target / T
        size = 1.0
        while _levels_at(weights + size * step, start, scaled, y)[0] > value - 1e-4 * size * fall and size > 1e-9:
            size /= 2
        weights = weights + size * step
    return weights / T


def _levels_at(
    weights: np.ndarray, start: np.ndarray, scores: np.ndarray, y: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log-loss over all rows with its ridge, its gradient and its second derivatives by the weights."""
    rows, total = np.arange(len(y)), np.tensordot(weights, scores, 1)
    total -= total.max(axis=1, keepdims=True)
    P = np.exp(total)
    sums = P.sum(axis=1, keepdims=True)
    P /= sums
    means = np.einsum("lnq,nq->ln", scores, P)
    spread = ((scores - means[:, :, None]) * np.sqrt(P)).reshape(len(weights), -1)
    away = weights - start
    value = (np.log(sums[:, 0]) - total[rows, y]).sum() + RIDGE / 2 * (away**2).sum()
    gradient = (means - scores[:, rows, y]).sum(axis=1) + RIDGE * away
    return float(value), gradient, spread @ spread.T + RIDGE * np.eye(len(weights))


def _lowest_from_zero_up(H: np.ndarray, c: np.ndarray) -> np.ndarray:
    """x ≥ 0 of the lowest ½x'Hx + c'x, H positive definite, by the active set of Lawson and Hanson."""
    x, is_free = np.zeros(len(c)), np.zeros(len(c), dtype=bool)
    for _ in range(10 * len(c)):
        slope = np.where(is_free, 0, H @ x + c)
        if slope.min() >= -1e-12 * np.abs(c).max():
            break
        is_free[slope.argmin()] = True
        while True:
            target = np.zeros(len(c))
            target[is_free] = np.linalg.solve(H[np.ix_(is_free, is_free)], -c[is_free])
            blocked = is_free & (target <= 0)
            if not blocked.any():
                break
            reach = np.min(x[blocked] / (x[blocked] - target[blocked]), initial=1.0)
            x = x + reach * (target - x)
            is_free &= x > 1e-14 * x.max()
        x = target
    return x


def _level(node: Branch) -> int:
    return (len(node.labels) - 1).bit_length()


def _against_the_rest(tree: Branch, node: Branch) -> tuple[Sequence[int], Sequence[int]] | None:
    rest = sorted(set(tree.labels) - set(node.labels))
    return (node.labels, rest) if rest else None

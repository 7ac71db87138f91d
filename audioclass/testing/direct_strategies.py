"""The contract of a strategy that fits all labels at once (specification 8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.testing.blobs import blobs, label_task, scores_of
from audioclass.testing.laws import COMMON, Law, require, require_close, require_refusal, unchanged

SIZES = (2, 3, 5)
ENOUGH = 0.95


def _scores(strategy: Any, n_labels: int, order: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores of new examples and their labels, the labels renumbered by `order`."""
    order = np.arange(n_labels) if order is None else order
    X, y = blobs(n_labels)
    new, new_y = blobs(n_labels, seed=1)
    task = label_task(strategy.wants, X, order[y])
    given = [array for array in (task.K, task.X, task.y, task.weights) if array is not None]
    machine = unchanged(given, lambda: strategy.fit(task))
    return scores_of(strategy, machine, X, new), order[new_y]


def posteriors_are_posteriors(strategy: Any) -> None:
    """There is a score for each label, and posteriors are at least 0 and sum to 1."""
    for n_labels in SIZES:
        scores, y = _scores(strategy, n_labels)
        require(scores.shape == (len(y), n_labels), f"scores of shape {scores.shape} for {len(y)} examples")
        P = unchanged([scores], lambda scores=scores: strategy.combine(scores, {}))
        require(P.shape == scores.shape, f"posteriors of shape {P.shape} for scores of {scores.shape}")
        require((P >= 0).all(), f"a posterior of {P.min()}")
        require(np.abs(P.sum(axis=1) - 1).max() < 1e-9, f"a row sums to {P.sum(axis=1).max()}")


def separates_what_is_separate(strategy: Any) -> None:
    """Labels that lie far apart are told apart."""
    for n_labels in SIZES:
        scores, y = _scores(strategy, n_labels)
        share = np.mean(strategy.combine(scores, {}).argmax(axis=1) == y)
        require(share >= ENOUGH, f"{share:.0%} right with {n_labels} labels far apart")


def order_of_labels_does_not_matter(strategy: Any) -> None:
    """Renumbering the labels renumbers the decisions."""
    scores, y = _scores(strategy, 5, np.array([3, 0, 4, 1, 2]))
    share = np.mean(strategy.combine(scores, {}).argmax(axis=1) == y)
    require(share >= ENOUGH, f"{share:.0%} right after renumbering")


def same_seed_same_machine(strategy: Any) -> None:
    """The same task with the same seed gives the same scores to the bit."""
    require(np.array_equal(_scores(strategy, 3)[0], _scores(strategy, 3)[0]), "scores differ the second time")


def rows_do_not_meet(strategy: Any) -> None:
    """A row's posteriors do not depend on the rows beside it."""
    scores, _ = _scores(strategy, 3)
    alone = np.concatenate([strategy.combine(scores[i : i + 1], {}) for i in range(8)])
    require_close(alone, strategy.combine(scores, {})[:8], 1e-9, "rows one by one")


def bad_examples_are_refused(strategy: Any) -> None:
    """One label only, NaN and no examples are a ValueError."""
    X, y = blobs(3)
    spoilt = np.where(np.arange(2) == 1, np.nan, X)
    for what, bad_X, bad_y in (("one label", X, np.zeros_like(y)), ("NaN", spoilt, y), ("no example", X[:0], y[:0])):
        require_refusal(lambda a=bad_X, b=bad_y: strategy.fit(label_task(strategy.wants, a, b)), what)


LAWS: tuple[Law, ...] = (
    *COMMON,
    posteriors_are_posteriors,
    separates_what_is_separate,
    order_of_labels_does_not_matter,
    same_seed_same_machine,
    rows_do_not_meet,
    bad_examples_are_refused,
)

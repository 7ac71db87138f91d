"""The contract of a strategy that fits all labels at once (specification 8)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audioclass.contracts import FitsDirectCombination, HoldsOutOfBag
from audioclass.plain import is_plain
from audioclass.problems import FeatureMachine
from audioclass.testing.blobs import blobs, blobs_with_a_wrong_group, label_task, scores_of
from audioclass.testing.checks import (
    COMMON,
    Check,
    require,
    require_close,
    require_plain_arrays,
    require_refusal,
    skip_unless,
    unchanged,
)

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
        P = unchanged([scores], partial(strategy.combine, scores, {}))
        require(P.shape == scores.shape, f"posteriors of shape {P.shape} for scores of {scores.shape}")
        require((P >= 0).all(), f"a posterior of {P.min()}")
        require(np.abs(P.sum(axis=1) - 1).max() < 1e-9, f"a row sums to {P.sum(axis=1).max()}")


def returns_plain_arrays(strategy: Any) -> None:
    """A machine over features is finite arrays of numbers, named as a model can name them."""
    X, y = blobs(3)
    machine = strategy.fit(label_task(strategy.wants, X, y))
    if strategy.wants == "features":
        require(isinstance(machine, FeatureMachine), f"returned {type(machine).__name__}, not a FeatureMachine")
        require_plain_arrays(machine.arrays)


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


def held_out_scores_never_saw_their_group(strategy: Any) -> None:
    """Scores out of the bag never saw their group: a wrong label that a whole group bears does not show in them."""
    skip_unless(isinstance(strategy, HoldsOutOfBag), "it has no fit_out_of_bag(task, groups)")
    X, y, groups, wrong = blobs_with_a_wrong_group(3)
    _, scores = strategy.fit_out_of_bag(label_task(strategy.wants, X, y), groups)
    require(scores.shape == (len(y), 3), f"scores of shape {scores.shape} for {len(y)} examples of 3 labels")
    known = np.isfinite(scores).all(axis=1)
    require(known.mean() >= ENOUGH, f"{known.mean():.0%} of the examples have scores")
    predicted = np.where(known, scores.argmax(axis=1), -1)
    require((predicted[wrong & known] == 0).all(), f"labels {predicted[wrong]} where all other groups say 0")
    share = np.mean(predicted == y, where=known & ~wrong)
    require(share >= ENOUGH, f"{share:.0%} of the other groups right")


def its_own_numbers_do_no_harm(strategy: Any) -> None:
    """What it fits for its combination is plain, and posteriors with it are no worse than without."""
    skip_unless(isinstance(strategy, FitsDirectCombination), "it has no fit_combination(scores, y)")
    scores, y = _scores(strategy, 3)
    fitted = strategy.fit_combination(scores, y)
    require(is_plain(dict(fitted)), f"fit_combination gave {fitted}, which JSON cannot hold")
    rows = np.arange(len(y))
    P, plain = strategy.combine(scores, fitted), strategy.combine(scores, {})
    require((P >= 0).all() and np.abs(P.sum(axis=1) - 1).max() < 1e-9, "posteriors no longer sum to 1")
    gain = np.mean(np.log(P[rows, y] + 1e-9) - np.log(plain[rows, y] + 1e-9))
    require(gain > -0.1, f"the log-loss rises by {-gain:.3g} on what was fitted")


def _fit(strategy: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return strategy.fit(label_task(strategy.wants, X, y))


def bad_examples_are_refused(strategy: Any) -> None:
    """One label only, NaN and no examples are a ValueError."""
    X, y = blobs(3)
    spoilt = np.where(np.arange(2) == 1, np.nan, X)
    for what, bad_X, bad_y in (("one label", X, np.zeros_like(y)), ("NaN", spoilt, y), ("no example", X[:0], y[:0])):
        require_refusal(partial(_fit, strategy, bad_X, bad_y), what)


CHECKS: tuple[Check, ...] = (
    *COMMON,
    posteriors_are_posteriors,
    returns_plain_arrays,
    separates_what_is_separate,
    order_of_labels_does_not_matter,
    same_seed_same_machine,
    rows_do_not_meet,
    held_out_scores_never_saw_their_group,
    its_own_numbers_do_no_harm,
    bad_examples_are_refused,
)

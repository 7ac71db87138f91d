"""The contract of a binary trainer (specification 3)."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import numpy as np

from audioclass.contracts import Factorises, HoldsOutGroups, HoldsOutOfBag, Loss, ScoresFeatures, StatesLoss
from audioclass.problems import FeatureMachine, Machine
from audioclass.testing.blobs import binary_task, blobs, blobs_with_a_wrong_group, scores_of
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

ENOUGH = 0.95  # of decisions: trainers may be random, and points may lie on the border
EXACT = 1e-6  # relative: what is the same by algebra
SLACK = 1e-2  # of the margin: several times the tolerance of the usual solvers


def _problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, labels = blobs(seed=seed)
    return X, 1 - 2 * labels


def _agreement(trainer: Any, X: np.ndarray, y: np.ndarray, expected: np.ndarray, **changes: Any) -> float:
    new, _ = blobs(seed=1)
    machine = trainer.fit(binary_task(trainer.wants, X, y, **changes))
    return float(np.mean(np.sign(scores_of(trainer, machine, X, new)) == expected))


def says_what_it_wants(trainer: Any) -> None:
    """It wants a Gram matrix, entries of it, or features, and evaluates its own arrays where it wants features."""
    known = ("gram", "entries", "features")
    require(trainer.wants in known, f"wants is {trainer.wants!r}, must be one of {', '.join(known)}")
    if trainer.wants == "features":
        require(isinstance(trainer, ScoresFeatures), "it wants features and has no scores(machine, X)")


def returns_plain_arrays(trainer: Any) -> None:
    """A machine is finite arrays of numbers, its support rows of the task."""
    X, y = _problem()
    machine = trainer.fit(binary_task(trainer.wants, X, y))
    if trainer.wants == "features":
        require(isinstance(machine, FeatureMachine), f"returned {type(machine).__name__}, not a FeatureMachine")
        arrays = machine.arrays
    else:
        require(isinstance(machine, Machine), f"returned {type(machine).__name__}, not a Machine")
        require(np.isin(machine.support, np.arange(len(y))).all(), "support holds rows that are not in the task")
        require(len(machine.support) == len(machine.coefficients), "as many coefficients as support rows are due")
        arrays = {name: getattr(machine, name) for name in ("support", "coefficients", "intercept")}
        if machine.members is not None:
            arrays |= {name: getattr(machine.members, name) for name in ("slopes", "offsets")}
    require_plain_arrays(arrays)


def separates_what_is_separate(trainer: Any) -> None:
    """Scores of new examples are positive on the side of +1 and negative on the other."""
    X, y = _problem()
    _, new = blobs(seed=1)
    share = _agreement(trainer, X, y, 1 - 2 * new)
    require(share >= ENOUGH, f"{share:.0%} right where the two sides lie far apart")


def opposite_sides_give_opposite_scores(trainer: Any) -> None:
    """Swapping +1 and -1 swaps the decisions."""
    X, y = _problem()
    _, new = blobs(seed=1)
    share = _agreement(trainer, X, -y, 2 * new - 1)
    require(share >= ENOUGH, f"{share:.0%} of the decisions were swapped")


def order_does_not_matter(trainer: Any) -> None:
    """Shuffling the examples leaves the decisions as they are."""
    X, y = _problem()
    _, new = blobs(seed=1)
    order = np.random.default_rng(2).permutation(len(y))
    share = _agreement(trainer, X[order], y[order], 1 - 2 * new)
    require(share >= ENOUGH, f"{share:.0%} of the decisions stayed")


def weight_zero_is_absence(trainer: Any) -> None:
    """Examples of weight 0 do not count: wrong labels among them change no decision."""
    X, y = _problem()
    _, new = blobs(seed=1)
    weights = np.ones(len(y))
    weights[: len(y) // 2] = 0
    wrong = np.where(weights == 0, -y, y)
    share = _agreement(trainer, X, wrong, 1 - 2 * new, weights=weights)
    require(share >= ENOUGH, f"{share:.0%} of the decisions ignored examples of weight 0")


def same_seed_same_machine(trainer: Any) -> None:
    """The same task with the same seed gives the same scores to the bit, and is left unchanged."""
    X, y = _problem()
    new, _ = blobs(seed=1)
    first, second = (binary_task(trainer.wants, X, y) for _ in range(2))
    given = [a for a in (first.K, first.X, first.y, first.weights) if a is not None]
    machines = [unchanged(given, partial(trainer.fit, task)) for task in (first, second)]
    once, again = (scores_of(trainer, machine, X, new) for machine in machines)
    require(np.array_equal(once, again), "scores differ the second time")


def two_examples_are_enough(trainer: Any) -> None:
    """One example on each side can be fitted, and each gets the score of its side."""
    X, y = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([1, -1])
    machine = trainer.fit(binary_task(trainer.wants, X, y))
    scores = scores_of(trainer, machine, X, X)
    require(scores[0] >= scores[1], f"scores {scores} for +1 and -1")


def scores_out_of_bag_never_saw_their_group(trainer: Any) -> None:
    """Scores out of the bag never saw their group: a wrong label that a whole group bears does not show in them."""
    skip_unless(isinstance(trainer, HoldsOutOfBag), "it has no fit_out_of_bag(task, groups)")
    X, labels, groups, wrong = blobs_with_a_wrong_group(2)
    _, scores = trainer.fit_out_of_bag(binary_task(trainer.wants, X, 1 - 2 * labels), groups)
    _require_blindness(scores, 1 - 2 * labels, wrong)


def held_out_scores_never_saw_their_group(trainer: Any) -> None:
    """Held-out scores never saw their group: its labels, turned round, change none of its own scores."""
    skip_unless(isinstance(trainer, HoldsOutGroups), "it has no fit_and_hold_out(task, Y, groups)")
    X, labels, groups, wrong = blobs_with_a_wrong_group(2)
    y = 1 - 2 * labels
    Y = np.column_stack([y, np.where(wrong, -y, y)])
    _, scores = trainer.fit_and_hold_out(binary_task(trainer.wants, X, y), Y, groups)
    require(scores.shape == Y.shape, f"scores of shape {scores.shape} for Y of shape {Y.shape}")
    _require_blindness(scores[:, 0], y, wrong)
    require_close(scores[wrong, 0], scores[wrong, 1], EXACT, "scores of a group whose labels were turned round")


def folds_never_saw_what_is_left_out(trainer: Any) -> None:
    """Of one factorisation, machines and held-out scores are those of `fit_and_hold_out`; a fold left out is not seen.

    Its labels, turned round, change neither its own scores nor those of the groups that are held out beside it.
    """
    skip_unless(isinstance(trainer, Factorises), "it has no factorise(task)")
    X, y = _problem()
    groups = np.arange(len(y)) // 3
    without = groups % 4 == 0
    Y = np.column_stack([y, np.where(without, -y, y)])
    task = binary_task(trainer.wants, X, y)
    system = trainer.factorise(task)
    machine, scores = trainer.fit_and_hold_out(task, Y, groups)
    alone, again = (scores_of(trainer, each, X, X) for each in (machine, system.machine(Y)))
    require_close(again, alone, EXACT, "scores of the machine")
    require_close(system.held_out(Y, groups), scores, EXACT, "held-out scores")
    left_out = system.held_out(Y, groups, without)
    require(left_out.shape == Y.shape, f"scores of shape {left_out.shape} for Y of shape {Y.shape}")
    require_close(left_out[:, 0], left_out[:, 1], EXACT, "scores without a fold whose labels were turned round")


def _require_blindness(scores: np.ndarray, y: np.ndarray, wrong: np.ndarray) -> None:
    """Fail the check where scores tell the label of the group that lies with +1 and bears -1."""
    require(scores.shape == y.shape, f"scores of shape {scores.shape} for {len(y)} examples")
    known = np.isfinite(scores)
    require(known.mean() >= ENOUGH, f"{known.mean():.0%} of the examples have a score")
    require((scores[wrong & known] > 0).all(), f"{scores[wrong]} where all other groups say +1 and the labels -1")
    share = np.mean(np.sign(scores) == y, where=known & ~wrong)
    require(share >= ENOUGH, f"{share:.0%} of the other groups right")


def many_are_fitted_as_if_alone(trainer: Any) -> None:
    """Many dichotomies over the same examples are fitted as if each were alone, and the task's own as `fit` does."""
    skip_unless(isinstance(trainer, HoldsOutGroups), "it has no fit_and_hold_out(task, Y, groups)")
    X, y = _problem()
    new, groups = blobs(seed=1)[0], np.arange(len(y)) // 3
    Y = np.column_stack([y, np.where(X[:, 1] > 0, 1, -1)])
    weights = np.linspace(0.5, 2, len(y))

    def fitted(columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
        task = binary_task(trainer.wants, X, y, weights=weights)
        machine, scores = trainer.fit_and_hold_out(task, Y[:, columns], groups)
        return scores_of(trainer, machine, X, new), scores

    together, held_out = fitted([0, 1])
    for k in range(2):
        alone, held_out_alone = fitted([k])
        require_close(alone, together[:, [k]], EXACT, f"scores of dichotomy {k} alone")
        require_close(held_out_alone, held_out[:, [k]], EXACT, f"held-out scores of dichotomy {k} alone")
    single = trainer.fit(binary_task(trainer.wants, X, y, weights=weights))
    require_close(scores_of(trainer, single, X, new), together[:, 0], EXACT, "scores of the machine that `fit` gives")


def machine_is_the_optimum_of_its_loss(trainer: Any) -> None:
    """Where it states the loss of its machine and wants the Gram matrix, the coefficients are those of the optimum."""
    skip_unless(isinstance(trainer, StatesLoss), "it states no loss")
    require(trainer.loss in get_args(Loss), f"loss is {trainer.loss!r}, must be one of {', '.join(get_args(Loss))}")
    skip_unless(trainer.wants == "gram", "it is the optimum where every example is at hand only")
    X, y = _problem()
    task = binary_task(trainer.wants, X, y, C=2.0, weights=np.linspace(0.5, 2, len(y)))
    machine = trainer.fit(task)
    f, costs, alpha = scores_of(trainer, machine, X, X), task.C * task.weights, np.zeros(len(y))
    alpha[machine.support] = machine.coefficients * y[machine.support]
    # α is minus the slope of the loss at each example; where it has a kink, anything between the slopes on both sides
    slack = 1 - y * f
    most = np.where(slack > -SLACK, costs, 0) if trainer.loss == "hinge" else np.where(slack > -SLACK, np.inf, 0)
    least = np.where(slack > SLACK, most, 0)
    if trainer.loss in ("squared_hinge", "squared"):
        least = most = costs * (np.maximum(slack, 0) if trainer.loss == "squared_hinge" else slack)
    outside = np.maximum(least - alpha, alpha - most).max()
    require(bool(outside <= SLACK * max(1.0, costs.max())), f"α is {outside:.3g} off the optimum of {trainer.loss}")


def _fit(trainer: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return trainer.fit(binary_task(trainer.wants, X, y))


def one_side_is_refused(trainer: Any) -> None:
    """Examples of one side only are a ValueError, and so are NaN and no examples at all."""
    X, y = _problem()
    spoilt = np.where(np.arange(2) == 1, np.nan, X)
    for what, bad_X, bad_y in (("one side", X, np.ones_like(y)), ("NaN", spoilt, y), ("no example", X[:0], y[:0])):
        require_refusal(partial(_fit, trainer, bad_X, bad_y), what)


CHECKS: tuple[Check, ...] = (
    *COMMON,
    says_what_it_wants,
    returns_plain_arrays,
    separates_what_is_separate,
    opposite_sides_give_opposite_scores,
    order_does_not_matter,
    weight_zero_is_absence,
    same_seed_same_machine,
    two_examples_are_enough,
    scores_out_of_bag_never_saw_their_group,
    held_out_scores_never_saw_their_group,
    folds_never_saw_what_is_left_out,
    many_are_fitted_as_if_alone,
    machine_is_the_optimum_of_its_loss,
    one_side_is_refused,
)

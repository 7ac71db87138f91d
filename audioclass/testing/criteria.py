"""The contract of a selection criterion (specification 11 and 12)."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, get_args

import numpy as np

from audioclass.contracts import (
    Dependence,
    Fitted,
    HasGradient,
    JoinsMachines,
    JudgesLosses,
    Loss,
    TakesLabels,
    Trainer,
    Wants,
)
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.gaussian_scaled import window_of
from audioclass.kernels.statistics import gram_and_gradients
from audioclass.numerics import softmax
from audioclass.problems import LabelTask, Machine
from audioclass.testing.blobs import blobs
from audioclass.testing.checks import COMMON, Check, require, require_close, skip_unless, unchanged
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.svm import SVM


def judged_trainer(criterion: Any) -> Trainer:
    """One whose machines the criterion judges: with linear slacks where it may."""
    judges = criterion.judges if isinstance(criterion, JudgesLosses) else {"hinge"}
    if "hinge" in judges:
        return SVM(tolerance=1e-6)
    return L2SVM() if "squared_hinge" in judges else LeastSquares() if "squared" in judges else HardMargin()


def _case(criterion: Any, sigma: float = 1.0, C: float = 2.0, spread: float = 1.0) -> SelectionProblem:
    """Two sides that overlap a little, under a Gaussian kernel; examples in groups of two, one of each side."""
    X, labels = blobs(n_each=12, spread=spread)
    K, gradients = gram_and_gradients(Gaussian(sigma), X)
    groups = np.arange(len(X)) // 2
    return SelectionProblem(
        K,
        1 - 2 * labels,
        C,
        gradients=gradients,
        parameters={"sigma": sigma},
        window=window_of(Gaussian(sigma), X.shape[1]),
        groups=groups,
        folds=groups % 4,
        learner=judged_trainer(criterion),
    )


def value_is_a_number(criterion: Any) -> None:
    """Its value is one finite number, and it says whether lower or higher is better."""
    require(criterion.better in ("lower", "higher"), f"better is {criterion.better!r}, must be 'lower' or 'higher'")
    value = criterion.value(_case(criterion))
    require(np.ndim(value) == 0 and np.isfinite(value), f"value {value!r}")


def order_does_not_matter(criterion: Any) -> None:
    """Shuffling the examples changes nothing."""
    problem = _case(criterion)
    order = np.random.default_rng(1).permutation(len(problem.y))
    shuffled = dataclasses.replace(
        problem,
        K=problem.K[np.ix_(order, order)],
        gradients={name: G[np.ix_(order, order)] for name, G in problem.gradients.items()},
        **{name: getattr(problem, name)[order] for name in ("y", "weights", "groups", "folds")},
    )
    require_close(criterion.value(shuffled), criterion.value(problem), 1e-6, "value of shuffled examples")


def sides_are_alike(criterion: Any) -> None:
    """Swapping +1 and -1 changes nothing."""
    problem = _case(criterion)
    swapped = dataclasses.replace(problem, y=-problem.y)
    require_close(criterion.value(swapped), criterion.value(problem), 1e-6, "value of swapped sides")


def truth_is_better_than_chance(criterion: Any) -> None:
    """A kernel that tells the sides apart scores better than one whose labels are shuffled."""
    problem = _case(criterion, spread=0.5)
    chance = dataclasses.replace(problem, y=np.random.default_rng(3).permutation(problem.y))
    sign = 1 if criterion.better == "higher" else -1
    good, bad = criterion.value(problem), criterion.value(chance)
    require(sign * good > sign * bad, f"{good:.4g} for the true labels, {bad:.4g} for shuffled ones")


def gradient_agrees_with_differences(criterion: Any) -> None:
    """Each derivative agrees with the central difference of the value."""
    skip_unless(isinstance(criterion, HasGradient), "it has no gradient(problem)")
    step = 1e-4
    gradient = criterion.gradient(_case(criterion))
    ways = {
        "sigma": (_case(criterion, sigma=1 + step), _case(criterion, sigma=1 - step)),
        "C": (_case(criterion, C=2 + step), _case(criterion, C=2 - step)),
    }
    require("sigma" in gradient, f"derivatives by {sorted(gradient)}, one by each kernel parameter is due")
    for name, derivative in gradient.items():
        difference = (criterion.value(ways[name][0]) - criterion.value(ways[name][1])) / (2 * step)
        require(
            abs(derivative - difference) <= 1e-4 * max(1.0, abs(difference)), f"by {name}: {derivative}, {difference}"
        )


def depends_on_what_it_states(criterion: Any) -> None:
    """Of C, folds and groups, its value changes with those that `depends_on` names and with no other."""
    stated = criterion.depends_on
    require(isinstance(stated, frozenset), f"depends_on is {stated!r}, must be a frozenset")
    require(stated <= set(get_args(Dependence)), f"depends_on names {sorted(stated)}, may name {get_args(Dependence)}")
    for name in get_args(Dependence):
        rows = [[criterion.value(problem) for problem in problems] for problems in _varied(criterion, name)]
        changes = any(not np.allclose(row, row[0], rtol=1e-9, atol=1e-12, equal_nan=True) for row in rows)
        does = "changes" if changes else "does not change"
        require(changes == (name in stated), f"the value {does} with {name}, depends_on names {sorted(stated)}")


def _varied(criterion: Any, name: Dependence) -> list[list[SelectionProblem]]:
    """Problems, under a few kernels, that differ in C, in their folds or in their groups alone."""
    cases = [_case(criterion, sigma, spread=spread) for sigma in (0.3, 1.0, 3.0) for spread in (1.0, 2.0)]
    indices = np.arange(len(cases[0].y))
    values: dict[Dependence, list[Any]] = {
        "C": [1e-2, 1.0, 1e2],
        "folds": [indices // 2 % folds for folds in (4, 3, 2)],
        "groups": [indices // size for size in (2, 6, 12)],
    }
    return [[dataclasses.replace(case, **{name: value}) for value in values[name]] for case in cases]


def judges_known_losses(criterion: Any) -> None:
    """The losses of the machines that it judges, where it is limited to some, are known ones."""
    skip_unless(isinstance(criterion, JudgesLosses), "it judges any machine, or needs none")
    losses = criterion.judges
    known = isinstance(losses, frozenset) and losses and losses <= set(get_args(Loss))
    require(bool(known), f"judges is {losses!r}, must be a frozenset of some of {get_args(Loss)}")


def names_of_labels_do_not_matter(criterion: Any) -> None:
    """Where it takes labels, their names do not matter."""
    skip_unless(isinstance(criterion, TakesLabels) and criterion.takes_labels, "it is of two sides")
    X, labels = blobs(3, n_each=8)
    K = gram_and_gradients(Gaussian(), X)[0]
    problem = SelectionProblem(K, labels, 2.0, folds=np.arange(len(X)) % 4, learner=_NearestMean(), hold_out=_in_sample)
    renamed = dataclasses.replace(problem, y=np.array([7, -3, 40])[labels])
    require_close(criterion.value(renamed), criterion.value(problem), 1e-4, "value of renamed labels")


def joined_machines_are_judged_by_labels(criterion: Any) -> None:
    """Where it joins machines of each label against the rest, names of labels do not matter, and true ones are better.

    The problem has labels, the trainer of these machines, and their held-out scores in closed form.
    """
    skip_unless(isinstance(criterion, JoinsMachines), "it judges machines one by one")
    known = isinstance(criterion.joins, frozenset) and criterion.joins == {"squared"}
    require(known, f"joins is {criterion.joins!r}, must be a frozenset of 'squared', whose machines have a closed form")
    X, labels = blobs(3, n_each=8)
    K = gram_and_gradients(Gaussian(), X)[0]
    problem = SelectionProblem(K, labels, 2.0, learner=LeastSquares())
    renamed = dataclasses.replace(problem, y=np.array([7, -3, 40])[labels])
    require_close(criterion.value(renamed), criterion.value(problem), 1e-6, "value of renamed labels")
    chance = dataclasses.replace(problem, y=np.random.default_rng(3).permutation(labels))
    sign = 1 if criterion.better == "higher" else -1
    good, bad = criterion.value(problem), criterion.value(chance)
    require(sign * good > sign * bad, f"{good:.4g} for the true labels, {bad:.4g} for shuffled ones")


@dataclasses.dataclass(frozen=True)
class _NearestMean:
    """All labels at once: scores x·m_k − m_k·m_k/2 in the space of the kernel."""

    name: ClassVar[str] = "nearest_mean"
    wants: ClassVar[Wants] = "gram"

    def fit(self, task: LabelTask) -> Machine:
        shares = np.eye(task.n_labels)[task.y] * task.weights[:, None]
        shares /= shares.sum(axis=0)
        K = np.asarray(task.K)
        return Machine(np.arange(len(task.y)), shares, -np.einsum("ik,ij,jk->k", shares, K, shares) / 2)

    def combine(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        return softmax(scores)


def _in_sample(problem: SelectionProblem) -> np.ndarray:
    return problem.scores


def case_is_left_alone(criterion: Any) -> None:
    """It does not change the problem, and gives the same twice."""
    problem = _case(criterion)
    first = unchanged([problem.K, problem.y, *problem.gradients.values()], lambda: criterion.value(problem))
    require(criterion.value(problem) == first, "another value the second time")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    value_is_a_number,
    order_does_not_matter,
    sides_are_alike,
    truth_is_better_than_chance,
    gradient_agrees_with_differences,
    depends_on_what_it_states,
    judges_known_losses,
    names_of_labels_do_not_matter,
    joined_machines_are_judged_by_labels,
    case_is_left_alone,
)

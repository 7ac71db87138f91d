"""The contract of a selection criterion (specification 11 and 12)."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import numpy as np

from audioclass.contracts import Dependence, HasGradient
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram_and_gradients
from audioclass.testing.blobs import blobs
from audioclass.testing.checks import COMMON, Check, require, require_close, skip_unless, unchanged
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.svm import SVM


def _case(sigma: float = 1.0, C: float = 2.0, spread: float = 1.0) -> SelectionProblem:
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
        groups=groups,
        folds=groups % 4,
        svm=SVM(tolerance=1e-6).fit,
        l2_svm=L2SVM().fit,
    )


def value_is_a_number(criterion: Any) -> None:
    """Its value is one finite number, and it says whether lower or higher is better."""
    require(criterion.better in ("lower", "higher"), f"better is {criterion.better!r}, must be 'lower' or 'higher'")
    value = criterion.value(_case())
    require(np.ndim(value) == 0 and np.isfinite(value), f"value {value!r}")


def order_does_not_matter(criterion: Any) -> None:
    """Shuffling the examples changes nothing."""
    problem = _case()
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
    problem = _case()
    swapped = dataclasses.replace(problem, y=-problem.y)
    require_close(criterion.value(swapped), criterion.value(problem), 1e-6, "value of swapped sides")


def truth_is_better_than_chance(criterion: Any) -> None:
    """A kernel that tells the sides apart scores better than one whose labels are shuffled."""
    problem = _case(spread=0.5)
    chance = dataclasses.replace(problem, y=np.random.default_rng(3).permutation(problem.y))
    sign = 1 if criterion.better == "higher" else -1
    good, bad = criterion.value(problem), criterion.value(chance)
    require(sign * good > sign * bad, f"{good:.4g} for the true labels, {bad:.4g} for shuffled ones")


def gradient_agrees_with_differences(criterion: Any) -> None:
    """Each derivative agrees with the central difference of the value."""
    skip_unless(isinstance(criterion, HasGradient), "it has no gradient(problem)")
    step = 1e-4
    gradient = criterion.gradient(_case())
    ways = {
        "sigma": (_case(sigma=1 + step), _case(sigma=1 - step)),
        "C": (_case(C=2 + step), _case(C=2 - step)),
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
        rows = [[criterion.value(problem) for problem in problems] for problems in _varied(name)]
        changes = any(not np.allclose(row, row[0], rtol=1e-9, atol=1e-12, equal_nan=True) for row in rows)
        does = "changes" if changes else "does not change"
        require(changes == (name in stated), f"the value {does} with {name}, depends_on names {sorted(stated)}")


def _varied(name: Dependence) -> list[list[SelectionProblem]]:
    """Problems, under a few kernels, that differ in C, in their folds or in their groups alone."""
    cases = [_case(sigma, spread=spread) for sigma in (0.3, 1.0, 3.0) for spread in (1.0, 2.0)]
    indices = np.arange(len(cases[0].y))
    values: dict[Dependence, list[Any]] = {
        "C": [1e-2, 1.0, 1e2],
        "folds": [indices // 2 % folds for folds in (4, 3, 2)],
        "groups": [indices // size for size in (2, 6, 12)],
    }
    return [[dataclasses.replace(case, **{name: value}) for value in values[name]] for case in cases]


def case_is_left_alone(criterion: Any) -> None:
    """It does not change the problem, and gives the same twice."""
    problem = _case()
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
    case_is_left_alone,
)

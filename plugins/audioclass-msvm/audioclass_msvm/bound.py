"""The radius-margin bound on the leave-one-out errors of a machine without slacks (specification 9).

The machine left out of one example p errs towards label n only where α_pn ≥ 1/(K D²); as Σα = Σ‖w_k‖², at most
K D² Σ‖w_k‖² examples can do so. D is the diameter of the support, K a constant of the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audioclass.criteria.radius import smallest_ball
from audioclass_msvm.quadratic import Quadratic
from audioclass_msvm.solver import Problem, Solution

POSITIVE = 1e-6  # of the largest α: less is rounding
ENOUGH = 1 - 1e-3  # of a margin that should be 1
PROBLEM_4 = 2.0  # its value whatever the labels: k and y_i get at least 1 each, and one example of k gives no more
SLACK = 1e-9  # added to caps, so that the only flow they allow lies inside them


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound and its parts; matrices are (n, Q) and (Q, Q), NaN where nothing is defined.

    `value` counts errors; `constant` is K, `squared_diameter` D², `problem_3` the K_ik of every α_ik > 0, `deltas` what
    the least margin of two labels has beyond 1 and `margins` its distance in the space of the kernel.
    """

    value: float
    constant: float
    squared_diameter: float
    problem_3: np.ndarray
    deltas: np.ndarray
    margins: np.ndarray


def radius_margin_bound(problem: Problem, solution: Solution) -> Bound:
    """The bound; a ValueError where the machine has slacks or a coefficient at C, for then it does not hold.

    Where the Gram matrix is singular, α is not unique and K depends on the α that was found.
    """
    _check_hypotheses(problem, solution)
    positive = solution.alpha > POSITIVE * solution.alpha.max()
    values = problem_3(solution.alpha, problem.y, positive)
    support = np.flatnonzero(positive.any(axis=1))
    constant = float(np.sqrt(PROBLEM_4 * np.nanmax(values)))
    squared_diameter = 4 * smallest_ball(problem.K[np.ix_(support, support)]).squared_radius
    deltas, lengths = _deltas(problem, solution), _lengths(solution)
    margins = (1 + deltas) / lengths
    pairs = np.triu_indices(problem.n_labels, 1)
    total = float((((1 + deltas) / margins) ** 2)[pairs].sum())
    value = constant * squared_diameter / problem.n_labels * total
    return Bound(value, constant, squared_diameter, values, deltas, margins)


def problem_3(alpha: np.ndarray, y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """(n, Q): K_ik = min Σ_l (Σ_j λ_jl)² for the α_ik > 0 that are asked for, NaN elsewhere; α must be balanced.

    Only flows between labels count, Σ λ_jl over the examples j of a label: whatever lies between 0 and the sum of the
    caps can be had. With a_l = α_il/α_ik out of y_i, each label that gives a_l straight back makes a² + Σ a_l² of it,
    the least there is; where a cap forbids that, a program over the flows says how much more.
    """
    of_label = np.eye(alpha.shape[1])[y]
    flows = of_label.T @ alpha
    values = np.full(alpha.shape, np.nan)
    for i in np.flatnonzero(asked.any(axis=1)):
        caps = np.maximum(flows - np.outer(of_label[i], alpha[i]), 0)
        values[i, asked[i]] = _least_flow(alpha[i], caps, int(y[i])) / alpha[i, asked[i]] ** 2
    return values


def _least_flow(given: np.ndarray, caps: np.ndarray, label: int) -> float:
    """min Σ_l (what arrives at l)² over balanced flows that hold `given` from `label` and the rest below `caps`."""
    total = float(given.sum())
    given, caps = given / total, np.minimum(caps / total, 1.0)  # no arc need carry more than all that is given
    closed = 1 + float(given @ given)
    if (caps[:, label] >= given * (1 - SLACK)).all():
        return total**2 * closed
    start, end = np.nonzero(caps)
    labels = np.eye(len(given))
    arriving, leaving = labels[:, end], labels[:, start]
    surplus = labels[label] - given
    program = Quadratic(
        2 * arriving.T @ arriving,
        2 * arriving.T @ given,
        (leaving - arriving)[:-1],
        -surplus[:-1],
        caps[start, end] * (1 + SLACK) + SLACK,
    )
    return total**2 * max(program.value(program.minimum()) + float(given @ given), closed)


def _check_hypotheses(problem: Problem, solution: Solution) -> None:
    """Every margin is at least 1 and no coefficient is held back by C: (E002-2)."""
    boxes = problem.boxes()
    of_label = np.eye(problem.n_labels, dtype=bool)[problem.y]
    held = np.where(of_label, solution.beta >= boxes.upper * (1 - 1e-9), solution.beta <= boxes.lower * (1 - 1e-9))
    if held.any():
        raise ValueError(
            f"{held.any(axis=1).sum()} examples have a coefficient at C, the bound needs a machine without"
        )
    least = float(problem.margins(solution.scores).min())
    if least < ENOUGH:
        raise ValueError(f"least margin {least:.4g} must be 1, the bound needs a machine without slacks")


def _deltas(problem: Problem, solution: Solution) -> np.ndarray:
    """δ_kl: the least margin between examples of labels k and l, less 1."""
    margins = problem.margins(solution.scores)
    least = np.array([margins[problem.y == label].min(axis=0) for label in range(problem.n_labels)])
    deltas = np.minimum(least, least.T) - 1
    np.fill_diagonal(deltas, np.nan)
    return np.asarray(deltas)


def _lengths(solution: Solution) -> np.ndarray:
    """‖w_k − w_l‖."""
    G = solution.beta.T @ (solution.scores - solution.bias)
    squared = G.diagonal()[:, None] + G.diagonal() - G - G.T
    return np.asarray(np.sqrt(np.maximum(squared, 0)))

"""Beta calibration (Kull, Silva Filho and Flach 2017): log-odds a·ln s − b·ln(1−s) + c of a squashed score s."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from audioclass.calibrators.examples import check_examples, has_order, number, warn_of_order
from audioclass.contracts import Calibrator
from audioclass.hookspecs import hookimpl
from audioclass.numerics import (
    LogisticProblems,
    constant_offset,
    fit_logistic,
    logistic_loss,
    regularised_targets,
    sigmoid,
)
from audioclass.parameters import component

if TYPE_CHECKING:
    from audioclass.contracts import Fitted


@component
class Beta:
    """A sigmoid with one slope for low scores (a) and one for high scores (b); Platt's where they are equal.

    The score f becomes s = 1/(1+exp(−f/scale)), scale the root mean square of the scores: the two slopes meet at 0, and
    a factor on all scores changes nothing. Labels count as Platt's targets, so that separated scores and scores of one
    side are legal. Neither slope is negative: where the best would be, it is 0 and the other is fitted again; where
    both are 0 although the scores vary, a warning is given and P is the mean target.
    """

    name: ClassVar[str] = "beta"

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """`scale`, and `a`, `b` ≥ 0 and `c`."""
        scores, y, weights = check_examples(scores, y, weights)
        scale = float(np.sqrt(np.average(scores**2, weights=weights))) or 1.0
        problem = LogisticProblems(_columns(scores, scale), y > 0, weights, np.zeros(1, dtype=np.intp))
        a, b, c = _rising_fit(problem)
        if a == b == 0 and has_order(scores, y, weights):
            warn_of_order("beta")
        return {"scale": scale, "a": a, "b": b, "c": c}

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """1/(1+exp(−a ln s + b ln(1−s) − c))."""
        low, high = _columns(np.asarray(scores), number(fitted, "scale"))
        return sigmoid(number(fitted, "a") * low + number(fitted, "b") * high + number(fitted, "c"))


def _columns(scores: np.ndarray, scale: float) -> np.ndarray:
    """ln s and −ln(1−s), (2, n), exact for any score: −ln(1+e^−u) and ln(1+e^u), u = score/scale."""
    u = scores / scale
    tail = np.log1p(np.exp(-np.abs(u)))
    return np.stack([np.minimum(u, 0) - tail, np.maximum(u, 0) + tail])


def _rising_fit(problem: LogisticProblems) -> tuple[float, float, float]:
    """a, b and c that are best with a, b ≥ 0: both slopes free, else the better one alone, else none."""
    targets = regularised_targets(problem)
    for choices in (((0, 1),), ((0,), (1,))):
        fits = [_fit_columns(problem, targets, columns) for columns in choices]
        rising = [fit for fit in fits if min(fit[1][:2]) >= 0]
        if rising:
            return min(rising)[1]
    return 0.0, 0.0, float(-constant_offset(problem, targets)[0])


def _fit_columns(
    problem: LogisticProblems, targets: np.ndarray, columns: tuple[int, ...]
) -> tuple[float, tuple[float, float, float]]:
    """The loss and a, b, c with only these slopes free."""
    part = LogisticProblems(problem.columns[list(columns)], problem.positive, problem.weights, problem.starts)
    fitted = -fit_logistic(part, targets)[:, 0]
    abc = np.zeros(3)
    abc[[*columns, 2]] = fitted
    z = abc[:2] @ problem.columns + abc[2]
    a, b, c = abc.tolist()
    return logistic_loss(z, targets, problem.weights), (a, b, c)


@hookimpl
def register_calibrators() -> list[type[Calibrator]]:
    """Beta calibration."""
    return [Beta]

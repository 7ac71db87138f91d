"""Two Gaussian densities of one variance (Hastie and Tibshirani): P = 1/(1+exp(Af)) (specification 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from audioclass.calibrators.examples import check_examples, number, side_weights, warn_of_order
from audioclass.contracts import Calibrator
from audioclass.hookspecs import hookimpl
from audioclass.numerics import sigmoid
from audioclass.parameters import component

if TYPE_CHECKING:
    from audioclass.contracts import Fitted

STEEPEST = 1e300  # a slope that JSON can hold and that makes a step of any score


@component
class GaussianModel:
    """A sigmoid through ½ at score 0, as steep as two Gaussians of one variance say; two means and a variance are all.

    Its edges: no variance within the sides, or no more weight than two examples, makes a hard step (0, ½, 1); equal
    means make ½ everywhere, and so do means in the wrong order, with a warning; scores of one side only are refused.
    """

    name: ClassVar[str] = "gaussian"

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """`slope` A = −(μ₊−μ₋)/s², s² = [Σ₊w(f−μ₊)² + Σ₋w(f−μ₋)²]/(Σw−2)."""
        scores, y, weights = check_examples(scores, y, weights)
        n_positive, n_negative = side_weights(y, weights)
        if not n_positive or not n_negative:
            raise ValueError(f"scores of weight {n_positive:g} at +1 and {n_negative:g} at -1, must have some of both")
        gap, scatter = _gap_and_scatter(scores - scores[0], y > 0, weights)
        if gap < 0:
            warn_of_order("gaussian")
        return {"slope": -_steepness(max(gap, 0.0), scatter, n_positive + n_negative - 2)}

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """1/(1+exp(Af))."""
        with np.errstate(over="ignore"):  # a step in all but name
            return sigmoid(-number(fitted, "slope") * np.asarray(scores))


def _gap_and_scatter(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """μ₊−μ₋, and the weighted squares around the means of the sides."""
    above, below = (np.average(scores[side], weights=weights[side]) for side in (positive, ~positive))
    return float(above - below), float(weights @ (scores - np.where(positive, above, below)) ** 2)


def _steepness(gap: float, scatter: float, freedom: float) -> float:
    """gap / (scatter / freedom), at most 1e300; a scatter of rounding alone counts as none."""
    if gap == 0:
        return 0.0
    if freedom <= 0 or scatter <= 1e-24 * gap**2 * freedom:
        return STEEPEST
    return min(gap / scatter * freedom, STEEPEST)


@hookimpl
def register_calibrators() -> list[type[Calibrator]]:
    """The Gaussian model."""
    return [GaussianModel]

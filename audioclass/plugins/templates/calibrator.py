"""Logistic regression on the score, its slope kept from falling below 0."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Calibrator, Fitted


@component
class ExampleName:
    """P(+1 | score) = 1 / (1 + exp(−slope · score − offset)), with a small penalty on both."""

    name: ClassVar[str] = "example_name"
    penalty: float = parameter(0.1, above=0.0, scale="log", search=(1e-4, 10.0), help="keeps the slope finite")

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        if not len(scores) or not np.isfinite(scores).all():
            raise ValueError("scores must be finite numbers, at least one")

        def loss(line: np.ndarray) -> tuple[float, np.ndarray]:
            margins = y * (line[0] * scores + line[1])
            value = weights @ np.logaddexp(0, -margins) + self.penalty * (line @ line)
            pull = -weights * y * expit(-margins)
            return float(value), np.array([pull @ scores, pull.sum()]) + 2 * self.penalty * line

        optimum = minimize(loss, np.zeros(2), jac=True, bounds=[(0, None), (None, None)], options={"ftol": 1e-14})
        return {"slope": float(optimum.x[0]), "offset": float(optimum.x[1])}

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        return np.asarray(expit(np.multiply(fitted["slope"], scores) + np.asarray(fitted["offset"])))


@hookimpl
def register_calibrators() -> list[type[Calibrator]]:
    return [ExampleName]

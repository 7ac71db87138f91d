"""A power of the posteriors: z = factor · log P, with a small penalty that keeps the factor finite."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Fitted, LabelLink
from audioclass.numerics import log_loss, softmax
from audioclass.problems import LabelEvidence


@component
class ExampleName:
    """Posteriors to the power of lowest held-out log-loss; `evidence.scores` are the labels' own, where it has them."""

    name: ClassVar[str] = "example_name"
    penalty: float = parameter(1e-4, above=0.0, scale="log", search=(1e-6, 1.0), help="keeps the factor finite")

    def fit(self, evidence: LabelEvidence, y: np.ndarray, weights: np.ndarray) -> Fitted:
        def loss(factor: float) -> float:
            P = softmax(self.logits(evidence, {"factor": factor}))
            return log_loss(P, y, weights) + self.penalty * factor**2

        return {"factor": float(minimize_scalar(loss, bounds=(0, 100), method="bounded").x)}

    def logits(self, evidence: LabelEvidence, fitted: Fitted) -> np.ndarray:
        return np.asarray(np.multiply(fitted["factor"], np.log(np.maximum(evidence.P, 1e-6))))


@hookimpl
def register_links() -> list[type[LabelLink]]:
    return [ExampleName]

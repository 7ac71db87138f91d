"""AdaBoost with stumps (specification 14.3).

w_1 = 1/n; h_t has the least weighted error ε_t; α_t = ½ln((1-ε_t)/ε_t); w ← w·exp(-α_t y h_t)/Z_t with Z_t the sum that
makes it 1, which is 2√(ε_t(1-ε_t)); the score is f = Σα_t h_t. Weights of the examples take the place of 1/n, scaled to
the same sum.
"""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Trainer, Wants
from audioclass.problems import FeatureMachine, Task
from audioclass_ensembles.labelled import Dataset
from audioclass_ensembles.rounds import TINY, Round, boost
from audioclass_ensembles.stumps import SortedFeatures, Stump


@component
class AdaBoost:
    """Stumps that each attend to what those before them got wrong; where none is left, the majority decides."""

    name: ClassVar[str] = "adaboost"
    wants: ClassVar[Wants] = "features"

    n_rounds: int = parameter(200, low=1, high=100_000, help="how many stumps at most")

    def fit(self, task: Task) -> FeatureMachine:
        """The stumps and what their votes weigh."""
        examples = Dataset.of(task)
        y = 2 * examples.y - 1
        rounds = boost_stumps(examples.X, y, examples.weights, self.n_rounds)
        if not rounds:
            warnings.warn("adaboost: no stump is better than chance, every score is the majority's", stacklevel=2)
        return FeatureMachine(_arrays(rounds, 1 if y.sum() >= 0 else -1))

    def scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """f = Σα_t h_t(x); where it is 0, barely on the side of the majority."""
        arrays = machine.arrays
        sides = np.where(X[:, arrays["features"]] > arrays["thresholds"], arrays["sides"], -arrays["sides"])
        f = sides @ arrays["alphas"]
        return np.where(f == 0, TINY * arrays["majority"], f)


def boost_stumps(X: np.ndarray, y: np.ndarray, weights: np.ndarray, n_rounds: int) -> list[Round[Stump]]:
    """The rounds of a dichotomy, y in ±1."""
    features = SortedFeatures(X)

    def fit(w: np.ndarray) -> tuple[Stump, np.ndarray]:
        stump = features.best(y, w)
        return stump, stump.of(X)

    return list(boost(y, weights, 2, n_rounds, fit))


def _arrays(rounds: list[Round[Stump]], majority: int) -> dict[str, np.ndarray]:
    stumps = [each.member for each in rounds]
    return {
        "features": np.array([stump.feature for stump in stumps], np.int32),
        "thresholds": np.array([stump.threshold for stump in stumps], np.float64),
        "sides": np.array([stump.side for stump in stumps], np.int32),
        "alphas": np.array([each.alpha for each in rounds], np.float64),
        "majority": np.array(majority),
    }


@hookimpl
def register_trainers() -> list[type[Trainer]]:
    return [AdaBoost]

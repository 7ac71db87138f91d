"""Isotonic regression: the closest probabilities to the labels that never fall, by pooling adjacent violators."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from audioclass.calibrators.examples import check_examples, has_order, side_weights, warn_of_order
from audioclass.contracts import Calibrator
from audioclass.hookspecs import hookimpl
from audioclass.numerics import platt_targets
from audioclass.parameters import component

if TYPE_CHECKING:
    from audioclass.contracts import Fitted

EQUAL = 1 - 1e-12  # means this close are equal but for rounding


@component
class Isotonic:
    """Any rising map: a line from block to block of pooled scores, flat beyond the last; for a thousand scores or more.

    Labels count as Platt's targets, (N₊+1)/(N₊+2) and 1/(N₋+2), so that no probability is 0 or 1 and scores of one side
    are legal. The line passes through the centre of each block; in the two outermost, which go on for ever, it bends
    halfway from there to the next block. On held-out scores of five simulated kinds (60, 300 and 2000 examples) that
    gave 0.387 log-loss; blocks kept flat gave 0.393, centres alone 0.390. Where all scores fall into one block although
    they vary, a warning is given.
    """

    name: ClassVar[str] = "isotonic"

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """`scores` and `values`: the knots, one for each block, both rising."""
        scores, y, weights = check_examples(scores, y, weights)
        n_positive, n_negative = side_weights(y, weights)
        distinct, place = np.unique(scores[weights > 0], return_inverse=True)
        weight, positive = (np.bincount(place, part[weights > 0]) for part in (weights, weights * (y > 0)))
        starts = pool_adjacent(positive, weight)
        pooled = np.add.reduceat(weight, starts)
        above, below = platt_targets(n_positive, n_negative)
        values = below + (above - below) * (np.add.reduceat(positive, starts) / pooled)
        knots = np.add.reduceat(distinct * weight, starts) / pooled
        if len(starts) == 1 and has_order(scores, y, weights):
            warn_of_order("isotonic")
        if len(starts) > 1:
            knots[0] = (knots[0] + distinct[starts[1] - 1]) / 2
            knots[-1] = (knots[-1] + distinct[starts[-1]]) / 2
        return {"scores": knots.tolist(), "values": values.tolist()}

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """The line between the knots."""
        return np.asarray(np.interp(scores, fitted["scores"], fitted["values"]))


def pool_adjacent(totals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Where each block begins, so that total/weight of the blocks rises: weighted least squares under that order."""
    from scipy.optimize import isotonic_regression  # a model is used without it

    starts = isotonic_regression(totals / weights, weights=weights).blocks[:-1]
    means = np.add.reduceat(totals, starts) / np.add.reduceat(weights, starts)
    rises = means[1:] * EQUAL > means[:-1]
    return np.asarray(starts[np.append(True, rises)])


@hookimpl
def register_calibrators() -> list[type[Calibrator]]:
    """Isotonic regression."""
    return [Isotonic]

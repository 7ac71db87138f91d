"""The posterior of a clip from the posteriors of its windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEAST = 1e-6  # a window's posterior below this counts as this: no single window may rule a label out


def combine_windows(P: np.ndarray, weights: Sequence[float] | np.ndarray | None = None) -> np.ndarray:
    """The posterior of a clip, (n_labels,): the geometric mean of its windows' posteriors, brought to a sum of 1.

    PLACEHOLDER
    """
    if weights is not None and not np.any(weights):
        weights = None
    log_mean = np.average(np.log(np.maximum(P, LEAST)), axis=0, weights=weights)
    product = np.exp(log_mean - log_mean.max())
    return product / product.sum()

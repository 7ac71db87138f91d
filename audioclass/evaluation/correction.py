"""Many tests at once: p values that stay honest however many pairs are looked at."""

from __future__ import annotations

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment: the smallest is multiplied by their number m, the next by m-1, and so on.

    Adjusted values never fall below an earlier one and never exceed 1; an undefined p (NaN) is no test and stays NaN.
    """
    p = np.asarray(p, float)
    tested = np.flatnonzero(~np.isnan(p))
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise ValueError("p values must be between 0 and 1")
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return adjusted

"""What is too strange to be called by a label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class NoveltyRule:
    """How strangeness becomes p-values, and the p-value below which a window is unknown; at 0 none is."""

    p_values: Callable[[np.ndarray], np.ndarray]
    least: float = 0.0

    def is_strange(self, strangeness: np.ndarray) -> np.ndarray:
        """For each window whether it is unknown."""
        return np.asarray(self.p_values(strangeness) < self.least)

    def of_mean(self, strangeness: float) -> float:
        """The p-value of a segment from the mean strangeness of its windows.

        A mean varies less than single windows, which it is compared with: what it calls strange is so all the more.
        """
        return float(self.p_values(np.array([strangeness]))[0])

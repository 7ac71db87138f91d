"""Statistics over the frames of a window: moments, extremes, percentiles, slope and change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

MOMENTS = ("mean", "deviation", "skewness", "kurtosis")


def _slope(windows: np.ndarray) -> np.ndarray:
    """Of the regression line over the window, from its first frame to its last; 0 for one frame."""
    time = (
        np.linspace(-0.5, 0.5, windows.shape[1], dtype=np.float32) if windows.shape[1] > 1 else np.zeros(1, np.float32)
    )
    return np.asarray(np.einsum("t,wtd->wd", time / max(float(time @ time), 1e-12), windows))


def _change(windows: np.ndarray) -> np.ndarray:
    """Mean absolute difference of neighbouring frames; 0 for one frame."""
    if windows.shape[1] < 2:
        return np.zeros((windows.shape[0], windows.shape[2]), windows.dtype)
    return np.asarray(np.abs(windows[:, 1:] - windows[:, :-1]).mean(axis=1))


OTHERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "minimum": lambda windows: windows.min(axis=1),
    "maximum": lambda windows: windows.max(axis=1),
    "slope": _slope,
    "change": _change,
}


@component
class Statistics:
    """Chosen statistics of each descriptor over a window, of its values or of their first or second derivative."""

    name: ClassVar[str] = "statistics"
    values: tuple[str, ...] = parameter(("mean", "deviation"), choices=(*MOMENTS, *OTHERS), help="which statistics")
    percentiles: tuple[float, ...] = parameter((), low=0.0, high=100.0, help="percentiles, in percent")
    derivative: int = parameter(0, low=0, high=2, help="order of the derivative they are of")
    depth: float = parameter(0.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each column with the name of the statistic: `centroid_mean`, `centroid_d1_deviation`, `mel_3_p50`."""
        names = [*self.values, *(f"p{percent:g}" for percent in self.percentiles)]
        prefix = f"d{self.derivative}_" if self.derivative else ""
        return tracks.suffixed(columns, [prefix + name for name in names])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Kurtosis as log(1 + m4/m2²); change is the mean absolute difference of neighbouring frames."""
        windows = tracks.level_free(windows, self.depth)
        for _ in range(self.derivative):
            windows = tracks.derivative(windows)
        order = max((MOMENTS.index(value) + 1 for value in self.values if value in MOMENTS), default=0)
        known = dict(zip(MOMENTS, tracks.moments(windows, order), strict=False)) if order else {}
        pooled = [known[value] if value in known else OTHERS[value](windows) for value in self.values]
        pooled += tracks.percentiles(windows, self.percentiles) if self.percentiles else []
        return np.concatenate(pooled, axis=1) if pooled else np.empty((len(windows), 0), windows.dtype)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Statistics."""
    return [Statistics]

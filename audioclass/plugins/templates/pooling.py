"""Range: how far each descriptor moves within a window."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Pooling


@component
class ExampleName:
    """Distance between a low and a high percentile of each descriptor over the frames of a window."""

    name: ClassVar[str] = "example_name"
    margin: float = parameter(5.0, low=0.0, below=50.0, help="percent of the frames left out at each end")

    def columns(self, columns: Sequence[str]) -> list[str]:
        return [f"{column}_example_name" for column in columns]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        low, high = np.percentile(windows, [self.margin, 100 - self.margin], axis=1)
        return np.asarray(high - low)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    return [ExampleName]

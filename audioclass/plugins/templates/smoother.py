"""Moving average of the posteriors over a few windows before and after each."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Smoother
from audioclass.data import Posteriors


@component
class ExampleName:
    """Each window's posteriors become the mean over the `reach` windows on either side."""

    name: ClassVar[str] = "example_name"
    reach: int = parameter(1, low=0, high=1000, help="windows on either side")

    @property
    def look_ahead(self) -> int:
        return self.reach

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        n = len(posteriors.P)
        sums = np.vstack([np.zeros((1, len(posteriors.labels))), np.cumsum(posteriors.P, axis=0)])
        first = np.maximum(np.arange(n) - self.reach, 0)
        last = np.minimum(np.arange(n) + self.reach + 1, n)
        return replace(posteriors, P=(sums[last] - sums[first]) / (last - first)[:, None])


@hookimpl
def register_smoothers() -> list[type[Smoother]]:
    return [ExampleName]

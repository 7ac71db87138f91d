"""Linear kernel: k(x, y) = x'y."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Kernel
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Linear:
    """Similarity in proportion to the features, with no parameter to choose."""

    name: ClassVar[str] = "linear"
    statistic: ClassVar[str] = "dot"
    is_mercer: ClassVar[bool] = True

    def of(self, S: np.ndarray) -> np.ndarray:
        """K = S."""
        return S.copy()

    def gradients(self, S: np.ndarray, K: np.ndarray) -> dict[str, np.ndarray]:
        """Empty: there is nothing to climb."""
        return {}


@hookimpl
def register_kernels() -> list[type[Kernel]]:
    """The linear kernel."""
    return [Linear]

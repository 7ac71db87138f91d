"""No smoothing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Smoother, SmoothingStream
from audioclass.data import Posteriors
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.smoothers.streams import LocalStream


@component
class NoSmoothing:
    """Leaves the posteriors of every window as they are."""

    name: ClassVar[str] = "none"
    look_ahead: ClassVar[int] = 0

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        """What was given."""
        return posteriors

    def stream(self, n_labels: int) -> SmoothingStream:
        """A stream that gives each row at once."""
        return LocalStream(n_labels, 0, 0, np.ravel)


@hookimpl
def register_smoothers() -> list[type[Smoother]]:
    """The choice not to smooth."""
    return [NoSmoothing]

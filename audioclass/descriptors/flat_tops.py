"""How much of a frame lies flat at its peak: what a recorder leaves of a sound that was too loud for it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

NEAR = (0.999, 0.99)  # of the peak; the second for tops that a codec or a resampler has rippled


@component
class FlatTops:
    """The shares of samples that are, with both of their neighbours, nearly at the peak of the frame.

    A round peak passes in one or two samples; three in a row and more are a wave of few hertz, or one that was clipped.
    Silence has none.
    """

    name: ClassVar[str] = "flat_tops"

    most: int = parameter(512, low=3, help="samples in the middle of a frame that are looked at")

    def columns(self, framing: Framing) -> list[str]:
        """A share for each nearness."""
        return [f"flat_tops_{round(1000 * near)}" for near in NEAR]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """#{i: |x| of i − 1, i and i + 1 ≥ near · peak} / n."""
        length = spectra.framing.frame_length
        n = min(length, self.most)
        sizes = np.abs(spectra.frames[:, (length - n) // 2 : (length - n) // 2 + n])
        peaks = sizes.max(axis=1, keepdims=True, initial=0)
        shares = [_in_threes((sizes >= np.float32(near) * peaks) & (peaks > 0)) / n for near in NEAR]
        return np.stack(shares, axis=1).astype(np.float32)


def _in_threes(is_near: np.ndarray) -> np.ndarray:
    """How many in each row have both neighbours."""
    return np.asarray((is_near[:, 2:] & is_near[:, 1:-1] & is_near[:, :-2]).sum(axis=1))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Flat tops."""
    return [FlatTops]

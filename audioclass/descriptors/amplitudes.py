"""How the samples of a frame are spread below its peak: what clipping changes, and level does not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.spectra import TOGETHER
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

NEAR = (0.99, 0.9)  # of the peak


@component
class Amplitudes:
    """Logarithms of the peak over the root mean square, of the shares of samples near the peak, and of the kurtosis.

    A frame that was clipped has a low peak and a large share of samples at it. Silence has 0 for all.
    """

    name: ClassVar[str] = "amplitudes"

    most: int = parameter(512, low=2, help="samples in the middle of a frame that are looked at")

    def columns(self, framing: Framing) -> list[str]:
        """The peak factor, a share for each nearness, the kurtosis."""
        return ["peak_factor", *(f"near_peak_{round(100 * near)}" for near in NEAR), "kurtosis"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """log(peak/rms), log(#{|x| ≥ 0.99 peak}/n), log(#{|x| ≥ 0.9 peak}/n), log(mean x⁴/rms⁴).

        They are the same at every speed.
        """
        if spectra.recorded is not spectra:
            return spectra.recorded.values_of(self)
        length = spectra.framing.frame_length
        n = min(length, self.most)
        middle = spectra.frames[:, (length - n) // 2 : (length - n) // 2 + n]
        some = [_values(middle[first : first + TOGETHER], n) for first in range(0, len(middle), TOGETHER)]
        return np.concatenate([np.empty((0, 2 + len(NEAR)), np.float32), *some])


def _values(samples: np.ndarray, n: int) -> np.ndarray:
    """Those of a few frames, while they are in the processor's cache."""
    sizes = np.abs(samples)
    peaks = sizes.max(axis=1, keepdims=True, initial=0)
    below = np.divide(sizes, peaks, out=np.ones_like(sizes), where=peaks > 0)  # of silence all is at the peak
    power = np.square(below)
    mean_square = power.mean(axis=1)
    shares = [np.count_nonzero(below >= np.float32(near), axis=1) / n for near in NEAR]
    kurtosis = np.square(power).mean(axis=1) / mean_square**2
    values = np.log(np.stack([mean_square**-0.5, *shares, kurtosis], axis=1))
    return np.asarray(values, np.float32)


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Amplitudes."""
    return [Amplitudes]

"""Harmonicity: how periodic a frame is, and with which pitch."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

NEARLY = 0.85  # of the highest peak: what the first period keeps when its multiples meet the lags better


@component
class Harmonicity:
    """Strength of the pitch, the highest value of the autocorrelation, and log2 of the pitch in hertz."""

    name: ClassVar[str] = "harmonicity"
    lowest: float = parameter(80.0, above=0.0, help="lowest pitch, in hertz")
    highest: float = parameter(600.0, above=0.0, high=4000.0, help="highest pitch, in hertz")

    def __post_init__(self) -> None:
        if self.lowest >= self.highest:
            raise ValueError(f"harmonicity: lowest={self.lowest:g} must be below highest={self.highest:g}")

    def columns(self, framing: Framing) -> list[str]:
        """Strength, about 1 for a periodic frame and 0 for noise, and pitch."""
        return ["pitch_strength", "pitch"]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """max_τ r(τ)/r(0) over the lags of the pitches allowed, r without the bias of the window; log2 of 1/τ.

        The pitch is that of the first peak nearly as high as the highest: at multiples of a period r is as high.
        """
        r, n_lags = spectra.autocorrelation, spectra.autocorrelation.shape[1]
        first = min(max(int(spectra.lag_rate / self.highest), 1), max(n_lags - 1, 1))
        last = max(min(int(spectra.lag_rate / self.lowest) + 2, n_lags), first + 1)
        if last + 1 > n_lags:
            r = np.pad(r, ((0, 0), (0, 2)))
        before, lags, after = r[:, first - 1 : last - 1], r[:, first:last], r[:, first + 1 : last + 1]
        strength = lags.max(axis=1, keepdims=True)
        peaks = (lags >= NEARLY * strength) & (lags >= before) & (lags >= after)
        best = np.where(peaks.any(axis=1), peaks.argmax(axis=1), lags.argmax(axis=1))[:, None]
        lag = first + best + _summit(*(np.take_along_axis(part, best, axis=1) for part in (before, lags, after)))
        return np.concatenate([strength, np.log2(spectra.lag_rate / lag)], axis=1).astype(np.float32)


def _summit(before: np.ndarray, at: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Where the parabola through three neighbours is highest, from −½ to ½; 0 where they form no peak."""
    bend = 2 * at - before - after
    shift = np.divide(after - before, 2 * bend, out=np.zeros_like(at), where=bend > 0)
    return np.asarray(np.clip(shift, -0.5, 0.5))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Harmonicity."""
    return [Harmonicity]

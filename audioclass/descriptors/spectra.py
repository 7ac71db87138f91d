"""The shared short-time spectrum: framing, windowing and one real FFT, from which every descriptor reads."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.fft
import scipy.signal

from audioclass.data import Framing


class Spectra:
    """Lazily computed views of a stretch of mono audio; rows are frames, each view is computed at most once.

    Frame i covers the samples from i·hop_length on; only whole frames count.
    """

    def __init__(self, samples: np.ndarray, framing: Framing) -> None:
        if samples.ndim != 1:
            raise ValueError(f"samples have shape {samples.shape}, must be mono")
        self.framing = framing
        self._samples = np.ascontiguousarray(samples, dtype=np.float32)

    @cached_property
    def frames(self) -> np.ndarray:
        """(n_frames, frame_length), as cut, without window; a read-only view of the samples."""
        if len(self._samples) < self.framing.frame_length:
            return np.empty((0, self.framing.frame_length), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(self._samples, self.framing.frame_length)
        return windows[:: self.framing.hop_length]

    @cached_property
    def frequencies(self) -> np.ndarray:
        """(n_bins,), in hertz."""
        return scipy.fft.rfftfreq(self.framing.frame_length, 1 / self.framing.sample_rate).astype(np.float32)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """(n_frames, n_bins), complex64, of the frames under a periodic Hann window."""
        window = scipy.signal.windows.hann(self.framing.frame_length, sym=False).astype(np.float32)
        return scipy.fft.rfft(self.frames * window, axis=1)

    @cached_property
    def power(self) -> np.ndarray:
        """(n_frames, n_bins), |spectrum|²."""
        return self.spectrum.real**2 + self.spectrum.imag**2

    @cached_property
    def magnitude(self) -> np.ndarray:
        """(n_frames, n_bins), |spectrum|."""
        return np.sqrt(self.power)

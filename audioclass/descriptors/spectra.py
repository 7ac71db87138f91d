"""The shared short-time spectrum: framing, windowing and one real FFT, from which every descriptor reads."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property

import numpy as np
import scipy.fft

from audioclass.contracts import Descriptor
from audioclass.data import Framing
from audioclass.descriptors.filters import Band, bin_frequencies, chroma_matrix, mel_bands

TOGETHER = 32  # frames whose spectra stay in the processor's cache until they are squared
TINY = np.float32(1e-10)  # power floor, −100 dB: far below what 16 bits hold, far above float32's denormals


class CachedSpectra:
    """Lazily computed views of a stretch of mono audio; rows are frames, each view is computed at most once.

    Frame i covers the samples from i·hop_length on; only whole frames count. At speeds down to `slowest` views share
    their memory with those of the recording.
    """

    def __init__(self, samples: np.ndarray, framing: Framing, slowest: float = 1.0) -> None:
        if samples.ndim != 1:
            raise ValueError(f"samples have shape {samples.shape}, must be mono")
        self.framing = framing
        self.samples = np.ascontiguousarray(samples, dtype=np.float32)
        self._slowest = min(slowest, 1.0)
        self._n_wide = replace(framing, speed=framing.speed * self._slowest).n_bins
        self._banded: dict[tuple[str, int, float], np.ndarray] = {}
        self._values: dict[Descriptor, np.ndarray] = {}

    @property
    def recorded(self) -> CachedSpectra:
        """Those of the recording at its own speed: itself, unless this is a version."""
        return self

    def values_of(self, descriptor: Descriptor) -> np.ndarray:
        """The values of a descriptor for every frame, computed at most once."""
        if descriptor not in self._values:
            self._values[descriptor] = descriptor.frames(self)
        return self._values[descriptor]

    def at_speed(self, speed: float) -> CachedSpectra:
        """The same frames as they would be of a recording played so many times as fast; nothing is transformed again.

        Bins lie at frequencies times `speed`; those beyond half the sample rate are left out, and where there are none
        up to there, they are empty. Frames and samples are those of the recording.
        """
        return self if speed == 1 else _SpectraAtSpeed(self, speed)

    def middle(self, frame_length: int) -> CachedSpectra:
        """The middle of each frame: as many of them, finer in time and coarser in frequency."""
        whole, hop = self.framing.frame_length, self.framing.hop_length
        if frame_length == whole:
            return self
        first = (whole - frame_length) // 2
        stop = first + max(self.n_frames - 1, 0) * hop + frame_length
        samples = self.samples[first:stop] if self.n_frames else self.samples[:0]
        return CachedSpectra(samples, replace(self.framing, frame_length=frame_length), self._slowest)

    @property
    def n_frames(self) -> int:
        """How many rows every view has."""
        return len(self.frames)

    @cached_property
    def frames(self) -> np.ndarray:
        """(n_frames, frame_length), as cut, without window; a read-only view of the samples."""
        if len(self.samples) < self.framing.frame_length:
            return np.empty((0, self.framing.frame_length), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(self.samples, self.framing.frame_length)
        return windows[:: self.framing.hop_length]

    @cached_property
    def frequencies(self) -> np.ndarray:
        """(n_bins,), in hertz."""
        return np.asarray(bin_frequencies(self.framing), np.float32)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """(n_frames, n_bins), complex64, of the frames under a periodic Hann window."""
        return np.asarray(scipy.fft.rfft(self.frames * hann(self.framing.frame_length), axis=1))

    @cached_property
    def power(self) -> np.ndarray:
        """(n_frames, n_bins), |spectrum|²."""
        return self.wide_power[:, : self.framing.n_bins]

    @cached_property
    def magnitude(self) -> np.ndarray:
        """(n_frames, n_bins), |spectrum|."""
        return self.wide_magnitude[:, : self.framing.n_bins]

    @cached_property
    def log_power(self) -> np.ndarray:
        """(n_frames, n_bins), natural logarithm of the power, floored at −100 dB."""
        return self.wide_log_power[:, : self.framing.n_bins]

    @cached_property
    def wide_power(self) -> np.ndarray:
        """The power with as many empty bins beyond the last as the slowest version has.

        It is transformed a few frames at a time, unless the spectrum is there already.
        """
        n_bins, window = self.framing.n_bins, hann(self.framing.frame_length)
        power = np.zeros((self.n_frames, self._n_wide), np.float32)
        if "spectrum" in self.__dict__:
            power[:, :n_bins] = _squared(self.spectrum)
            return power
        for first in range(0, self.n_frames, TOGETHER):
            some = slice(first, first + TOGETHER)
            power[some, :n_bins] = _squared(scipy.fft.rfft(self.frames[some] * window, axis=1))
        return power

    @cached_property
    def wide_magnitude(self) -> np.ndarray:
        """The magnitude of the same bins."""
        return np.asarray(np.sqrt(self.wide_power))

    @cached_property
    def wide_log_power(self) -> np.ndarray:
        """The log-power of the same bins."""
        floored = self.wide_power + TINY
        return np.log(floored, out=floored)

    @cached_property
    def total_power(self) -> np.ndarray:
        """(n_frames, 1), the sum of the power over all bins."""
        return np.asarray(self.power.sum(axis=1, keepdims=True))

    @cached_property
    def cumulated(self) -> np.ndarray:
        """(n_frames, n_bins), the power up to and with each bin."""
        # A sum waits for the one before it: two frames at a time, as complex numbers, wait no longer than one.
        n = self.n_frames
        pairs = np.zeros(((n + 1) // 2, self.framing.n_bins, 2), np.float32)
        pairs[:, :, 0], pairs[: n // 2, :, 1] = self.power[0::2], self.power[1::2]
        pairs.view(np.complex64).cumsum(axis=1, out=pairs.view(np.complex64))
        return np.asarray(pairs.transpose(0, 2, 1).reshape(-1, self.framing.n_bins)[:n])

    @cached_property
    def chroma(self) -> np.ndarray:
        """(n_frames, 12), power of each pitch class from C to B."""
        return np.asarray(self.power @ chroma_matrix(self.framing))

    @cached_property
    def autocorrelation(self) -> np.ndarray:
        """(n_frames, n_lags) of the part of the spectrum up to about 4 kHz, 1 at lag 0; lags of 1/`lag_rate` seconds.

        The inverse FFT of the lower bins is shorter than the frame. The bias of the window is taken out.
        """
        lags = scipy.fft.irfft(self.power[:, : self._voiced_bins + 1], axis=1)[:, : self._voiced_bins]
        lags = lags / (lags[:, :1] + TINY)
        lags *= _window_bias(self.framing.frame_length, self._voiced_bins)
        return np.asarray(lags)

    @property
    def lag_rate(self) -> float:
        """Lags per second of the autocorrelation."""
        return 2 * self._voiced_bins * self.framing.bin_rate / self.framing.frame_length

    def mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), power under triangles of equal area on the mel scale, from `lowest` hertz up."""
        return self._once("mel", bands, lowest)

    def log_mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), the same in decibels, floored at −100 dB."""
        return self._once("log_mel", bands, lowest)

    def _once(self, view: str, bands: int, lowest: float) -> np.ndarray:
        key = (view, bands, lowest)
        if key not in self._banded:
            self._banded[key] = self._mel(bands, lowest) if view == "mel" else decibels(self.mel(bands, lowest))
        return self._banded[key]

    def _mel(self, bands: int, lowest: float) -> np.ndarray:
        # A dense product for each few neighbouring bands beats one product with the whole matrix, most of which is 0.
        out = np.empty((self.n_frames, bands), np.float32)
        for band in mel_bands(self.framing, bands, lowest):
            _multiply(self.power, band, out)
        return out

    @property
    def _voiced_bins(self) -> int:
        wanted = 4000 * self.framing.frame_length / self.framing.sample_rate
        return min(self.framing.frame_length // 2, 1 << int(np.ceil(np.log2(max(wanted, 2)))))


class _SpectraAtSpeed(CachedSpectra):
    """Views of the same frames at another speed: what is known of each bin is shared, filters are moved."""

    def __init__(self, recorded: CachedSpectra, speed: float) -> None:
        super().__init__(recorded.samples, replace(recorded.framing, speed=speed * recorded.framing.speed))
        self._recorded = recorded

    @property
    def recorded(self) -> CachedSpectra:
        return self._recorded.recorded

    @cached_property
    def frames(self) -> np.ndarray:
        return self._recorded.frames

    @cached_property
    def spectrum(self) -> np.ndarray:
        return self._moved(self._recorded.spectrum)

    @cached_property
    def power(self) -> np.ndarray:
        return self._moved(self._recorded.wide_power)

    @cached_property
    def magnitude(self) -> np.ndarray:
        return self._moved(self._recorded.wide_magnitude)

    @cached_property
    def log_power(self) -> np.ndarray:
        return self._moved(self._recorded.wide_log_power, np.log(TINY))

    @cached_property
    def autocorrelation(self) -> np.ndarray:
        return self._recorded.autocorrelation

    def _moved(self, view: np.ndarray, empty: float = 0.0) -> np.ndarray:
        """The bins up to half the sample rate, empty ones where the recording has none so high."""
        missing = self.framing.n_bins - view.shape[1]
        if missing <= 0:
            return view[:, : self.framing.n_bins]
        return np.pad(view, ((0, 0), (0, missing)), constant_values=empty)


@cache
def hann(length: int) -> np.ndarray:
    """The periodic Hann window."""
    return (0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, length + 1)))[:-1].astype(np.float32)


def decibels(power: np.ndarray) -> np.ndarray:
    """10 log10 of a power, floored at −100 dB."""
    level = power + TINY
    np.log(level, out=level)
    level *= np.float32(10 / np.log(10))
    return level


def _squared(spectrum: np.ndarray) -> np.ndarray:
    parts = spectrum.view(np.float32)
    squares = parts * parts
    return np.asarray(squares[:, 0::2] + squares[:, 1::2])


def _multiply(power: np.ndarray, band: Band, out: np.ndarray) -> None:
    np.matmul(power[:, band.bins], band.weights, out=out[:, band.columns])


@cache
def _window_bias(frame_length: int, n_lags: int) -> np.ndarray:
    """The inverse of the window's own autocorrelation at each lag, at most 10."""
    window = hann(frame_length).astype(float)
    correlation = np.fft.irfft(np.abs(np.fft.rfft(window, 2 * frame_length)) ** 2)[:frame_length]
    lags = np.arange(n_lags) * frame_length / (2 * n_lags)
    bias = np.interp(lags, np.arange(frame_length), correlation / correlation[0])
    return np.asarray(1 / np.maximum(bias, 0.1), np.float32)

"""The outline of a waveform, collected from blocks in bounded memory."""

from __future__ import annotations

import numpy as np

FINEST = 64  # samples in a bin at first


class Envelope:
    """Lowest and highest sample of successive bins; where `most` bins are full, two become one and bins twice as long.

    How the samples are cut into blocks does not matter. Samples that are no numbers are passed over.
    """

    def __init__(self, sample_rate: int, most: int = 32768) -> None:
        if most < 2 or most % 2:
            raise ValueError(f"most={most} must be an even number of at least 2")
        self.sample_rate, self._most = sample_rate, most
        self.samples_per_bin = FINEST
        self.n_samples = 0
        self._low, self._high = np.empty(0), np.empty(0)
        self._rest = np.empty((0, 2))  # lowest and highest over the channels, of samples that fill no bin yet

    @property
    def seconds(self) -> float:
        """Length of what was pushed."""
        return self.n_samples / self.sample_rate

    def push(self, samples: np.ndarray) -> None:
        """Take in the next samples, (n,) or (n, n_channels)."""
        channels = samples[:, None] if np.ndim(samples) == 1 else samples
        outline = np.column_stack([np.fmin.reduce(channels, axis=1), np.fmax.reduce(channels, axis=1)])
        self._rest = np.concatenate([self._rest, outline])
        self.n_samples += len(samples)
        while len(self._rest) >= self.samples_per_bin:
            self._fill(min(len(self._rest) // self.samples_per_bin, self._most - len(self._low)))

    def bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest of each bin, the last of which may be shorter."""
        rest = [self._rest] if len(self._rest) else []
        low = [self._low, *(np.fmin.reduce(part[:, :1]) for part in rest)]
        high = [self._high, *(np.fmax.reduce(part[:, 1:]) for part in rest)]
        return np.nan_to_num(np.concatenate(low)), np.nan_to_num(np.concatenate(high))

    def _fill(self, n_bins: int) -> None:
        taken = n_bins * self.samples_per_bin
        bins = self._rest[:taken].reshape(n_bins, self.samples_per_bin, 2)
        self._rest = self._rest[taken:]
        self._low = np.concatenate([self._low, np.fmin.reduce(bins[..., 0], axis=1)])
        self._high = np.concatenate([self._high, np.fmax.reduce(bins[..., 1], axis=1)])
        if len(self._low) == self._most:
            self._low = np.fmin.reduce(self._low.reshape(-1, 2), axis=1)
            self._high = np.fmax.reduce(self._high.reshape(-1, 2), axis=1)
            self.samples_per_bin *= 2

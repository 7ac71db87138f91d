"""Filter banks over the bins of a frame: mel triangles, octave bands and pitch classes.

They are ours because librosa's import (numba) takes longer than a minute of audio; tests compare them with librosa.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from audioclass.data import Framing

LINEAR_UP_TO = 1000.0  # Slaney's mel scale is linear below, logarithmic above
MELS_PER_HERTZ = 3 / 200
MELS_PER_E_FOLD = 27 / np.log(6.4)


@dataclass(frozen=True, eq=False)
class Band:
    """Some neighbouring filters: the bins they touch, the columns they fill, and the weights between them."""

    bins: slice
    columns: slice
    weights: np.ndarray


def bin_frequencies(framing: Framing) -> np.ndarray:
    """Frequency of each bin, in hertz."""
    return np.arange(framing.n_bins) * framing.bin_rate / framing.frame_length


def to_mel(hertz: np.ndarray | float) -> np.ndarray:
    """Slaney's mel scale: 200/3 Hz a mel up to 1 kHz, then 27 mels for a factor of 6.4."""
    hertz = np.asarray(hertz, dtype=float)
    above = np.log(np.maximum(hertz, LINEAR_UP_TO) / LINEAR_UP_TO) * MELS_PER_E_FOLD
    return np.asarray(np.minimum(hertz, LINEAR_UP_TO) * MELS_PER_HERTZ + above)


def from_mel(mel: np.ndarray) -> np.ndarray:
    """The inverse of `to_mel`."""
    edge = LINEAR_UP_TO * MELS_PER_HERTZ
    return np.asarray(np.minimum(mel, edge) / MELS_PER_HERTZ * np.exp(np.maximum(mel - edge, 0) / MELS_PER_E_FOLD))


@cache
def mel_matrix(framing: Framing, bands: int, lowest: float) -> np.ndarray:
    """(n_bins, bands): triangles between mels of equal distance, each of area 1 over hertz.

    A triangle narrower than a bin may touch none; it then reads the bin nearest to its centre, so no band is empty.
    """
    highest = framing.sample_rate / 2
    if not 0 <= lowest < highest:
        raise ValueError(f"lowest={lowest:g} Hz must be below half the sample rate, {highest:g} Hz")
    edges = from_mel(np.linspace(to_mel(lowest), to_mel(highest), bands + 2))
    hertz = bin_frequencies(framing)[:, None]
    rising = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling)) * 2 / (edges[2:] - edges[:-2])
    for band in np.flatnonzero(~weights.any(axis=0)):
        weights[np.abs(hertz[:, 0] - edges[band + 1]).argmin(), band] = 2 / (edges[band + 2] - edges[band])
    return np.asarray(weights.astype(np.float32))


@cache
def mel_bands(framing: Framing, bands: int, lowest: float, together: int = 16) -> tuple[Band, ...]:
    """The mel matrix in groups of neighbouring bands, each with only the bins it touches."""
    weights = mel_matrix(framing, bands, lowest)
    cut = []
    for first in range(0, bands, together):
        part = weights[:, first : first + together]
        used = np.flatnonzero(part.any(axis=1))
        bins = slice(int(used[0]), int(used[-1]) + 1)
        columns = slice(first, first + part.shape[1])
        cut.append(Band(bins, columns, np.ascontiguousarray(part[bins])))
    return tuple(cut)


@cache
def octave_edges(framing: Framing, first: float = 250.0) -> tuple[int, ...]:
    """First bin of each octave band (below `first` hertz, then doubling) and the number of bins; no band is empty."""
    highest = framing.sample_rate / 2
    hertz = first * 2.0 ** np.arange(12)
    edges = [round(edge * framing.frame_length / framing.bin_rate) for edge in hertz if edge < 0.9 * highest]
    return tuple(sorted({0, *(edge for edge in edges if 0 < edge < framing.n_bins), framing.n_bins}))


@cache
def octave_matrix(framing: Framing) -> np.ndarray:
    """(n_bins, n_octaves): the mean over the bins of each octave band."""
    edges = octave_edges(framing)
    matrix = np.zeros((edges[-1], len(edges) - 1), np.float32)
    for column, (low, high) in enumerate(pairwise(edges)):
        matrix[low:high, column] = 1 / (high - low)
    return matrix


@cache
def chroma_matrix(framing: Framing, lowest: float = 200.0, highest: float = 4000.0) -> np.ndarray:
    """(n_bins, 12): weight of each bin for each pitch class from C to B, for A at 440 Hz.

    A bin counts for a class by a Gaussian of its distance in semitones, as wide as the bin; bins below `lowest` hertz,
    where one bin holds several classes, and above `highest`, where there are overtones only, do not count.
    """
    hertz = bin_frequencies(framing)
    used = (hertz >= lowest) & (hertz <= highest)
    semitones = 12 * np.log2(np.where(used, hertz, 440.0) / 440.0) + 9
    width = np.maximum(12 / np.log(2) * framing.bin_rate / framing.frame_length / np.where(used, hertz, 1.0), 1.0)
    distance = (semitones[:, None] - np.arange(12) + 6) % 12 - 6
    weights = np.exp(-0.5 * (2 * distance / width[:, None]) ** 2)
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
    return np.asarray((weights * used[:, None]).astype(np.float32))

"""What poolings do to the tracks of a window: arrays (n_windows, n_frames, d), time along the middle axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.fft

SMALLEST_VARIANCE = np.float32(1e-6)


def derivative(windows: np.ndarray, reach: int = 2) -> np.ndarray:
    """Slope of the regression line over `reach` frames on either side, per frame; the ends are repeated."""
    n_frames = windows.shape[1]
    padded = np.concatenate([windows[:, :1]] * reach + [windows] + [windows[:, -1:]] * reach, axis=1)
    slope = np.zeros_like(windows)
    for step in range(1, reach + 1):
        ahead, behind = padded[:, reach + step :][:, :n_frames], padded[:, reach - step :][:, :n_frames]
        slope += np.float32(step) * (ahead - behind)
    return slope / np.float32(2 * sum(step**2 for step in range(1, reach + 1)))


def level_free(windows: np.ndarray, depth: float) -> np.ndarray:
    """Decibels below the loudest value of each window, no lower than −depth; as they are where depth is 0."""
    if not depth:
        return windows
    return np.asarray(np.maximum(windows - windows.max(axis=(1, 2), keepdims=True), np.float32(-depth)))


def merge_bands(windows: np.ndarray, bands: int) -> np.ndarray:
    """Means of neighbouring columns, `bands` of them; as they are where there are no more than that."""
    d = windows.shape[2]
    if d <= bands:
        return windows
    edges = np.linspace(0, d, bands + 1).round().astype(int)
    sums = np.add.reduceat(windows, edges[:-1], axis=2)
    return sums / np.diff(edges).astype(np.float32)


def cepstra(windows: np.ndarray, coefficients: int) -> np.ndarray:
    """The first coefficients of the orthonormal cosine transform over the columns."""
    return np.asarray(scipy.fft.dct(windows, norm="ortho", axis=2)[:, :, :coefficients])


def centred(windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values minus their mean over time, and that mean, (n_windows, 1, d).

    The first frame is subtracted first: a track that does not move gives exact zeros, not rounding noise that a
    normalisation by rank would blow up to a feature.
    """
    moved = windows - windows[:, :1]
    mean = moved.mean(axis=1, keepdims=True)
    return moved - mean, mean + windows[:, :1]


def moments(windows: np.ndarray, order: int) -> list[np.ndarray]:
    """Mean, deviation, skewness and log(1 + kurtosis) over time, as many as `order`; (n_windows, d) each."""
    moving, mean = centred(windows)
    square = moving * moving
    variance = square.mean(axis=1) + SMALLEST_VARIANCE
    values = [mean[:, 0], np.sqrt(variance)]
    if order > 2:
        moving *= square
        values.append(moving.mean(axis=1) / (variance * values[1]))
    if order > 3:
        square *= square
        values.append(np.log1p(square.mean(axis=1) / (variance * variance)))
    return values[:order]


def percentiles(windows: np.ndarray, percents: Sequence[float]) -> list[np.ndarray]:
    """Order statistics over time, linear between neighbours; (n_windows, d) each."""
    ranked = np.array(windows.transpose(0, 2, 1), order="C")
    ranked.sort(axis=2)
    last = ranked.shape[2] - 1
    values = []
    for percent in percents:
        below = int(percent / 100 * last)
        part = np.float32(percent / 100 * last - below)
        values.append(ranked[:, :, below] + part * (ranked[:, :, min(below + 1, last)] - ranked[:, :, below]))
    return values


def flat(summaries: np.ndarray) -> np.ndarray:
    """(n_windows, …) to (n_windows, everything else), also for no windows."""
    return summaries.reshape(len(summaries), math.prod(summaries.shape[1:]))


def numbered(columns: Sequence[str], count: int) -> list[str]:
    """Names for columns that are no longer those of the descriptor: the descriptor's own name and a number."""
    stem = columns[0].rstrip("0123456789").rstrip("_") or columns[0]
    return [f"{stem}_{i}" for i in range(count)]


def suffixed(columns: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Every column with the first suffix, then every column with the second, and so on."""
    return [f"{column}_{suffix}" for suffix in suffixes for column in columns]

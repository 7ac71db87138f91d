"""What poolings do to the tracks of a window: arrays (n_windows, n_frames, d), time along the middle axis."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import scipy.fft

SMALLEST_VARIANCE = np.float32(1e-6)
PAIRWISE = 8  # beyond so many numbers numpy adds halves of them

P = ParamSpec("P")
Views = dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]]
_VIEWS: ContextVar[Views | None] = ContextVar("views", default=None)


@contextlib.contextmanager
def sharing() -> Iterator[None]:
    """Within it a view of the same windows is computed once, whichever poolings ask for it, and cannot be written."""
    token = _VIEWS.set({})
    try:
        yield
    finally:
        _VIEWS.reset(token)


def _shared(view: Callable[P, np.ndarray]) -> Callable[P, np.ndarray]:
    """The view from among those already computed of this very array with these values, within `sharing`."""

    @wraps(view)
    def once(*args: P.args, **kwargs: P.kwargs) -> np.ndarray:
        views = _VIEWS.get()
        if views is None:
            return view(*args, **kwargs)
        windows: Any = args[0]
        key = (view, id(windows), *args[1:], *kwargs.items())
        if key not in views:
            values = view(*args, **kwargs)
            if values is not windows:
                values.flags.writeable = False
            views[key] = windows, values  # with the windows: their id is theirs for as long as they are there
        return views[key][1]

    return once


def derivative(windows: np.ndarray, reach: int = 2) -> np.ndarray:
    """Slope of the regression line over `reach` frames on either side, per frame; the ends are repeated."""
    n_frames = windows.shape[1]
    padded = np.concatenate([windows[:, :1]] * reach + [windows] + [windows[:, -1:]] * reach, axis=1)
    slope = np.zeros_like(windows)
    for step in range(1, reach + 1):
        ahead, behind = padded[:, reach + step :][:, :n_frames], padded[:, reach - step :][:, :n_frames]
        slope += np.float32(step) * (ahead - behind)
    return slope / np.float32(2 * sum(step**2 for step in range(1, reach + 1)))


@_shared
def level_free(windows: np.ndarray, depth: float) -> np.ndarray:
    """Decibels below the loudest value of each window, no lower than −depth; as they are where depth is 0."""
    if not depth:
        return windows
    return np.asarray(np.maximum(windows - windows.max(axis=(1, 2), keepdims=True), np.float32(-depth)))


@_shared
def merge_bands(windows: np.ndarray, bands: int) -> np.ndarray:
    """Means of neighbouring columns, `bands` of them; as they are where there are no more than that."""
    d = windows.shape[2]
    if d <= bands:
        return windows
    width = d // bands
    if d % bands == 0 and width <= PAIRWISE:  # the very sums of below, of all bands at a time
        rest = windows[:, :, 1::width].copy()
        for i in range(2, width):
            rest += windows[:, :, i::width]
        rest += windows[:, :, ::width]
        return np.asarray(rest / np.float32(width))
    edges = np.linspace(0, d, bands + 1).round().astype(int)
    sums = np.add.reduceat(windows, edges[:-1], axis=2)
    return sums / np.diff(edges).astype(np.float32)


@_shared
def cepstra(windows: np.ndarray, coefficients: int) -> np.ndarray:
    """The first coefficients of the orthonormal cosine transform over the columns."""
    return _all_cepstra(windows)[:, :, :coefficients]


@_shared
def _all_cepstra(windows: np.ndarray) -> np.ndarray:
    return np.asarray(scipy.fft.dct(windows, norm="ortho", axis=2))


def moving_mean(windows: np.ndarray, reach: int, axis: int) -> np.ndarray:
    """Mean over `reach` neighbours on either side along an axis, and the value itself; the ends are repeated."""
    ends = [np.repeat(windows.take([end], axis), reach, axis) for end in (0, -1)]
    sums = np.concatenate([ends[0], windows, ends[1]], axis=axis).swapaxes(0, axis)
    n, total, done, width = windows.shape[axis], None, 0, 1
    wanted = 2 * reach + 1
    while done < wanted:  # sums of 1, 2, 4, … neighbours, of which those are added that make up the whole
        if wanted & width:
            part = sums[done : done + n]
            total = part.copy() if total is None else np.add(total, part, out=total)
            done += width
        sums = sums[:-width] + sums[width:] if done < wanted else sums
        width *= 2
    mean = np.asarray(total).swapaxes(0, axis)
    mean /= np.float32(wanted)
    return mean


@_shared
def levels(windows: np.ndarray, depth: float) -> np.ndarray:
    """(n_windows, n_frames): decibels of the mean power over the columns, below the loudest frame of each window.

    A column counts down to `depth` decibels below the loudest value; where depth is 0, as it is.
    """
    below = level_free(windows, depth)
    below = below if depth else below - below.max(axis=(1, 2), keepdims=True)
    power = np.exp(below * np.float32(np.log(10) / 10)).mean(axis=2) + np.float32(1e-10)
    return np.asarray(np.log(power / power.max(axis=1, keepdims=True)) * np.float32(10 / np.log(10)))


def centred(windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values minus their mean over time, and that mean, (n_windows, 1, d).

    The first frame is subtracted first: a track that does not move gives exact zeros, not rounding noise that a
    normalisation by rank would blow up to a feature.
    """
    moved = windows - windows[:, :1]
    mean = moved.mean(axis=1, keepdims=True)
    moved -= mean
    return moved, mean + windows[:, :1]


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


def sounding(window: np.ndarray, active: float) -> slice:
    """Frames of a window, (n_frames, d), from the first to the last within `active` decibels of its loudest value."""
    loud = np.flatnonzero(window.max(axis=1) >= window.max() - np.float32(active))
    return slice(int(loud[0]), int(loud[-1]) + 1)


def cumulated(values: np.ndarray) -> np.ndarray:
    """Sums over the first rows, from none of them to all: one row more than there are."""
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])


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

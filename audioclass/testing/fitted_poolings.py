"""The contract of a fitted pooling: a summary of the frames of each window, by what it learnt from training windows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audioclass.contracts import Arrays, FittedPooling
from audioclass.testing.checks import (
    COMMON,
    Check,
    repeated,
    require,
    require_plain_arrays,
    require_refusal,
    skip_unless,
    unchanged,
)

NAMES = tuple(f"band_{i}" for i in range(24))
FRAME_RATE = 100.0
MOST_LEARNT = 2**22  # values: what is learnt is kept in every model


def learns(pooling: Any) -> bool:
    """Whether a pooling must be fitted before it can pool."""
    return isinstance(pooling, FittedPooling)


def _windows(n_windows: int = 6, n_frames: int = 40, seed: int = 0) -> np.ndarray:
    levels = np.random.default_rng(seed).gamma(2.0, 5.0, (n_windows, n_frames, len(NAMES)))
    return levels.cumsum(axis=1).astype(np.float32) % 60


def _fitted(pooling: Any) -> Arrays:
    skip_unless(learns(pooling), "it learns nothing")
    arrays: Arrays = pooling.fit(iter(_windows(8, 60, seed=1)), FRAME_RATE, np.random.default_rng(0))
    return {name: np.asarray(array, _single(array)) for name, array in arrays.items()}


def _single(array: Any) -> type:
    """The precision in which a model keeps an array."""
    return np.float32 if np.asarray(array).dtype.kind == "f" else np.int64


def columns_are_known_before_fitting(pooling: Any) -> None:
    """Each pooled value has a name of its own, before anything is learnt."""
    skip_unless(learns(pooling), "it learns nothing")
    columns = list(pooling.columns(NAMES))
    require(columns and all(isinstance(name, str) and name for name in columns), f"columns {columns}")
    require(len(set(columns)) == len(columns), "a name stands twice")


def what_is_learnt_is_small(pooling: Any) -> None:
    """What it learns are finite arrays that a model can hold."""
    arrays = _fitted(pooling)
    require(arrays, "it learns no array")
    require_plain_arrays(arrays)
    size = sum(np.size(array) for array in arrays.values())
    require(size <= MOST_LEARNT, f"{size} values, at most {MOST_LEARNT}")


def learns_the_same_for_a_seed(pooling: Any) -> None:
    """The same windows and seed give the same arrays to the bit, and windows are left as they are."""
    skip_unless(learns(pooling), "it learns nothing")
    windows = _windows(8, 60, seed=1)

    def fit() -> np.ndarray:
        arrays = pooling.fit(iter(windows), FRAME_RATE, np.random.default_rng(0))
        return np.concatenate([np.ravel(arrays[name]) for name in sorted(arrays)])

    repeated(lambda: unchanged([windows], fit), "what is learnt")


def learns_from_little(pooling: Any) -> None:
    """One window of one frame, or frames that are all alike, are enough to learn from."""
    skip_unless(learns(pooling), "it learns nothing")
    for windows in (_windows(1, 1), np.full((2, 30, len(NAMES)), -3.0, np.float32)):
        arrays = pooling.fit(iter(windows), FRAME_RATE, np.random.default_rng(0))
        pooled = pooling.pool(_windows(2, 30), FRAME_RATE, arrays)
        require(np.isfinite(pooled).all(), "NaN or infinite values after learning from little")


def a_fitted_row_for_each_window(pooling: Any) -> None:
    """There is one finite row by what it learnt for each window, also where a window has one frame or two."""
    arrays, width = _fitted(pooling), len(pooling.columns(NAMES))
    for n_windows, n_frames in ((6, 40), (1, 200), (3, 1), (3, 2), (0, 40)):
        pooled = pooling.pool(_windows(n_windows, n_frames), FRAME_RATE, arrays)
        require(pooled.shape == (n_windows, width), f"shape {pooled.shape} for {n_windows} windows, {width} columns")
        require(np.isfinite(pooled).all(), f"NaN or infinite values for windows of {n_frames} frames")
    for value in (0.0, 3.0, -3.0):
        pooled = pooling.pool(np.full((2, 20, len(NAMES)), value, np.float32), FRAME_RATE, arrays)
        require(np.isfinite(pooled).all(), f"NaN or infinite values for frames of {value}")


def fitted_windows_do_not_meet(pooling: Any) -> None:
    """A window's row by what it learnt is the same to the bit whatever windows come with it, and wherever they lie."""
    arrays, windows = _fitted(pooling), _windows(5, 64)
    together = unchanged([windows], lambda: pooling.pool(windows, FRAME_RATE, arrays))
    frames = np.concatenate(list(windows))
    views = np.lib.stride_tricks.sliding_window_view(frames, 64, axis=0)[::64].transpose(0, 2, 1)
    for some in (slice(0, 1), slice(1, 3), slice(4, None)):
        for each in (windows, views):
            alone = pooling.pool(each[some], FRAME_RATE, arrays)
            require(np.array_equal(alone, together[some]), "windows one by one differ")


def refuses_what_it_did_not_learn(pooling: Any) -> None:
    """Arrays that are missing, of another shape or not finite are a ValueError."""
    arrays = _fitted(pooling)

    def pool(changed: Arrays) -> Any:
        return pooling.pool(_windows(2, 40), FRAME_RATE, changed)

    require_refusal(partial(pool, {}), "no array")
    for name, array in arrays.items():
        values = np.asarray(array)
        require_refusal(partial(pool, {**arrays, name: values[None]}), f"{name} of shape {values[None].shape}")
        require_refusal(partial(pool, {**arrays, name: values.reshape(-1)[:-1]}), f"{name} cut short")
        if values.dtype.kind == "f":
            require_refusal(partial(pool, {**arrays, name: np.full_like(values, np.nan)}), f"{name} of NaN")


FITTED_CHECKS: tuple[Check, ...] = (
    columns_are_known_before_fitting,
    what_is_learnt_is_small,
    learns_the_same_for_a_seed,
    learns_from_little,
    a_fitted_row_for_each_window,
    fitted_windows_do_not_meet,
    refuses_what_it_did_not_learn,
)
CHECKS: tuple[Check, ...] = (*COMMON, *FITTED_CHECKS)

"""The contract of a pooling: a summary of the frames of each window; checks of one that learns are beside these."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.testing.checks import COMMON, Check, repeated, require, require_close, skip_unless, unchanged
from audioclass.testing.fitted_poolings import FITTED_CHECKS, learns

NAMES = ("level", "centroid", "flux")
FRAME_RATE = 100.0


def _windows(n_windows: int = 6, n_frames: int = 40) -> np.ndarray:
    return np.random.default_rng(0).gamma(2.0, 1.0, (n_windows, n_frames, len(NAMES))).astype(np.float32)


def columns_are_named(pooling: Any) -> None:
    """Each pooled value has a name of its own."""
    skip_unless(not learns(pooling), "it learns")
    columns = list(pooling.columns(NAMES))
    require(columns and all(isinstance(name, str) and name for name in columns), f"columns {columns}")
    require(len(set(columns)) == len(columns), "a name stands twice")


def a_row_for_each_window(pooling: Any) -> None:
    """There is one row of finite values for each window, also where a window has one frame or two."""
    skip_unless(not learns(pooling), "it learns")
    width = len(pooling.columns(NAMES))
    for n_windows, n_frames in ((6, 40), (1, 40), (3, 1), (3, 2), (0, 40)):
        pooled = pooling.pool(_windows(n_windows, n_frames), FRAME_RATE)
        require(pooled.shape == (n_windows, width), f"shape {pooled.shape} for {n_windows} windows, {width} columns")
        require(np.isfinite(pooled).all(), f"NaN or infinite values for windows of {n_frames} frames")


def constants_are_survived(pooling: Any) -> None:
    """Frames that are all alike, or all 0, give finite values."""
    skip_unless(not learns(pooling), "it learns")
    for value in (0.0, 3.0, -3.0):
        pooled = pooling.pool(np.full((2, 20, len(NAMES)), value, np.float32), FRAME_RATE)
        require(np.isfinite(pooled).all(), f"NaN or infinite values for frames of {value}")


def windows_do_not_meet(pooling: Any) -> None:
    """A window's row does not depend on the windows beside it."""
    skip_unless(not learns(pooling), "it learns")
    windows = _windows()
    alone = np.concatenate([pooling.pool(windows[i : i + 1], FRAME_RATE) for i in range(len(windows))])
    require_close(alone, pooling.pool(windows, FRAME_RATE), 1e-5, "windows one by one")


def frames_are_left_alone(pooling: Any) -> None:
    """It does not change the frames, and gives the same twice."""
    skip_unless(not learns(pooling), "it learns")
    windows = _windows()
    repeated(lambda: unchanged([windows], lambda: pooling.pool(windows, FRAME_RATE)), "pooled values")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    columns_are_named,
    a_row_for_each_window,
    constants_are_survived,
    windows_do_not_meet,
    frames_are_left_alone,
    *FITTED_CHECKS,
)

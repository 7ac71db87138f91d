"""How the level of a window is shared out in time: low-energy and silence ratios, and its range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks


@component
class LevelRatios:
    """Of a level in decibels: share of low-energy frames, share of silent frames, and how far it ranges."""

    name: ClassVar[str] = "level_ratios"
    silence: float = parameter(30.0, above=0.0, help="decibels below the loudest frame that count as silence")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Four values for each level."""
        return tracks.suffixed(columns, ["low_energy_ratio", "silence_ratio", "range", "headroom"])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Frames below half the mean power; frames `silence` dB below the loudest; p95 − p5; p95 − median."""
        loudest = windows.max(axis=1, keepdims=True)
        power = 10 ** ((windows - loudest) / np.float32(10))
        low = (power < np.float32(0.5) * power.mean(axis=1, keepdims=True)).mean(axis=1, dtype=np.float32)
        silent = (windows < loudest - np.float32(self.silence)).mean(axis=1, dtype=np.float32)
        p5, p50, p95 = tracks.percentiles(windows, (5, 50, 95))
        return np.concatenate([low, silent, p95 - p5, p95 - p50], axis=1)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Ratios of levels."""
    return [LevelRatios]

"""Intervals of any measure by resampling groups: what another sample of recordings or speakers would have given.

Groups are drawn, not examples: windows of one recording are no independent witnesses. A resample is a weight for each
example, how often its group came up, so that whatever a measure has sorted or binned serves every resample.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

LEVEL = 0.95
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Resampling:
    """How many resamples of the groups are drawn, the part of them that an interval covers, and the seed."""

    n_resamples: int = 1000
    level: float = LEVEL
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_resamples < 1:
            raise ValueError(f"n_resamples={self.n_resamples} must be at least 1")
        if not 0 < self.level < 1:
            raise ValueError(f"level={self.level} must be between 0 and 1")


@dataclass(frozen=True)
class Interval:
    """The middle part of the resamples; both ends NaN where it is not known."""

    low: float
    high: float
    level: float = LEVEL

    @classmethod
    def unknown(cls, level: float = LEVEL) -> Interval:
        """Of a measure that was not drawn, or could not be."""
        return cls(float("nan"), float("nan"), level)

    @property
    def is_known(self) -> bool:
        """Whether there were groups enough, and resamples in which the measure had a value."""
        return bool(np.isfinite(self.low))


def bootstrap(
    measures: Callable[[np.ndarray], Mapping[Name, float]],
    groups: np.ndarray,
    resampling: Resampling | None = None,
) -> dict[Name, Interval]:
    """Percentile interval of each measure; `measures` gives their values for a multiplicity of each example.

    Resamples in which a measure is NaN do not count for it. With a single group nothing is known. What small samples
    inflate, as they do a calibration error, every resample inflates once more: such an interval leans upwards.
    """
    resampling = resampling or Resampling()
    rng = np.random.default_rng(resampling.seed)
    names, group_of = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return {name: Interval.unknown(resampling.level) for name in measures(np.ones(len(groups)))}
    drawn = [measures(_multiplicities(len(names), rng)[group_of]) for _ in range(resampling.n_resamples)]
    return {name: _percentiles(np.array([values[name] for values in drawn]), resampling.level) for name in drawn[0]}


def _multiplicities(n_groups: int, rng: np.random.Generator) -> np.ndarray:
    return np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)


def _percentiles(values: np.ndarray, level: float) -> Interval:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return Interval.unknown(level)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)

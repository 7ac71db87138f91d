"""Recipes: what is computed from a recording, as small plain values with a canonical fingerprint."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft

from audioclass.contracts import Arrays, HasContext
from audioclass.data import Framing
from audioclass.errors import UsageError
from audioclass.extraction.parts import Learnt, Part
from audioclass.extraction.recipe_limits import (
    ONE_VERSION,
    check_cost,
    check_learnt,
    checked_number,
    checked_recipe,
    checked_versions,
)
from audioclass.pooling.windows import Windows

DERIVATIVE_REACH = 2  # frames beside one that the slope of its tracks is fitted to
FORMAT = 3  # raised whenever the same recipe would give other values than before
FRAMING_KEYS = ("sample_rate", "frame_length", "hop_length")


@dataclass(frozen=True)
class Recipe:
    """How recordings become features; `window` and `window_hop` are seconds, `origins` the components' distributions.

    A recording no longer than a window is one window. With `trim`, digital silence at both ends is left out. One that
    `adapts_rate` is taken at a lower sample rate where the recordings that it is trained on have no more. So many
    frames of `context` are computed beside every block at least, though no descriptor of these parts reads them: a part
    gives the same bits by itself as among others.
    `versions` are speeds: each window is described as it is and as it would be if the recording were played so many
    times as fast, one version after the other in its row. The first is 1.
    """

    name: str
    framing: Framing
    window: float
    window_hop: float
    parts: tuple[Part, ...]
    trim: bool = False
    summary: str = ""
    origins: tuple[str, ...] = ()
    context: int = 0
    versions: tuple[float, ...] = ONE_VERSION
    adapts_rate: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: another thread may compute something of them while this one sends them to a process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The name of every feature; those of a version other than the first end with its speed, as in `@1.0714`."""
        names = [name for part in self.parts for name in part.columns(self.framing)]
        suffixes = ["", *(f"@{speed:.5g}" for speed in self.versions[1:])]
        return tuple(name + suffix for suffix in suffixes for name in names)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The group of every feature."""
        groups = [part.group for part in self.parts for _ in part.columns(self.framing)]
        return tuple(groups * len(self.versions))

    @cached_property
    def at_one_speed(self) -> Recipe:
        """The same with the first version alone: its columns and groups are those that machines compare."""
        return replace(self, versions=ONE_VERSION)

    @property
    def n_features(self) -> int:
        """How many features a version of a window has."""
        return len(self.columns) // len(self.versions)

    @cached_property
    def group_weights(self) -> dict[str, float]:
        """The weight of every group in distances between windows."""
        return {part.group: part.weight for part in self.parts}

    @cached_property
    def learns(self) -> bool:
        """Whether any of its poolings learns from training recordings."""
        return any(part.learners for part in self.parts)

    @cached_property
    def is_fitted(self) -> bool:
        """Whether all of its poolings that learn have learnt: before, nothing can be extracted."""
        return all(len(part.fitted) == len(part.learners) for part in self.parts)

    @cached_property
    def fixed(self) -> Recipe:
        """The parts that learn nothing, whose features no training changes; there may be none."""
        return self._some(lambda part: not part.learners)

    @cached_property
    def learnt(self) -> Recipe:
        """The parts of which a pooling learns."""
        return self._some(lambda part: bool(part.learners))

    def _some(self, is_among: Callable[[Part], bool]) -> Recipe:
        return replace(self, parts=tuple(filter(is_among, self.parts)), context=self.reach)

    @cached_property
    def reach(self) -> int:
        """How many frames beside a block are computed with it: what descriptors and derivatives read, or `context`."""
        return max([self.context, *(_reach(part) for part in self.parts)])

    @cached_property
    def is_learnt(self) -> np.ndarray:
        """(n_features,): whether each is of a part of which a pooling learns."""
        flags = [bool(part.learners) for part in self.parts]
        of_version = np.repeat(np.array(flags, bool), [len(part.columns(self.framing)) for part in self.parts])
        return np.tile(of_version, len(self.versions))

    def join(self, fixed: np.ndarray, learnt: np.ndarray) -> np.ndarray:
        """Rows of the recipe's features from those of its fixed and of its learnt parts."""
        X = np.empty((len(fixed), len(self.columns)), np.result_type(fixed, learnt))
        X[:, ~self.is_learnt], X[:, self.is_learnt] = fixed, learnt
        return X

    def with_learnt(self, learnt: Sequence[Sequence[Arrays]]) -> Recipe:
        """The same with what every pooling that learns has learnt, part by part; a ValueError where it does not fit."""
        parts = []
        for part, of_part in zip(self.parts, learnt, strict=True):
            fitted = tuple(Learnt.of(arrays) for arrays in of_part)
            parts.append(replace(part, fitted=fitted))
            check_learnt(parts[-1], self.framing)
        return replace(self, parts=tuple(parts))

    @cached_property
    def unfitted(self) -> Recipe:
        """The same before anything was learnt."""
        return replace(self, parts=tuple(replace(part, fitted=()) for part in self.parts))

    def require_fitted(self) -> Recipe:
        """The recipe itself; a UsageError where a pooling must be fitted to training recordings first."""
        if not self.is_fitted:
            names = ", ".join(dict.fromkeys(one.name for part in self.parts for one in part.learners))
            raise UsageError(
                f"recipe {self.name}: pooling {names} learns from training recordings; train a model with the recipe"
                " and extract with `--model`"
            )
        return self

    @cached_property
    def windows(self) -> Windows:
        """The layout of the windows, in frames."""
        length, hop = (max(1, round(seconds * self.framing.frame_rate)) for seconds in (self.window, self.window_hop))
        return Windows(length, hop)

    def with_windows(self, window: float, window_hop: float) -> Recipe:
        """The same over other windows, if they can be afforded."""
        for key, value in {"window": window, "window_hop": window_hop}.items():
            checked_number(self.name, {key: value}, key)
        changed = replace(self, window=window, window_hop=window_hop)
        check_cost(changed)
        return changed

    def hop_for(self, window: float) -> float:
        """The hop that goes with a window of so many seconds: its own, or half of one that is shorter than its own."""
        return self.window_hop if window >= self.window else min(self.window_hop, window / 2)

    def with_versions(self, versions: Sequence[float]) -> Recipe:
        """The same in other versions, if they can be afforded."""
        changed = replace(self, versions=checked_versions(self.name, list(versions)))
        return self if changed.versions == self.versions else checked_recipe(changed)

    def at_rate(self, sample_rate: int) -> Recipe:
        """The same for another sample rate, with frames and hops of the same seconds.

        Frames may be a little longer: as long as the next length of which the FFT is fast.
        """
        if sample_rate == self.framing.sample_rate:
            return self
        ratio = sample_rate / self.framing.sample_rate

        hop_length = max(1, round(self.framing.hop_length * ratio))
        framing = Framing(sample_rate, _fast_length(self.framing.frame_length * ratio), hop_length)
        parts = [
            replace(part, frame_length=_fast_length(part.frame_length * ratio)) if part.frame_length else part
            for part in self.parts
        ]
        return checked_recipe(replace(self, framing=framing, parts=tuple(parts)))

    def plain(self) -> dict[str, Any]:
        """The recipe as it stands in a file; every parameter is stated, and versions where there are several."""
        versions = {} if self.versions == ONE_VERSION else {"versions": list(self.versions)}
        adapts = {"adapts_rate": True} if self.adapts_rate else {}
        return {
            "summary": self.summary,
            **{key: getattr(self.framing, key) for key in FRAMING_KEYS},
            "window": self.window,
            "window_hop": self.window_hop,
            "trim": self.trim,
            **versions,
            **adapts,
            "parts": [part.plain() for part in self.parts],
        }

    @cached_property
    def fingerprint(self) -> str:
        """The same for recipes that give the same features: what is computed, by which versions of components."""
        table = {key: value for key, value in self.plain().items() if key not in ("summary", "adapts_rate")}
        table["parts"] = [{key: value for key, value in part.items() if key != "weight"} for part in table["parts"]]
        entries: list[Any] = [FORMAT, table, sorted(self.origins)]
        if self.learns:
            entries.append([[learnt.digest for learnt in part.fitted] for part in self.parts])
        if self.reach > max(map(_reach, self.parts), default=0):
            entries.append(self.reach)
        text = json.dumps(entries, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _fast_length(least: float) -> int:
    """The next even number of samples of which the FFT is fast."""
    return 2 * int(scipy.fft.next_fast_len(max(1, math.ceil(least / 2)), real=True))


def _reach(part: Part) -> int:
    """How many frames beside a block its descriptors and derivatives read."""
    contexts = [each.context for each in part.descriptors if isinstance(each, HasContext)]
    return max(contexts, default=0) + DERIVATIVE_REACH * part.derivatives

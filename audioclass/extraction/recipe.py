"""Recipes: what is computed from a recording, as small plain values with a canonical fingerprint."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft

from audioclass.contracts import Arrays, Descriptor, HasContext
from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import UsageError, unknown_name
from audioclass.extraction.frames import FRAMES_PER_BLOCK
from audioclass.extraction.parts import Learnt, Part
from audioclass.pooling.windows import Windows

DERIVATIVE_REACH = 2  # frames beside one that the slope of its tracks is fitted to
FORMAT = 1  # raised whenever the same recipe would give other values than before
FRAMING_KEYS = ("sample_rate", "frame_length", "hop_length")
PART_KEYS = ("group", "descriptors", "poolings", "derivatives", "embedding", "frame_length", "weight")
RECIPE_KEYS = (
    "summary", "candidate", "sample_rate", "frame_length", "hop_length", "window", "window_hop", "trim", "versions",
    "adapts_rate", "parts",
)  # fmt: skip

# What a recipe may ask for: beyond these a small file would take gigabytes before the first recording is read.
LIMITS = {
    "sample_rate": 768_000,
    "frame_length": 2**14,
    "hop_length": 2**14,
    "window": 86_400.0,
    "window_hop": 86_400.0,
    "weight": 1e6,
}
MOST_FRAMES = 8000  # a second
MOST_OVERLAP = 64  # frames that a sample stands in
MOST_SAMPLES = 2**23  # of the frames that are computed together, with those beside them that descriptors look at
MOST_LISTED = 128  # parts, components of one, values of a parameter
MOST_FEATURES = 2**14  # of one version
MOST_VERSIONS = 9
SPEEDS = (0.5, 2.0)
ONE_VERSION = (1.0,)
MOST_POOLED = 2**25  # values of the windows that are pooled together

Make = Callable[[str, str, Mapping[str, Any]], Any]


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
            _check_learnt(parts[-1], self.framing)
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
            _number(self.name, {key: value}, key)
        changed = replace(self, window=window, window_hop=window_hop)
        _check_cost(changed)
        return changed

    def with_versions(self, versions: Sequence[float]) -> Recipe:
        """The same in other versions, if they can be afforded."""
        changed = replace(self, versions=_versions(self.name, list(versions)))
        return self if changed.versions == self.versions else _checked(changed)

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
        return _checked(replace(self, framing=framing, parts=tuple(parts)))

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


def recipe_of(name: str, table: Mapping[str, Any], make: Make, origin: Callable[[str, str], str]) -> Recipe:
    """The recipe of a plain table; `make` and `origin` turn a kind and a name into a component and its distribution."""
    _check_keys(f"recipe {name}", table, RECIPE_KEYS)
    origins: set[str] = set()

    def component(kind: str, stated: Any) -> Any:
        if not isinstance(stated, Mapping) or not isinstance(stated.get("name"), str):
            raise UsageError(f"recipe {name}: {stated!r} must be a {kind} with its name and parameters")
        for key, value in stated.items():
            if isinstance(value, list) and len(value) > MOST_LISTED:
                raise UsageError(
                    f"recipe {name}: {kind} {stated['name']}: {key} has {len(value)} values,"
                    f" at most {MOST_LISTED} are read"
                )
        origins.add(origin(kind, stated["name"]))
        return make(kind, stated["name"], {key: value for key, value in stated.items() if key != "name"})

    try:
        framing = Framing(*(int(_number(name, table, key)) for key in FRAMING_KEYS))
    except ValueError as error:
        raise UsageError(f"recipe {name}: {error}") from error
    parts = tuple(_part(name, part, component) for part in _list(f"recipe {name}", table, "parts"))
    return _checked(
        Recipe(
            name,
            framing,
            _number(name, table, "window"),
            _number(name, table, "window_hop"),
            parts,
            trim=bool(table.get("trim", False)),
            adapts_rate=bool(table.get("adapts_rate", False)),
            summary=str(table.get("summary", "")),
            origins=tuple(sorted(origins)),
            versions=stated_versions(name, table),
        )
    )


def _part(name: str, table: Any, component: Callable[[str, Any], Any]) -> Part:
    if not isinstance(table, Mapping) or not isinstance(table.get("group"), str) or not table["group"]:
        raise UsageError(f"recipe {name}: every part must name its group")
    where = f"recipe {name}, group {table['group']}"
    _check_keys(where, table, PART_KEYS)
    weight = _number(name, {"weight": 1.0, **table}, "weight")
    if "embedding" in table:
        return Part(table["group"], embedding=component("embedding", table["embedding"]), weight=weight)
    derivatives = table.get("derivatives", 0)
    if derivatives not in (0, 1, 2):
        raise UsageError(f"{where}: derivatives={derivatives!r} must be 0, 1 or 2")
    descriptors = tuple(component("descriptor", one) for one in _list(where, table, "descriptors"))
    poolings = tuple(component("pooling", one) for one in _list(where, table, "poolings"))
    frame_length = int(_number(name, table, "frame_length")) if "frame_length" in table else None
    return Part(table["group"], descriptors, poolings, derivatives, weight=weight, frame_length=frame_length)


def _checked(recipe: Recipe) -> Recipe:
    if recipe.framing.hop_length > recipe.framing.frame_length:
        raise UsageError(f"recipe {recipe.name}: hop_length must be at most frame_length, or samples are skipped")
    for part in recipe.parts:
        if part.weight != recipe.group_weights[part.group]:
            raise UsageError(f"recipe {recipe.name}: parts of group {part.group} must have the same weight")
        shortest, longest = recipe.framing.hop_length, recipe.framing.frame_length
        if part.frame_length is not None and not shortest <= part.frame_length <= longest:
            raise UsageError(
                f"recipe {recipe.name}, group {part.group}: frame_length={part.frame_length} must be from hop_length to"
                f" frame_length of the recipe, {shortest} to {longest}"
            )
    _check_cost(recipe)
    silence = CachedSpectra(np.zeros(recipe.framing.frame_length, np.float32), recipe.framing)
    try:  # what a component finds wrong with this sample rate or frame is found now, not at the first recording
        columns = recipe.columns
        for part in recipe.parts:
            own = part.framing(recipe.framing)
            for speed in recipe.versions:
                spectra = silence.middle(own.frame_length).at_speed(speed)
                for descriptor in part.descriptors:
                    _check_width(descriptor, spectra, own)
    except ValueError as error:
        raise UsageError(f"recipe {recipe.name}: {error}") from error
    if len(set(columns)) < len(columns):
        repeated = min(name for name, count in Counter(columns).items() if count > 1)
        raise UsageError(f"recipe {recipe.name}: feature {repeated!r} is computed twice")
    return recipe


def _fast_length(least: float) -> int:
    """The next even number of samples of which the FFT is fast."""
    return 2 * int(scipy.fft.next_fast_len(max(1, math.ceil(least / 2)), real=True))


def _reach(part: Part) -> int:
    """How many frames beside a block its descriptors and derivatives read."""
    contexts = [each.context for each in part.descriptors if isinstance(each, HasContext)]
    return max(contexts, default=0) + DERIVATIVE_REACH * part.derivatives


def _check_learnt(part: Part, framing: Framing) -> None:
    """Refuse what poolings could not have learnt for these descriptors: a single frame is pooled with it."""
    if len(part.fitted) != len(part.learners):
        raise ValueError(f"group {part.group}: {len(part.fitted)} of {len(part.learners)} poolings have learnt")
    names = part.frame_columns(framing) if part.learners else []
    frame = np.zeros((1, 1, len(names)), np.float32)
    for pooling, learnt in zip(part.learners, part.fitted, strict=True):
        try:
            pooled = pooling.pool(frame, framing.frame_rate, learnt.arrays)
        except ValueError as error:
            raise ValueError(f"group {part.group}: {error}") from error
        if np.shape(pooled) != (1, len(pooling.columns(names))) or not np.isfinite(pooled).all():
            raise ValueError(f"group {part.group}: what pooling {pooling.name} has learnt does not fit it")


def _check_width(descriptor: Descriptor, spectra: CachedSpectra, framing: Framing) -> None:
    """A descriptor that counts bins for itself may give other columns at another speed."""
    width, expected = descriptor.frames(spectra).shape[1], len(descriptor.columns(framing))
    if spectra.framing.speed != 1 and width != expected:
        raise ValueError(f"{descriptor.name} gives {width} values at speed {spectra.framing.speed:g}, not {expected}")


def stated_versions(name: str, table: Mapping[str, Any]) -> tuple[float, ...]:
    """The versions of a recipe as a table."""
    return _versions(name, table.get("versions", list(ONE_VERSION)))


def _versions(name: str, stated: Any) -> tuple[float, ...]:
    """Speeds that a file or a user states, the first of them 1."""
    numbers = stated if isinstance(stated, list) else []
    are_numbers = all(type(speed) in (int, float) and SPEEDS[0] <= speed <= SPEEDS[1] for speed in numbers)
    if not 1 <= len(numbers) <= MOST_VERSIONS or not are_numbers or numbers[0] != 1:
        raise UsageError(
            f"recipe {name}: versions={str(stated)[:80]} must be 1 to {MOST_VERSIONS} speeds from {SPEEDS[0]:g} to"
            f" {SPEEDS[1]:g}, the first of them 1"
        )
    if len({f"{speed:.5g}" for speed in numbers}) < len(numbers):
        raise UsageError(f"recipe {name}: versions={stated} has a speed twice")
    return tuple(map(float, numbers))


def _check_cost(recipe: Recipe) -> None:
    """Bound what a second of audio becomes, and the windows that are pooled together, before anything is computed."""
    framing, windows, where = recipe.framing, recipe.windows, f"recipe {recipe.name}"
    if framing.frame_rate > MOST_FRAMES:
        raise UsageError(f"{where}: {framing.frame_rate:g} frames a second, at most {MOST_FRAMES}")
    if framing.frame_length > MOST_OVERLAP * framing.hop_length:
        raise UsageError(f"{where}: frame_length must be at most {MOST_OVERLAP} times hop_length")
    reach = recipe.reach
    if (FRAMES_PER_BLOCK + 2 * reach) * framing.frame_length > MOST_SAMPLES:
        raise UsageError(f"{where}: frame_length={framing.frame_length} is too long with {reach} frames of context")
    n_features = 0
    try:
        for part in recipe.parts:
            # An embedding is handed the samples themselves; the others as many windows as a block of frames completes.
            width = framing.hop_length if part.embedding is not None else len(part.frame_columns(framing))
            together = (FRAMES_PER_BLOCK // windows.hop + 1) * min(windows.length, MOST_FRAMES) * width
            together = round(together * sum(1 / speed for speed in recipe.versions))
            n_features += len(part.columns(framing)) if together <= MOST_POOLED else 0
            if together > MOST_POOLED or n_features > MOST_FEATURES:
                raise UsageError(
                    f"{where}, group {part.group}: {together} values pooled together and {n_features} features,"
                    f" at most {MOST_POOLED} and {MOST_FEATURES}"
                )
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error


def _check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {unknown_name('key', key, known)}")


def _list(where: str, table: Mapping[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or not value:
        raise UsageError(f"{where}: {key} must be a list of at least one")
    if len(value) > MOST_LISTED:
        raise UsageError(f"{where}: {key} has {len(value)} entries, at most {MOST_LISTED} are read")
    return value


def _number(name: str, table: Mapping[str, Any], key: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise UsageError(f"recipe {name}: {key}={value!r} must be a positive number")
    if value > LIMITS[key]:
        raise UsageError(f"recipe {name}: {key}={value!r} must be at most {LIMITS[key]:g}")
    return float(value)

"""Recipes: what is computed from a recording, as small plain values with a canonical fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from audioclass.contracts import Descriptor, Embedding, HasContext, Named, Pooling
from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import UsageError, unknown_name
from audioclass.extraction.frames import FRAMES_PER_BLOCK
from audioclass.parameters import parameter_values
from audioclass.pooling.windows import Windows

FORMAT = 1  # raised whenever the same recipe would give other values than before
PART_KEYS = ("group", "descriptors", "poolings", "derivatives", "embedding")
RECIPE_KEYS = (
    "summary", "sample_rate", "frame_length", "hop_length", "window", "window_hop", "trim", "parts",
)  # fmt: skip

# What a recipe may ask for: beyond these a small file would take gigabytes before the first recording is read.
LIMITS = {
    "sample_rate": 768_000,
    "frame_length": 2**14,
    "hop_length": 2**14,
    "window": 86_400.0,
    "window_hop": 86_400.0,
}
MOST_FRAMES = 8000  # a second
MOST_OVERLAP = 64  # frames that a sample stands in
MOST_SAMPLES = 2**23  # of the frames that are computed together, with those beside them that descriptors look at
MOST_LISTED = 128  # parts, components of one, values of a parameter
MOST_FEATURES = 2**14
MOST_POOLED = 2**25  # values of the windows that are pooled together

Make = Callable[[str, str, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Part:
    """Some descriptors, their derivatives up to an order, and the poolings of all of them; or one embedding.

    Its features belong to `group`: kernels weigh distances group by group.
    """

    group: str
    descriptors: tuple[Descriptor, ...] = ()
    poolings: tuple[Pooling, ...] = ()
    derivatives: int = 0
    embedding: Embedding | None = None

    def frame_columns(self, framing: Framing) -> list[str]:
        """Names of the values of each frame, derivatives after the values."""
        names = [name for descriptor in self.descriptors for name in descriptor.columns(framing)]
        return [name + suffix for suffix in ("", "_d1", "_d2")[: self.derivatives + 1] for name in names]

    def columns(self, framing: Framing) -> list[str]:
        """Names of the features, each with the group before it."""
        if self.embedding is not None:
            return [f"{self.group}.{name}" for name in self.embedding.columns()]
        frame_columns = self.frame_columns(framing)
        return [f"{self.group}.{name}" for pooling in self.poolings for name in pooling.columns(frame_columns)]

    def plain(self) -> dict[str, Any]:
        """The part as it stands in a recipe file."""
        if self.embedding is not None:
            return {"group": self.group, "embedding": _plain_component(self.embedding)}
        return {
            "group": self.group,
            "descriptors": [_plain_component(component) for component in self.descriptors],
            "poolings": [_plain_component(component) for component in self.poolings],
            "derivatives": self.derivatives,
        }


@dataclass(frozen=True)
class Recipe:
    """How recordings become features; `window` and `window_hop` are seconds, `origins` the components' distributions.

    A recording no longer than a window is one window. With `trim`, digital silence at both ends is left out.
    """

    name: str
    framing: Framing
    window: float
    window_hop: float
    parts: tuple[Part, ...]
    trim: bool = False
    summary: str = ""
    origins: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The name of every feature."""
        return tuple(name for part in self.parts for name in part.columns(self.framing))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The group of every feature."""
        return tuple(part.group for part in self.parts for _ in part.columns(self.framing))

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

    def plain(self) -> dict[str, Any]:
        """The recipe as it stands in a file; every parameter is stated."""
        return {
            "summary": self.summary,
            **vars(self.framing),
            "window": self.window,
            "window_hop": self.window_hop,
            "trim": self.trim,
            "parts": [part.plain() for part in self.parts],
        }

    @cached_property
    def fingerprint(self) -> str:
        """The same for recipes that give the same features: what is computed, by which versions of components."""
        table = {key: value for key, value in self.plain().items() if key != "summary"}
        text = json.dumps([FORMAT, table, sorted(self.origins)], sort_keys=True)
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
        framing = Framing(*(int(_number(name, table, key)) for key in ("sample_rate", "frame_length", "hop_length")))
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
            summary=str(table.get("summary", "")),
            origins=tuple(sorted(origins)),
        )
    )


def _part(name: str, table: Any, component: Callable[[str, Any], Any]) -> Part:
    if not isinstance(table, Mapping) or not isinstance(table.get("group"), str) or not table["group"]:
        raise UsageError(f"recipe {name}: every part must name its group")
    where = f"recipe {name}, group {table['group']}"
    _check_keys(where, table, PART_KEYS)
    if "embedding" in table:
        return Part(table["group"], embedding=component("embedding", table["embedding"]))
    derivatives = table.get("derivatives", 0)
    if derivatives not in (0, 1, 2):
        raise UsageError(f"{where}: derivatives={derivatives!r} must be 0, 1 or 2")
    descriptors = tuple(component("descriptor", one) for one in _list(where, table, "descriptors"))
    poolings = tuple(component("pooling", one) for one in _list(where, table, "poolings"))
    return Part(table["group"], descriptors, poolings, derivatives)


def _checked(recipe: Recipe) -> Recipe:
    if recipe.framing.hop_length > recipe.framing.frame_length:
        raise UsageError(f"recipe {recipe.name}: hop_length must be at most frame_length, or samples are skipped")
    _check_cost(recipe)
    silence = CachedSpectra(np.zeros(recipe.framing.frame_length, np.float32), recipe.framing)
    try:  # what a component finds wrong with this sample rate or frame is found now, not at the first recording
        columns = recipe.columns
        for descriptor in (descriptor for part in recipe.parts for descriptor in part.descriptors):
            descriptor.frames(silence)
    except ValueError as error:
        raise UsageError(f"recipe {recipe.name}: {error}") from error
    if len(set(columns)) < len(columns):
        repeated = min(name for name, count in Counter(columns).items() if count > 1)
        raise UsageError(f"recipe {recipe.name}: feature {repeated!r} is computed twice")
    return recipe


def _check_cost(recipe: Recipe) -> None:
    """Bound what a second of audio becomes, and the windows that are pooled together, before anything is computed."""
    framing, windows, where = recipe.framing, recipe.windows, f"recipe {recipe.name}"
    if framing.frame_rate > MOST_FRAMES:
        raise UsageError(f"{where}: {framing.frame_rate:g} frames a second, at most {MOST_FRAMES}")
    if framing.frame_length > MOST_OVERLAP * framing.hop_length:
        raise UsageError(f"{where}: frame_length must be at most {MOST_OVERLAP} times hop_length")
    reach = max(
        (one.context for part in recipe.parts for one in part.descriptors if isinstance(one, HasContext)), default=0
    )
    if (FRAMES_PER_BLOCK + 2 * reach) * framing.frame_length > MOST_SAMPLES:
        raise UsageError(f"{where}: frame_length={framing.frame_length} is too long with {reach} frames of context")
    n_features = 0
    try:
        for part in recipe.parts:
            # An embedding is handed the samples themselves; the others as many windows as a block of frames completes.
            width = framing.hop_length if part.embedding is not None else len(part.frame_columns(framing))
            together = (FRAMES_PER_BLOCK // windows.hop + 1) * min(windows.length, MOST_FRAMES) * width
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


def _plain_component(component: Named) -> dict[str, Any]:
    values = {
        key: list(value) if isinstance(value, tuple) else value for key, value in parameter_values(component).items()
    }
    return {"name": component.name, **{key: value for key, value in values.items() if value is not None}}

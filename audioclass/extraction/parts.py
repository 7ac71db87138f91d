"""A part of a recipe: descriptors with their poolings, or an embedding, and what poolings have learnt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from audioclass.contracts import Arrays, Descriptor, Embedding, FittedPooling, FixedPooling, Named, Pooling
from audioclass.data import Framing
from audioclass.parameters import parameter_values

MOST_LEARNT = 2**22  # values of what one pooling has learnt
ARRAY_NAME = re.compile("[a-z0-9_]+")


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a pooling has learnt, as it is kept: floats in single precision; equal where it is the same to the bit."""

    arrays: Arrays

    @classmethod
    def of(cls, arrays: Arrays) -> Learnt:
        """From what `fit` gave or a file holds; a ValueError where that cannot be kept."""
        if not isinstance(arrays, Mapping) or not arrays:
            raise ValueError(f"what it learnt is {type(arrays).__name__}, must be named arrays, at least one")
        if sum(np.size(array) for array in arrays.values()) > MOST_LEARNT:
            raise ValueError(f"what it learnt has more than {MOST_LEARNT} values")
        return cls({str(name): _single(str(name), arrays[name]) for name in sorted(arrays, key=str)})

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: another thread may compute something of them while this one sends them to a process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def digest(self) -> str:
        """Of every name, shape and value."""
        digest = hashlib.sha256()
        for name, array in self.arrays.items():
            digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Learnt) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def _single(name: str, array: Any) -> np.ndarray:
    values = np.asarray(array)
    if not ARRAY_NAME.fullmatch(name):
        raise ValueError(f"array {name[:40]!r} must be named by lower-case letters, digits and underscores")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"array {name!r} holds {values.dtype}, must hold numbers")
    single = np.ascontiguousarray(values, "<f4" if values.dtype.kind == "f" else "<i8")
    if not np.isfinite(single).all():
        raise ValueError(f"array {name!r} holds NaN or infinite values")
    single.flags.writeable = False
    return single


@dataclass(frozen=True)
class Part:
    """Some descriptors, their derivatives up to an order, and the poolings of all of them; or one embedding.

    Its features belong to `group`: kernels weigh distances group by group, each with its `weight`. Its frames have a
    `frame_length` of their own where one is stated: they are the middle of those of the recipe. `fitted` has what each
    pooling that learns has learnt, in their order; it is empty before they were fitted.
    """

    group: str
    descriptors: tuple[Descriptor, ...] = ()
    poolings: tuple[Pooling, ...] = ()
    derivatives: int = 0
    embedding: Embedding | None = None
    weight: float = 1.0
    fitted: tuple[Learnt, ...] = ()
    frame_length: int | None = None

    def framing(self, framing: Framing) -> Framing:
        """How it cuts recordings, in a recipe of this framing."""
        return framing if self.frame_length is None else replace(framing, frame_length=self.frame_length)

    def frame_columns(self, framing: Framing) -> list[str]:
        """Names of the values of each frame, derivatives after the values, in a recipe of this framing."""
        framing = self.framing(framing)
        names = [name for descriptor in self.descriptors for name in descriptor.columns(framing)]
        return [name + suffix for suffix in ("", "_d1", "_d2")[: self.derivatives + 1] for name in names]

    def columns(self, framing: Framing) -> list[str]:
        """Names of the features, each with the group before it."""
        if self.embedding is not None:
            return [f"{self.group}.{name}" for name in self.embedding.columns()]
        frame_columns = self.frame_columns(framing)
        return [f"{self.group}.{name}" for pooling in self.poolings for name in pooling.columns(frame_columns)]

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: another thread may compute something of them while this one sends them to a process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def learners(self) -> tuple[FittedPooling, ...]:
        """The poolings that learn from training recordings."""
        return tuple(pooling for pooling in self.poolings if isinstance(pooling, FittedPooling))

    @cached_property
    def _which_learn(self) -> tuple[bool, ...]:
        """Of each pooling; it takes long to ask a protocol, so it is asked once."""
        return tuple(isinstance(pooling, FittedPooling) for pooling in self.poolings)

    def pool(self, windows: np.ndarray, frame_rate: float) -> list[tuple[Pooling, np.ndarray]]:
        """What each pooling makes of the frames of windows."""
        learnt, pooled = iter(self.fitted), []
        for pooling, learns in zip(self.poolings, self._which_learn, strict=True):
            if learns:
                values = cast(FittedPooling, pooling).pool(windows, frame_rate, next(learnt).arrays)
            else:
                values = cast(FixedPooling, pooling).pool(windows, frame_rate)
            pooled.append((pooling, values))
        return pooled

    def plain(self) -> dict[str, Any]:
        """The part as it stands in a recipe file; what was learnt stands in a model."""
        weight = {} if self.weight == 1.0 else {"weight": self.weight}
        if self.embedding is not None:
            return {"group": self.group, "embedding": _plain_component(self.embedding), **weight}
        frame_length = {} if self.frame_length is None else {"frame_length": self.frame_length}
        return {
            "group": self.group,
            "descriptors": [_plain_component(component) for component in self.descriptors],
            "poolings": [_plain_component(component) for component in self.poolings],
            "derivatives": self.derivatives,
            **frame_length,
            **weight,
        }


def _plain_component(component: Named) -> dict[str, Any]:
    values = {
        key: list(value) if isinstance(value, tuple) else value for key, value in parameter_values(component).items()
    }
    return {"name": component.name, **{key: value for key, value in values.items() if value is not None}}

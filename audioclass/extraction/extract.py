"""The pure function of (recording, recipe): samples in, features of windows out, in bounded memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audioclass.audio.blocks import resample
from audioclass.contracts import EmbedsMany, Named
from audioclass.data import Block, Features, Segment
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import ComponentError
from audioclass.extraction.frames import spectra_blocks
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import DERIVATIVE_REACH, Recipe
from audioclass.pooling.tracks import derivative, sharing
from audioclass.pooling.windows import Windower
from audioclass.threads import one_thread

DECIMALS = 4


def extract_features(blocks: Iterable[Block], recipe: Recipe) -> Iterator[Features]:
    """Features of a recording's windows, a few windows at a time; blocks are mono and at the recipe's sample rate."""
    return _with_end(blocks, recipe.require_fitted())


def _with_end(blocks: Iterable[Block], recipe: Recipe) -> Iterator[Features]:
    clock = _Clock(recipe)
    last: Features | None = None  # it waits: where the recording ends, so does its last window
    for features in _all_windows(blocks, recipe, clock):
        if last is not None:
            yield last
        before, last = features.rows(slice(None, -1)), features.rows(slice(-1, None))
        if before.segments:
            yield before
    if last is not None:
        yield clock.end_with_recording(last)


def _all_windows(blocks: Iterable[Block], recipe: Recipe, clock: _Clock) -> Iterator[Features]:
    windower = Windower(recipe.windows)
    for spectra, inside in spectra_blocks(clock.watch(blocks), recipe.framing, recipe.reach):
        for starts, windows in windower.push(_frame_matrices(recipe, spectra, inside)):
            yield _pooled(recipe, clock, starts, windows)
    for starts, windows in windower.finish():
        yield _pooled(recipe, clock, starts, windows)


class _Clock:
    """Where in time frames lie: the recording's start after trimming, and its end once it is known."""

    def __init__(self, recipe: Recipe) -> None:
        self._rate = recipe.framing.sample_rate
        self._hop = recipe.framing.hop_length
        self._length = recipe.windows.length
        self._offset = 0
        self._n_samples = 0

    def watch(self, blocks: Iterable[Block]) -> Iterator[np.ndarray]:
        for i, block in enumerate(blocks):
            if i == 0:
                self._offset = block.start
            self._n_samples += len(block.samples)
            yield block.samples[:, 0]

    def segment(self, frame: int) -> Segment:
        first, last = self._offset + frame * self._hop, self._offset + (frame + self._length) * self._hop
        return Segment(first / self._rate, last / self._rate)

    def end_with_recording(self, features: Features) -> Features:
        """The last window's segment ends where the recording does: a remnant too short for a window is part of it."""
        *others, last = features.segments
        end = (self._offset + self._n_samples) / self._rate
        return replace(features, segments=(*others, replace(last, end=max(end, last.start))))


@one_thread()
def _frame_matrices(recipe: Recipe, spectra: CachedSpectra, inside: slice) -> list[np.ndarray]:
    """One matrix for each source: descriptors and their derivatives, or the samples themselves for embeddings."""
    known: dict[Any, np.ndarray] = {}
    matrices = [_part_frames(part, spectra, known)[inside] for part in _sources(recipe).values()]
    return matrices or [np.empty((inside.stop - inside.start, 0), np.float32)]


def _sources(recipe: Recipe) -> dict[Hashable, Part]:
    """What the frames of parts are made of, with a part that is: parts of the same descriptors share their frames."""
    sources: dict[Hashable, Part] = {}
    for part in recipe.parts:
        sources.setdefault(_source(part), part)
    return sources


def _source(part: Part) -> Hashable:
    return "samples" if part.embedding is not None else (part.descriptors, part.derivatives)


def _part_frames(part: Part, spectra: CachedSpectra, known: dict[Any, np.ndarray]) -> np.ndarray:
    if part.embedding is not None:
        half, hop = spectra.framing.frame_length // 2, spectra.framing.hop_length
        return spectra.frames[:, half : half + hop]
    for descriptor in part.descriptors:
        if descriptor not in known:
            known[descriptor] = _finite(descriptor.frames(spectra), "descriptor", descriptor)
    columns = [known[descriptor] for descriptor in part.descriptors]
    values = np.concatenate(columns, axis=1) if len(columns) > 1 else columns[0]
    orders = [values]
    for _ in range(part.derivatives):
        orders.append(derivative(orders[-1][None], DERIVATIVE_REACH)[0])
    return np.concatenate(orders, axis=1) if part.derivatives else values


@one_thread()
def _pooled(recipe: Recipe, clock: _Clock, starts: Sequence[int], windows: Sequence[np.ndarray]) -> Features:
    of_source = dict(zip(_sources(recipe), windows, strict=bool(recipe.parts)))
    with sharing():
        parts = [np.empty((len(starts), 0), np.float32)]
        parts += [_pool_part(part, recipe, of_source[_source(part)]) for part in recipe.parts]
    # Digits that differ by rounding alone must not survive to be ranked against one another.
    X = np.round(np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind"), DECIMALS)
    return Features(X, recipe.columns, recipe.groups, tuple(clock.segment(start) for start in starts))


def _pool_part(part: Part, recipe: Recipe, windows: np.ndarray) -> np.ndarray:
    if part.embedding is None:
        pooled = part.pool(windows, recipe.framing.frame_rate)
        return np.concatenate([_finite(values, "pooling", pooling) for pooling, values in pooled], axis=1)
    rate = part.embedding.sample_rate
    samples = [resample(window.reshape(-1), recipe.framing.sample_rate, rate) for window in windows]
    if isinstance(part.embedding, EmbedsMany):
        embedded = part.embedding.embed_many(np.stack(samples), rate)
    else:
        embedded = np.stack([part.embedding.embed(window, rate) for window in samples])
    return _finite(embedded, "embedding", part.embedding)


def _finite(values: np.ndarray, kind: str, component: Named) -> np.ndarray:
    """The values themselves: what is not a number must reach no table, no cache and no machine."""
    if not np.isfinite(values).all():
        raise ComponentError(f"{kind} {component.name!r} gave NaN or infinite values, must give finite ones")
    return values

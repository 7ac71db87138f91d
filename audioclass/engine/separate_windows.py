"""Separate windows for labelled segments that no regular window is given to: no label is lost to the layout.

A segment may be shorter than a window and share it with others, or lie where windows leave a gap. It is then extracted
by itself, as if the recording held nothing else: one window, shorter than the recipe's, or several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from audioclass.data import Clip, Features
from audioclass.extraction.batch import CRASHED, Extracted, extract_one
from audioclass.extraction.cache import Cache
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.stretches import Span, layers_of
from audioclass.run import Run


@dataclass(frozen=True, eq=False)
class SeparateWindows:
    """Windows that were cut for some clips of a recording: their features, and the clip of each."""

    features: Features
    owners: np.ndarray


@dataclass(frozen=True)
class _Layer:
    """Stretches of a recording that do not overlap."""

    path: Path
    spans: tuple[Span, ...]


def cut_separate_windows(
    clips: Sequence[Clip], without: Mapping[Path, Sequence[int]], recipe: Recipe, run: Run
) -> dict[Path, SeparateWindows]:
    """Windows for the clips that are `without`, named by their places among the clips, recording by recording.

    A clip without length, or beyond the end of its recording, has none.
    """
    spans = {i: _span(clips[i]) for members in without.values() for i in members}
    spans = {i: span for i, span in spans.items() if span[0] < span[1]}
    layers = [
        _Layer(path, layer)
        for path, members in without.items()
        for layer in layers_of(spans[i] for i in members if i in spans)
    ]
    if not layers:
        return {}
    cache = None if run.cache is None else Cache(run.cache / "features").prepare()
    work = partial(_extract_layer, recipe=recipe, cache=cache)
    rows: dict[_Layer, Features] = {}
    for n_done, (layer, extracted) in enumerate(run.executor.map_unordered(work, layers, _crashed), start=1):
        if extracted.cached is not None:
            rows[layer] = extracted.cached.load(recipe)
        run.progress("separate windows", n_done, len(layers))
    by_path: dict[Path, list[tuple[int, Features]]] = {}
    for layer in (layer for layer in layers if layer in rows):  # not in the order of completion
        members = (i for i in without[layer.path] if spans.get(i) in layer.spans)
        by_path.setdefault(layer.path, []).extend((i, _rows_within(rows[layer], spans[i])) for i in members)
    return {path: _joined(parts, recipe) for path, parts in by_path.items()}


def _extract_layer(layer: _Layer, recipe: Recipe, cache: Cache | None) -> tuple[_Layer, Extracted]:
    return layer, extract_one(layer.path, recipe, cache, spans=layer.spans)


def _crashed(layer: _Layer) -> tuple[_Layer, Extracted]:
    return layer, Extracted(layer.path, reason=f"{layer.path}: {CRASHED}")


def _rows_within(features: Features, span: Span) -> Features:
    """The windows of one stretch among those of its layer, which follow one another."""
    middles = np.array([(one.start + one.end) / 2 for one in features.segments])
    return features.rows(slice(*np.searchsorted(middles, span).tolist()))


def _joined(parts: Sequence[tuple[int, Features]], recipe: Recipe) -> SeparateWindows:
    owners = np.repeat([i for i, _ in parts], [len(features.X) for _, features in parts])
    return SeparateWindows(Features.joined((one for _, one in parts), recipe.columns, recipe.groups), owners)


def _span(clip: Clip) -> Span:
    return clip.start, float("inf") if clip.end is None else clip.end

"""Stretches of a recording, each extracted as if it were a recording of its own: one pass for those that are apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from audioclass.data import Block, Features
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe

Span = tuple[float, float]  # start and end in seconds; an end of infinity is that of the recording


def extract_stretches(blocks: Iterable[Block], recipe: Recipe, spans: Sequence[Span]) -> Iterator[Features]:
    """Features of the windows of each stretch in turn, with their times in the recording.

    Spans are in order of time and do not overlap. One no longer than a window is one window; one beyond the end of the
    recording gives none.
    """
    tape = _Tape(blocks)
    for span in spans:
        stretch = tape.cut(*span)
        first = next(stretch, None)
        if first is not None:  # half a frame of zeros is added to what there is, but nothing is no window
            yield from extract_features(itertools.chain([first], stretch), recipe)


def layers_of(spans: Iterable[Span]) -> list[tuple[Span, ...]]:
    """The spans, each once, in as few layers as it takes that those of a layer do not overlap.

    >>> layers_of([(4, 6), (0, 2), (1, 3), (0, 2)])
    [((0, 2), (4, 6)), ((1, 3),)]
    """
    layers: list[list[Span]] = []
    for span in sorted(set(spans)):
        layer = next((layer for layer in layers if layer[-1][1] <= span[0]), None)
        if layer is None:
            layers.append([span])
        else:
            layer.append(span)
    return [tuple(layer) for layer in layers]


class _Tape:
    """The blocks of a recording as they pass: stretches are cut from them in order of time."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks = iter(blocks)
        self._block = next(self._blocks, None)

    def cut(self, start: float, end: float) -> Iterator[Block]:
        """The blocks from the first sample of a stretch to its last, of which it has at least one."""
        while (block := self._block) is not None:
            after = block.start + len(block.samples)
            first = round(start * block.sample_rate)
            stop = max(round(end * block.sample_rate), first + 1) if end < float("inf") else None
            begin = max(first - block.start, 0)
            samples = block.samples[begin : None if stop is None else max(stop - block.start, 0)]
            if len(samples):
                yield Block(samples, block.sample_rate, block.start + begin)
            if stop is not None and stop <= after:
                return  # the block may hold the beginning of the next stretch
            self._block = next(self._blocks, None)

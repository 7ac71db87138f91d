"""Recordings to segments with posteriors, as a stream: bounded memory, the same from file, blocks or pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from audioclass.data import Block, Posteriors, Result
from audioclass.engine.models import DEFAULT_MODEL, load_model
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SegmentationOptions, StreamClassifier, in_batches
from audioclass.numerics import one_thread
from audioclass.recordings import Progress

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.reports.envelope import Envelope
    from audioclass.segmentation.segments import Classified


@dataclass(frozen=True, eq=False)
class ClassifiedRecording:
    """A recording that was classified: its segments, its length and how long it took.

    The posteriors of its windows before smoothing and the outline of its waveform are kept where a page is wanted.
    """

    result: Result
    seconds: float
    seconds_taken: float
    windows: Posteriors | None = None
    envelope: Envelope | None = None


def classify(
    source: str | Path | BinaryIO,
    model: str | Path | Model = DEFAULT_MODEL,
    *,
    smooth: Any = DEFAULT_SMOOTHER,
    min_duration: float = 0.0,
    threshold: float = 0.0,
    windows: bool = False,
) -> Result:
    """The segments of one recording with their posteriors; `-` reads standard input."""
    reading = SegmentationOptions(smooth, min_duration, threshold, windows)
    return classify_recording(source, loaded(model), reading).result


def classify_recording(
    source: str | Path | BinaryIO,
    model: Model,
    reading: SegmentationOptions | None = None,
    *,
    progress: Progress | None = None,
    for_page: bool = False,
) -> ClassifiedRecording:
    """Classify a recording to its end; memory grows with its segments alone, and with its windows for a page."""
    from audioclass.audio.blocks import cut_blocks
    from audioclass.audio.decode import open_audio
    from audioclass.extraction.extract import extract_features
    from audioclass.segmentation.results import result_of

    start, listener, name = (
        time.perf_counter(),
        StreamClassifier(model, reading or SegmentationOptions()),
        _name(source),
    )
    rate, watch = model.recipe.framing.sample_rate, _Watch(for_page, model)
    segments: list[Classified] = []
    with one_thread(), open_audio(source) as audio:
        blocks = watch.blocks(cut_blocks(audio, rate, trim=model.recipe.trim), _told(audio, progress))
        for features in in_batches(extract_features(blocks, model.recipe)):
            segments += listener.push(watch.windows(listener.posteriors(features)))
        segments += listener.finish()
    result = result_of([(name, one) for one in segments], model.labels, model.taxonomy)
    return ClassifiedRecording(result, watch.seconds, time.perf_counter() - start, watch.all_windows(), watch.envelope)


class _Watch:
    """What is noticed of a recording while it passes: its length and, for a page, its windows and its outline."""

    def __init__(self, for_page: bool, model: Model) -> None:
        from audioclass.reports.envelope import Envelope

        self.seconds = 0.0
        self._labels = model.labels
        self._parts: list[Posteriors] | None = [] if for_page else None
        self.envelope = Envelope(model.recipe.framing.sample_rate) if for_page else None

    def blocks(self, blocks: Iterable[Block], tell: Callable[[], None]) -> Iterator[Block]:
        for block in blocks:
            self.seconds = (block.start + len(block.samples)) / block.sample_rate
            if self.envelope is not None:
                self.envelope.push(block.samples)
            yield block
            tell()

    def windows(self, posteriors: Posteriors) -> Posteriors:
        if self._parts is not None:
            self._parts.append(posteriors)
        return posteriors

    def all_windows(self) -> Posteriors | None:
        if self._parts is None:
            return None
        P = np.concatenate([part.P for part in self._parts] or [np.empty((0, len(self._labels)))])
        return Posteriors(P, self._labels, tuple(segment for part in self._parts for segment in part.segments))


def _told(audio: Any, progress: Progress | None) -> Callable[[], None]:
    def tell() -> None:
        if progress is not None:
            declared = audio.declared / audio.sample_rate if audio.declared else None
            progress(audio.position / audio.sample_rate, declared)

    return tell


def _name(source: object) -> str:
    return str(source) if isinstance(source, (str, Path)) else getattr(source, "name", "-")


def loaded(model: str | Path | Model) -> Model:
    """A model by its path or name, read once in a process; a model is itself."""
    return _load_once(str(model)) if isinstance(model, (str, Path)) else model


@cache
def _load_once(model: str) -> Model:
    return load_model(model)

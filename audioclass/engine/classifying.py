"""Recordings to segments with posteriors, as a stream: bounded memory, the same from file, blocks or pipe."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from audioclass.data import Block, Posteriors, Result
from audioclass.engine.choices import piece_of
from audioclass.engine.models import DEFAULT_MODEL, load_model
from audioclass.errors import UsageError
from audioclass.recordings import Progress

if TYPE_CHECKING:
    from audioclass.model.model import Model
    from audioclass.reports.envelope import Envelope
    from audioclass.segmentation.segments import Classified

SHORT_BLOCK = 4096  # samples at a time where segments are wanted as soon as they are known
DEFAULT_SMOOTHER = "hmm"


@dataclass(frozen=True)
class Reading:
    """How posteriors become segments; `smooth` is a smoother's name or the smoother itself.

    With `windows` every window is a segment of its own.
    """

    smooth: Any = DEFAULT_SMOOTHER
    min_duration: float = 0.0
    threshold: float = 0.0
    windows: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.min_duration < float("inf"):
            raise UsageError(f"min_duration={self.min_duration} must be a time of at least 0")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold={self.threshold} must be a probability")


@dataclass(frozen=True, eq=False)
class Heard:
    """A recording that was classified: its segments, the posteriors of its windows before smoothing, its waveform."""

    result: Result
    windows: Posteriors
    seconds: float
    seconds_taken: float
    envelope: Envelope | None = None


@dataclass(eq=False)
class Listener:
    """A model at work on one recording: features in, final segments out."""

    model: Model
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        from audioclass.plugins.manager import plugin_manager
        from audioclass.segmentation.results import SegmentStream
        from audioclass.segmentation.smoothing import WindowSmoother

        smoother = self.reading.smooth
        if isinstance(smoother, str):
            smoother = piece_of(plugin_manager(), "smoother", smoother)
        labels, taxonomy = self.model.labels, self.model.taxonomy
        self._n_rows = 0
        self._windows = WindowSmoother(smoother, labels) if self.reading.windows else None
        self._segments = SegmentStream(
            labels,
            smoother,
            taxonomy,
            min_duration=self.reading.min_duration,
            threshold=self.reading.threshold,
        )

    def posteriors(self, features: Any) -> Posteriors:
        """Those of the next windows of the recording."""
        P = self.model.posteriors_of(features.X, self._n_rows)
        self._n_rows += len(P)
        return Posteriors(P, self.model.labels, features.segments)

    def push(self, posteriors: Posteriors) -> list[Classified]:
        """Segments that are final now."""
        from audioclass.segmentation.results import classified_windows

        if self._windows is not None:
            return classified_windows(self._windows.push(posteriors))
        return self._segments.push(posteriors)

    def finish(self) -> list[Classified]:
        """The rest."""
        from audioclass.segmentation.results import classified_windows

        return classified_windows(self._windows.finish()) if self._windows is not None else self._segments.finish()


def listen(blocks: Iterable[Block], model: Model, reading: Reading | None = None) -> Iterator[Classified]:
    """Segments of a stream of blocks, each as soon as nothing can change it."""
    from audioclass.extraction.extract import extract_features

    listener = Listener(model, reading or Reading())
    with one_thread():
        for features in extract_features(blocks, model.recipe):
            yield from listener.push(listener.posteriors(features))
        yield from listener.finish()


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
    reading = Reading(smooth, min_duration, threshold, windows)
    return hear(source, loaded(model), reading).result


def hear(
    source: str | Path | BinaryIO,
    model: Model,
    reading: Reading | None = None,
    *,
    progress: Progress | None = None,
    with_waveform: bool = False,
) -> Heard:
    """Classify a recording to its end; memory grows with its windows' posteriors and segments alone."""
    from audioclass.audio.blocks import cut_blocks
    from audioclass.audio.decode import open_audio
    from audioclass.extraction.extract import extract_features
    from audioclass.segmentation.results import result_of

    start, listener, name = time.perf_counter(), Listener(model, reading or Reading()), _name(source)
    rate = model.recipe.framing.sample_rate
    collect = _Collector(rate if with_waveform else None)
    with one_thread(), open_audio(source) as audio:
        blocks = collect.watch(cut_blocks(audio, rate, trim=model.recipe.trim), _told(audio, progress))
        for features in extract_features(blocks, model.recipe):
            collect.add(posteriors := listener.posteriors(features), listener.push(posteriors))
    collect.add(None, listener.finish())
    result = result_of([(name, one) for one in collect.segments], model.labels, model.taxonomy)
    windows = collect.windows(model.labels)
    return Heard(result, windows, collect.seconds, time.perf_counter() - start, collect.envelope)


class _Collector:
    """What is kept of a recording while it passes."""

    def __init__(self, waveform_rate: int | None) -> None:
        from audioclass.reports.envelope import Envelope

        self.segments: list[Classified] = []
        self.seconds = 0.0
        self._parts: list[Posteriors] = []
        self.envelope = None if waveform_rate is None else Envelope(waveform_rate)

    def watch(self, blocks: Iterable[Block], told: Callable[[], None]) -> Iterator[Block]:
        for block in blocks:
            self.seconds = (block.start + len(block.samples)) / block.sample_rate
            if self.envelope is not None:
                self.envelope.push(block.samples)
            yield block
            told()

    def add(self, posteriors: Posteriors | None, segments: list[Classified]) -> None:
        self.segments += segments
        if posteriors is not None:
            self._parts.append(posteriors)

    def windows(self, labels: tuple[str, ...]) -> Posteriors:
        P = np.concatenate([part.P for part in self._parts]) if self._parts else np.empty((0, len(labels)))
        return Posteriors(P, labels, tuple(segment for part in self._parts for segment in part.segments))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: sums in another order end in other digits."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


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

"""A model at work on one recording: blocks or features in, segments out, each as soon as nothing can change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from audioclass.contracts import SmoothsStreams
from audioclass.data import Block, Features, Posteriors
from audioclass.engine.config import component_of
from audioclass.errors import UsageError
from audioclass.numerics import one_thread

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.segmentation.results import SegmentStream
    from audioclass.segmentation.segments import Classified
    from audioclass.segmentation.smoothing import Decided

SHORT_BLOCK = 4096  # samples at a time where segments are wanted as soon as they are known
DEFAULT_SMOOTHER = "hmm"


@dataclass(frozen=True)
class SegmentationOptions:
    """How posteriors become segments; a smoother that is named (`hmm`, `median:width=9`) is made here, once.

    With `windows` every window is a segment of its own.
    """

    smooth: Any = DEFAULT_SMOOTHER
    min_duration: float = 0.0
    threshold: float = 0.0
    windows: bool = False

    def __post_init__(self) -> None:
        from audioclass.plugins.manager import plugin_manager

        if not 0 <= self.min_duration < float("inf"):
            raise UsageError(f"min_duration={self.min_duration} must be a time of at least 0")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold={self.threshold} must be a probability")
        if self.windows and self.min_duration:
            raise UsageError(f"min_duration={self.min_duration} is for segments: windows have the length of the recipe")
        object.__setattr__(self, "smooth", component_of(plugin_manager(), "smoother", self.smooth))

    def stream(self, model: Model) -> SegmentStream | WindowStream:
        """Takes in the posteriors of one recording; a smoother that does not fit the model's labels is refused."""
        from audioclass.segmentation.results import SegmentStream

        try:
            if self.windows:
                return WindowStream(model, self)
            lengths = {"min_duration": self.min_duration, "threshold": self.threshold}
            return SegmentStream(model.labels, self.smooth, model.taxonomy, **lengths)
        except ValueError as error:
            raise UsageError(str(error)) from error


@dataclass(eq=False)
class StreamClassifier:
    """A model at work on one recording: features in, final segments out."""

    model: Model
    reading: SegmentationOptions = field(default_factory=SegmentationOptions)

    def __post_init__(self) -> None:
        self._n_rows = 0
        self._stream = self.reading.stream(self.model)

    def posteriors(self, features: Features) -> Posteriors:
        """Those of the next windows of the recording."""
        P = self.model.posteriors_of(features.X, self._n_rows)
        self._n_rows += len(P)
        return Posteriors(P, self.model.labels, features.segments)

    def push(self, posteriors: Posteriors) -> list[Classified]:
        """Segments that are final now."""
        return self._stream.push(posteriors)

    def finish(self) -> list[Classified]:
        """The rest."""
        return self._stream.finish()


class WindowStream:
    """Every window by itself, named as a segment would be."""

    def __init__(self, model: Model, reading: SegmentationOptions) -> None:
        from audioclass.segmentation.back_off import BackOffPath
        from audioclass.segmentation.smoothing import WindowSmoother

        self._smoother = WindowSmoother(reading.smooth, model.labels)
        self._ladder = BackOffPath(model.labels, model.taxonomy, reading.threshold)

    def push(self, posteriors: Posteriors) -> list[Classified]:
        """Take in the next windows; give those that are final."""
        return self._named(self._smoother.push(posteriors))

    def finish(self) -> list[Classified]:
        """The rest."""
        return self._named(self._smoother.finish())

    def _named(self, decided: Decided) -> list[Classified]:
        from audioclass.segmentation.results import classified_windows

        return classified_windows(decided, None if self._ladder.keeps_labels else self._ladder)


def lag(model: Model, reading: SegmentationOptions) -> float:
    """Seconds of a live stream, at most, from the end of a segment to the moment when the segment is final.

    Frames come in blocks; the window two after the border must be decided, and the smoother looks ahead of it. What
    waits for a recording's end (a smoother that cannot stream) never is; `min_duration` and `threshold` wait for the
    segment that follows, on top.
    """
    from audioclass.extraction.extract import context_of
    from audioclass.extraction.frames import FRAMES_PER_BLOCK

    recipe, smoother = model.recipe, reading.smooth
    if not isinstance(smoother, SmoothsStreams):
        return float("inf")
    frames = (FRAMES_PER_BLOCK + context_of(recipe)) / recipe.framing.frame_rate
    samples = (SHORT_BLOCK + recipe.framing.frame_length) / recipe.framing.sample_rate
    return frames + samples + recipe.window / 2 + (2.5 + getattr(smoother, "look_ahead", 0)) * recipe.window_hop


def listen(blocks: Iterable[Block], model: Model, reading: SegmentationOptions | None = None) -> Iterator[Classified]:
    """Segments of a stream of blocks, each as soon as nothing can change it."""
    from audioclass.extraction.extract import extract_features

    listener = StreamClassifier(model, reading or SegmentationOptions())
    with one_thread():
        for features in extract_features(blocks, model.recipe):
            yield from listener.push(listener.posteriors(features))
        yield from listener.finish()


def in_batches(chunks: Iterable[Features]) -> Iterator[Features]:
    """The same rows, as many together as a model computes at once: a batch costs the same however full it is."""
    from audioclass.classifier.model import ROWS_TOGETHER

    held: list[Features] = []
    n_rows = 0  # of what is held and all before
    for chunk in chunks:
        held.append(chunk)
        n_before, n_rows = n_rows, n_rows + len(chunk.X)
        if n_before // ROWS_TOGETHER < n_rows // ROWS_TOGETHER:
            full = Features.joined(held, chunk.columns, chunk.groups)
            at = len(full.X) - n_rows % ROWS_TOGETHER
            yield full.rows(slice(at))
            held = [full.rows(slice(at, None))]
    if held and len((rest := Features.joined(held, held[0].columns, held[0].groups)).X):
        yield rest

"""Recordings to segments with posteriors, as a stream: bounded memory, the same from file, blocks or pipe."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.audio.raw import RawFormat
from audioclass.classifier.model import Model
from audioclass.data import Block, Posteriors, Result
from audioclass.engine.models import DEFAULT_MODEL, loaded
from audioclass.engine.runs import make_run
from audioclass.engine.streaming import (
    DEFAULT_SMOOTHER,
    SegmentationOptions,
    StreamClassifier,
    heard_features,
    recording_result,
)
from audioclass.reports.envelope import Envelope
from audioclass.run import Progress, Run, silent
from audioclass.segmentation.segments import ClassifiedSegment
from audioclass.segmentation.silence import DEFAULT_SILENCE, SilenceRule


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
    unknown: float = 0.0,
    risk: float = 0.0,
    risk_sets: str = "labels",
    silence: float | str | None = DEFAULT_SILENCE.level,
    min_silence: float = DEFAULT_SILENCE.least,
    hop: float | str | None = None,
    depth: int | None = None,
    strict: bool = False,
    sample_rate: int | None = None,
    encoding: str | None = None,
    channels: int | None = None,
    run: Run | None = None,
) -> Result:
    """The segments of one recording with their posteriors; `-` reads standard input.

    Where `sample_rate`, `encoding` (u8, s16le, f32be, mulaw, …) and maybe `channels` are stated, the recording is raw
    samples without a header.

    Posteriors of a recording much shorter than those that the model was trained on are flattened.

    A damaged recording is classified as far as it can be read, with a warning and its place in `cuts` of the result;
    with `strict` it is an error.

    `smooth` is the name of a smoother, `name:parameter=value,…`, or a smoother. By its name, with `look_ahead` at most,
    `hmm` goes by how labels followed one another in the recordings that the model was trained on, where these were
    continuous, else by how long their segments lasted.

    A model that was trained on clips classifies longer recordings with windows of the length of these, a fifth of it
    apart; `hop` states other seconds from one window to the next, `hop="recipe"` takes window and hop of its recipe.

    `depth` is how deep the model's taxonomy is told: at 1 the labels are its largest groups, whose posteriors are sums
    over the labels below them, and deeper ones at 2 and more. By default the model says it, else its own labels are.

    What is quieter than `silence`, in dB of full scale, for `min_silence` seconds or more is silence for every model;
    with `"auto"` also what lies at the noise floor of the recording, with None only what the model labels so.

    What is stranger than all but a share of `unknown` of the training recordings is called `unknown`; `novelty` of the
    result is the p-value behind that. At a `risk` of 0.05, `sets` of the result are labels of which one is the true one
    for 95 % of recordings; with `risk_sets="node"` each is the smallest group of the model's taxonomy that is, by its
    name, or unknown. A model without a taxonomy has groups of labels that it takes for one another, told by these.
    """
    run = run or make_run()
    options = SegmentationOptions.of(
        smooth,
        run,
        min_duration=min_duration,
        threshold=threshold,
        windows=windows,
        unknown=unknown,
        risk=risk,
        risk_sets=risk_sets,
        silence=SilenceRule.of(silence, min_silence),
        hop=hop,
        depth=depth,
    )
    raw, strict = RawFormat.stated(sample_rate, encoding, channels), strict or run.strict
    result = classify_recording(source, loaded(model), options, run.progress, strict=strict, raw=raw).result
    for name, cut in result.cuts.items():
        warnings.warn(f"{name}: {cut.reason}; classified up to there", stacklevel=2)
    return result


def classify_recording(
    source: str | Path | BinaryIO,
    model: Model,
    options: SegmentationOptions,
    progress: Progress = silent,
    *,
    for_page: bool = False,
    strict: bool = False,
    raw: RawFormat | None = None,
) -> ClassifiedRecording:
    """Classify a recording to its end, or to where it is damaged unless that is to be `strict`.

    With `raw` it is samples without a header. Memory grows with its segments alone, and with its windows for a page.
    """
    start, name = time.perf_counter(), _name(source)
    model = options.fitted(model)
    classifier, watch = StreamClassifier(model, options), _Watch(for_page, model)
    segments: list[ClassifiedSegment] = []
    with open_audio(source, strict=strict, raw=raw) as audio:

        def tell() -> None:
            declared = audio.declared / audio.sample_rate if audio.declared else None
            progress(Path(name).name, audio.position / audio.sample_rate, declared)

        blocks = watch.blocks(cut_blocks(audio, model.recipe.framing.sample_rate, trim=model.recipe.trim), tell)
        for features, contours in heard_features(blocks, model.recipe):
            segments += classifier.push(watch.windows(classifier.posteriors(features)), contours)
        segments += classifier.finish(watch.seconds)
        rate = audio.sample_rate
    result = recording_result(name, segments, model)
    cuts = {} if audio.cut is None else {name: audio.cut}
    result = options.with_sets(replace(result, sample_rates={name: rate}, cuts=cuts), model)
    return ClassifiedRecording(result, watch.seconds, time.perf_counter() - start, watch.all_windows(), watch.envelope)


class _Watch:
    """What is noticed of a recording while it passes: its length and, for a page, its windows and its outline."""

    def __init__(self, for_page: bool, model: Model) -> None:
        self.seconds = 0.0
        self._labels, self._independent = model.labels, model.is_multi_label
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
        segments = tuple(segment for part in self._parts for segment in part.segments)
        return Posteriors(P, self._labels, segments, independent=self._independent)


def _name(source: object) -> str:
    return str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "-"))

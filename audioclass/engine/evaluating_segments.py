"""What the segments of a model are worth on a corpus of labels that overlap: by the second, by event, at any threshold.

Where a corpus is not labelled from end to end, only what lies within its labelled stretches counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audioclass.classifier.model import Model
from audioclass.data import Clip, Corpus, Features, Posteriors, Segment
from audioclass.engine.features import extract_many
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SegmentationOptions, StreamClassifier
from audioclass.evaluation.detection import event_based, merged, segment_based
from audioclass.evaluation.formatting import plain_number
from audioclass.evaluation.psds import SCENARIOS, operating_point, psds
from audioclass.label_sets import single_labels
from audioclass.run import Run, silent
from audioclass.segmentation.tiers import TierRows, TierSmoother, segments_at
from audioclass.threads import one_thread

THRESHOLDS = np.linspace(0.02, 0.98, 49)


@dataclass(frozen=True, eq=False)
class Detections:
    """By recording: the reference, what a model detected, what it would at each of `THRESHOLDS`, and its length."""

    labels: tuple[str, ...]
    reference: dict[str, list[Segment]] = field(default_factory=dict)
    detected: dict[str, list[Segment]] = field(default_factory=dict)
    at_thresholds: list[dict[str, list[Segment]]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """Every figure under its name."""
        events = self.reference, self.detected, self.labels
        figures: dict[str, Any] = {
            "segment_based": segment_based(*events).to_plain(),
            "event_based": event_based(*events).to_plain(),
        }
        for name, setting in SCENARIOS.items() if self.at_thresholds and any(self.reference.values()) else ():
            points = [
                operating_point(self.reference, detected, self.labels, self.seconds, setting)
                for detected in self.at_thresholds
            ]
            figures[name] = plain_number(psds(points, setting))
        return figures


@one_thread()
def detect(model: Model, corpus: Corpus, run: Run) -> Detections:
    """The segments of a model in every recording that can be read to its end, beside those of the corpus."""
    by_file: dict[str, list[Clip]] = {}
    for clip in single_labels(corpus.clips):
        by_file.setdefault(str(clip.file), []).append(clip)
    at_thresholds: list[dict[str, list[Segment]]] = [{} for _ in THRESHOLDS] if model.is_multi_label else []
    detections = Detections(model.labels, at_thresholds=at_thresholds)
    options = SegmentationOptions.of(DEFAULT_SMOOTHER, run, silence=None)
    files = list(dict.fromkeys(clip.file for clip in corpus.clips))
    with extract_many(files, model.recipe, replace(run, progress=silent)) as extraction:
        for extracted in extraction.collect():
            if extracted.cached is None or extracted.cached.cut is not None:
                continue
            features = extracted.cached.load(model.recipe)
            if len(features.X):
                name = str(extracted.path)
                _add(detections, name, by_file[name], features, model, options, is_continuous=corpus.continuous)
    return detections


def _add(
    detections: Detections,
    name: str,
    clips: Sequence[Clip],
    features: Features,
    model: Model,
    options: SegmentationOptions,
    *,
    is_continuous: bool,
) -> None:
    seconds = features.segments[-1].end
    reference = merged([_segment(clip, seconds) for clip in clips if clip.start < seconds])
    stretches = [Segment(0.0, seconds)] if is_continuous else merged([replace(one, label="") for one in reference])
    classifier = StreamClassifier(model, options)
    posteriors = classifier.posteriors(features)
    given = [*classifier.push(posteriors), *classifier.finish()]
    detections.reference[name] = reference
    detections.detected[name] = list(_within([one.segment for one in given], stretches))
    detections.seconds[name] = sum(one.duration for one in stretches)
    if detections.at_thresholds:
        rows = _smoothed(posteriors, model, options)
        for threshold, detected in zip(THRESHOLDS, detections.at_thresholds, strict=True):
            detected[name] = list(_within(segments_at(rows, model.labels, float(threshold)), stretches))


def _smoothed(posteriors: Posteriors, model: Model, options: SegmentationOptions) -> TierRows:
    """All windows, smoothed once around the thresholds of the model."""
    smoother = TierSmoother(model.labels, options.smoother, options.thresholds(model))
    return smoother.push(posteriors).joined(smoother.finish())


def _segment(clip: Clip, seconds: float) -> Segment:
    end = seconds if clip.end is None else min(clip.end, seconds)
    return Segment(clip.start, max(clip.start, end), clip.label)


def _within(segments: Sequence[Segment], stretches: Sequence[Segment]) -> Iterator[Segment]:
    """The parts of segments that lie in some stretches."""
    for segment in segments:
        for stretch in stretches:
            start, end = max(segment.start, stretch.start), min(segment.end, stretch.end)
            if start < end:
                yield Segment(start, end, segment.label)

"""A model at work on one recording: blocks or features in, segments out, each as soon as nothing can change it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audioclass.audio.blocks import longest_wait
from audioclass.audio.contours import LONGEST_BATCH, ContourMeter
from audioclass.classifier.model import ROWS_TOGETHER, Model
from audioclass.classifier.risk import Risk, members_of, sets_of
from audioclass.contracts import LooksAhead, Smoother, SmoothsStreams, TakesDurations, TakesTransitions
from audioclass.data import Block, Contours, Features, Posteriors, Result
from audioclass.engine.stream_windows import Hop, hop_of, stream_windows_note, windows_of_labels, with_stream_windows
from audioclass.errors import UsageError
from audioclass.extraction.extract import extract_features
from audioclass.extraction.frames import FRAMES_PER_BLOCK
from audioclass.extraction.recipe import Recipe
from audioclass.parameters import parse_component
from audioclass.run import Run
from audioclass.segmentation.back_off import UNKNOWN, BackOffPath
from audioclass.segmentation.borders import StoredBorders, seconds_after
from audioclass.segmentation.novelty import NoveltyRule
from audioclass.segmentation.results import SegmentStream, classified_windows, result_of
from audioclass.segmentation.segments import ClassifiedSegment
from audioclass.segmentation.silence import DEFAULT_SILENCE, SILENCE, SilenceFinder, SilenceRule
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.segmentation.stretches import ContourRule, WaitingWindows
from audioclass.segmentation.tiers import TierStream, TierWindows, by_start
from audioclass.threads import one_thread
from audioclass.training.novelty import FEWEST_GROUPS

SHORT_BLOCK = 4096  # samples at a time where segments are wanted as soon as they are known
DEFAULT_SMOOTHER = "hmm"
RISK_SETS = ("labels", "node")


@dataclass(frozen=True)
class SegmentationOptions:
    """How posteriors become segments; with `windows` every window is a segment of its own.

    What is stranger than all but a share of `unknown` of the held-out training recordings is unknown; `risk` is that of
    the sets of labels that are given with each segment, which are any `labels` or, of `risk_sets` that are a `node`,
    one group of the model's tree. Both are off at 0, and need a model that was trained for them.
    What is silent by its level is so for every model; without a rule for `silence` nothing is but by its label.
    A smoother that `adapts` goes by the transitions between labels that the model learnt, where it learnt any, else by
    the durations of what it was trained on. `hop` is the distance of windows in seconds, or `recipe`; None fits it.
    `depth` is how deep the model's taxonomy is told; None is the model's own default, or its labels where sets of these
    are given.
    """

    smoother: Smoother
    min_duration: float = 0.0
    threshold: float = 0.0
    windows: bool = False
    adapts: bool = False
    unknown: float = 0.0
    risk: float = 0.0
    risk_sets: str = "labels"
    silence: SilenceRule | None = DEFAULT_SILENCE
    hop: Hop = None
    depth: int | None = None

    @classmethod
    def of(cls, smooth: Any, run: Run, **options: Any) -> SegmentationOptions:
        """From a smoother, its name, or `name:parameter=value,…`.

        It adapts where no parameter was stated but how far it looks ahead, which says nothing of the labels.
        """
        stated = parse_component(smooth)[1] if isinstance(smooth, str) else [""]
        adapts = all(assignment.startswith("look_ahead=") for assignment in stated)
        return cls(run.component("smoother", smooth), adapts=adapts, **options)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hop", hop_of(self.hop))
        if not 0 <= self.min_duration < float("inf"):
            raise UsageError(f"min_duration={self.min_duration} must be a time of at least 0")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold={self.threshold} must be a probability")
        for name in ("unknown", "risk"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} must be a probability below 1")
        if self.risk_sets not in RISK_SETS:
            raise UsageError(f"risk_sets={self.risk_sets} must be one of {', '.join(RISK_SETS)}")
        if self.risk_sets != "labels" and not self.risk:
            raise UsageError(f"risk_sets={self.risk_sets} says what a risk gives: ask for one above 0")
        if self.depth is not None and (type(self.depth) is not int or self.depth < 1):
            raise UsageError(f"depth={self.depth} must be a whole number of at least 1")
        if self.windows and self.min_duration:
            raise UsageError(f"min_duration={self.min_duration} is for segments: windows have the length of the recipe")

    def smoother_for(self, model: Model) -> Smoother:
        """The smoother, with what the model learnt of its labels where it adapts."""
        model = self.fitted(model)
        if self.adapts and model.transitions is not None and isinstance(self.smoother, TakesTransitions):
            return self.smoother.with_transitions(model.transitions)
        windows = windows_of_labels(model)
        if self.adapts and windows is not None and isinstance(self.smoother, TakesDurations):
            return self.smoother.with_durations(windows)
        return self.smoother

    def fitted(self, model: Model) -> Model:
        """The model with the labels that are told and the windows that recordings are classified with."""
        deepest = model.taxonomy.depth
        if self.risk and self.depth is not None and self.depth < deepest:
            raise UsageError(f"depth={self.depth}: risk is that of sets of labels, told at depth {deepest} alone")
        return with_stream_windows(model.at_depth(deepest if self.risk else self.depth), self.hop)

    def stream_windows_note(self, model: Model) -> str:
        """Why these windows are not the recipe's; empty where they are."""
        return stream_windows_note(model, self.hop)

    def stream(
        self, model: Model, borders: StoredBorders | None = None
    ) -> SegmentStream | WindowStream | TierStream | TierWindows:
        """Takes in the posteriors and contours of one recording.

        A smoother that does not fit the model's labels is refused.
        So is a model that was not trained to know what is strange to it, or its risk, where that is asked for.
        """
        model = self.fitted(model)
        self._check_knowledge(model)
        try:
            if model.is_multi_label:
                return self._tiers(model, borders)
            if self.windows:
                return WindowStream(model, self)
            return SegmentStream(
                model.labels,
                self.smoother_for(model),
                model.taxonomy,
                min_duration=self.min_duration,
                threshold=self.threshold,
                novelty=self.novelty_rule(model),
                contours=self._contours(model),
                borders=borders,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error

    def _tiers(self, model: Model, borders: StoredBorders | None) -> TierStream | TierWindows:
        """A tier for each label; a threshold that was stated is that of all of them."""
        tiers = model.labels, self.smoother, self.thresholds(model)
        if self.windows:
            return TierWindows(*tiers)
        return TierStream(*tiers, min_duration=self.min_duration, contours=self._contours(model), borders=borders)

    def _contours(self, model: Model) -> ContourRule:
        return ContourRule(self.silence, self.fitted(model).recipe.window_hop / 2)

    def thresholds(self, model: Model) -> np.ndarray:
        """(n_labels,): from which probability on each label of a multi-label model holds."""
        return np.full(len(model.labels), self.threshold) if self.threshold else model.thresholds

    def _check_knowledge(self, model: Model) -> None:
        if model.is_multi_label and (self.unknown or self.risk):
            name = "unknown" if self.unknown else "risk"
            raise UsageError(f"{model.name}: {name} is for models of one label at a time, labels of this one overlap")
        known = {"unknown": model.novelty, "risk": self._risk_of(model)}
        for name, knowledge in known.items():
            if getattr(self, name) and knowledge is None:
                raise UsageError(
                    f"{model.name}: {name} needs a model that was trained with it, on {FEWEST_GROUPS} groups or more:"
                    " train it again"
                )

    def novelty_rule(self, model: Model) -> NoveltyRule | None:
        """How strangeness becomes a p-value and what is unknown; None where the model does not know the strange."""
        return None if model.novelty is None else NoveltyRule(model.novelty.p_values, self.unknown)

    def with_sets(self, result: Result, model: Model) -> Result:
        """The result with the set of labels of each segment, where a risk was asked for."""
        risk = self._risk_of(model)
        if not self.risk or risk is None:
            return result
        threshold = risk.threshold(self.risk, windows=self.windows)
        if self.risk_sets == "labels" or model.node_risk is None:
            sets = sets_of(result.P, result.labels, members_of(result.P, threshold))
        else:
            nodes = sets_of(result.P, result.labels, model.node_risk.members_of(result.P, threshold))
            sets = tuple(_group_name(members, model) for members in nodes)
        is_silent = [segment.label == SILENCE for segment in result.segments]
        return replace(
            result, sets=tuple((SILENCE,) if silent else each for each, silent in zip(sets, is_silent, strict=True))
        )

    def _risk_of(self, model: Model) -> Risk | None:
        """What sets of the kind that was asked for are calibrated on."""
        if self.risk_sets == "labels":
            return model.risk
        return None if model.node_risk is None else model.node_risk.risk

    def notes(self, model: Model) -> list[str]:
        """What a user should know of the levels that were asked for."""
        notes = []
        if model.novelty is not None and 0 < self.unknown < 1 / (1 + model.novelty.n_groups):
            n = model.novelty.n_groups
            notes.append(f"{n} training groups: novelty below {1 / (n + 1):.2g} is extrapolated beyond the strangest")
        risk = self._risk_of(model)
        if self.risk and risk is not None and risk.threshold(self.risk, windows=self.windows) == np.inf:
            n = risk.n_groups
            notes.append(f"{n} training groups promise no risk below {1 / (n + 1):.2g}: every set holds all labels")
        return notes

    def lag(self, model: Model, sample_rate: int | None = None) -> float:
        """Seconds of a live stream, at most, from the end of a segment to the moment when the segment is final.

        `sample_rate` is that of the stream, by default the recipe's. Samples and frames come in blocks, a window waits
        for the next and the smoother looks ahead; the second window after the border must be there, or as many as make
        a segment of `min_duration`, and what is heard after the border. With a threshold the time counts from the end
        of the segment that follows, which may turn out to be called the same; so it does for silences where the model
        has a label of that name. A smoother that cannot stream waits for the end, however far.
        """
        recipe, smoother = self.fitted(model).recipe, self.smoother_for(model)
        if not isinstance(smoother, SmoothsStreams):
            return float("inf")
        framing = recipe.framing
        rates = sample_rate or framing.sample_rate, framing.sample_rate
        samples = longest_wait(*rates, block_length=SHORT_BLOCK, trim=recipe.trim)
        period = FRAMES_PER_BLOCK / framing.frame_rate  # all that is known goes on together, once for so many frames
        frames = recipe.reach / framing.frame_rate + framing.frame_length / framing.sample_rate
        levels = 0.0 if self.silence is None else LONGEST_BATCH + self.silence.longest_wait
        look_ahead, hop = smoother.look_ahead if isinstance(smoother, LooksAhead) else 0, recipe.window_hop
        if self.windows:
            return samples + period + max(frames, levels) + (1 + look_ahead) * hop
        # A border is heard in contours that reach this far beyond the last window that is waited for.
        border = LONGEST_BATCH + seconds_after(hop) - recipe.window / 2 - (0.5 + look_ahead) * hop
        shortest = max(self.min_duration, hop / 2)
        return samples + period + max(frames, levels, border) + recipe.window / 2 + (look_ahead + 2.5) * hop + shortest

    def finality(self, model: Model, sample_rate: int | None = None) -> str:
        """When what a live stream gives is final, in words: the lag, rounded up to a tenth of a second."""
        lag, what = self.lag(model, sample_rate), "windows" if self.windows else "segments"
        if lag == float("inf"):
            return f"{what} are final when the stream ends"
        waits = self.threshold > 0 and not self.windows and not model.is_multi_label
        after = "the end of the segment that follows them" if waits else "their end"
        return f"{what} are final at most {math.ceil(10 * lag) / 10:.1f} s after {after}"


def _group_name(members: tuple[str, ...], model: Model) -> tuple[str, ...]:
    """What the labels of a node are called: unknown where it holds all, their group, or by themselves without one."""
    if len(members) == len(model.labels):
        return (UNKNOWN,)
    names = [node.name for node in model.taxonomy.groups if set(node.labels) == set(members) and node.name]
    return tuple(names[:1]) or members


class StreamClassifier:
    """A model at work on one recording: features in, final segments out."""

    def __init__(self, model: Model, options: SegmentationOptions) -> None:
        self.model = options.fitted(model)
        self._n_rows = 0
        self._stream = options.stream(self.model)

    def posteriors(self, features: Features) -> Posteriors:
        """Those of the next windows of the recording."""
        P, strangeness = self.model.classify_rows(features.X, self._n_rows)
        self._n_rows += len(P)
        P = self.model.flatten_short(P, features.segments)
        return Posteriors(P, self.model.labels, features.segments, strangeness, self.model.is_multi_label)

    @one_thread()
    def push(self, posteriors: Posteriors, contours: Contours | None = None) -> list[ClassifiedSegment]:
        """Segments that are final now."""
        return self._stream.push(posteriors, contours)

    @one_thread()
    def finish(self, end: float | None = None) -> list[ClassifiedSegment]:
        """The segments that were not final, at the end of the recording, in seconds."""
        return self._stream.finish(end)


class WindowStream:
    """Every window by itself, named as a segment would be."""

    def __init__(self, model: Model, options: SegmentationOptions) -> None:
        self._smoother = WindowSmoother(options.smoother_for(model), model.labels)
        self._path = BackOffPath(model.labels, model.taxonomy, options.threshold)
        self._novelty = options.novelty_rule(model)
        self._finder = None if options.silence is None else SilenceFinder(options.silence)
        self._waiting = WaitingWindows(model.labels, self._finder)
        self._silent: deque[bool] = deque()  # of windows that are being smoothed
        self._end = 0.0  # of the last window

    def push(self, posteriors: Posteriors, contours: Contours | None = None) -> list[ClassifiedSegment]:
        """Take in the next windows and the next cells of the contours; give the windows that are final."""
        if self._finder is not None and contours is not None:
            self._finder.push(contours)
        self._end = posteriors.segments[-1].end if posteriors.segments else self._end
        return self._smoothed(self._waiting.push(posteriors))

    def finish(self, end: float | None = None) -> list[ClassifiedSegment]:
        """The windows that were not final, at the end of the recording."""
        if self._finder is not None:
            self._finder.finish(self._end, 0.0 if end is None else max(end - self._end, 0.0))
        return [*self._smoothed(self._waiting.finish()), *self._named(self._smoother.finish())]

    def _smoothed(self, windows: Posteriors) -> list[ClassifiedSegment]:
        self._silent += self._waiting.is_silent
        return self._named(self._smoother.push(windows))

    def _named(self, windows: Posteriors) -> list[ClassifiedSegment]:
        named = classified_windows(windows, self._path, self._novelty)
        silent = [self._silent.popleft() if self._silent else False for _ in named]
        return [
            replace(one, segment=replace(one.segment, label=SILENCE)) if is_silent else one
            for one, is_silent in zip(named, silent, strict=True)
        ]


def heard_features(
    blocks: Iterable[Block], recipe: Recipe, *, at_once: bool = False
) -> Iterator[tuple[Features, Contours]]:
    """Features of a recording's windows with the contours that were measured meanwhile.

    In batches of as many as a model computes together, or as soon as they are known.
    """
    meter = ContourMeter(recipe.framing.sample_rate)
    chunks = extract_features(meter.watch(blocks), recipe)
    for features in chunks if at_once else in_batches(chunks):
        yield features, meter.take()
    nothing = np.empty((0, len(recipe.columns)), np.float32)
    yield Features(nothing, recipe.columns, recipe.groups, ()), meter.take()


def recording_result(name: str, segments: Sequence[ClassifiedSegment], model: Model) -> Result:
    """The table of a recording's segments, in order of time."""
    in_order = by_start(segments, model.labels) if model.is_multi_label else segments
    rows = [(name, segment) for segment in in_order]
    return result_of(rows, model.labels, model.taxonomy, independent=model.is_multi_label)


def classify_stream(blocks: Iterable[Block], model: Model, options: SegmentationOptions) -> Iterator[ClassifiedSegment]:
    """Segments of a stream of blocks, each as soon as nothing can change it."""
    classifier, seconds = StreamClassifier(model, options), 0.0

    def timed() -> Iterator[Block]:
        nonlocal seconds
        for block in blocks:
            seconds = (block.start + len(block.samples)) / block.sample_rate
            yield block

    for features, contours in heard_features(timed(), classifier.model.recipe, at_once=True):
        yield from classifier.push(classifier.posteriors(features), contours)
    yield from classifier.finish(seconds)


def in_batches(chunks: Iterable[Features]) -> Iterator[Features]:
    """The same rows, as many together as a model computes at once: a batch costs the same however full it is."""
    waiting: list[Features] = []
    n_rows = 0  # of what waits and all before
    for chunk in chunks:
        waiting.append(chunk)
        n_before, n_rows = n_rows, n_rows + len(chunk.X)
        if n_before // ROWS_TOGETHER < n_rows // ROWS_TOGETHER:
            full = Features.joined(waiting, chunk.columns, chunk.groups)
            at = len(full.X) - n_rows % ROWS_TOGETHER
            yield full.rows(slice(at))
            waiting = [full.rows(slice(at, None))]
    if waiting and len((rest := Features.joined(waiting, waiting[0].columns, waiting[0].groups)).X):
        yield rest

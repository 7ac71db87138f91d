"""One recording as an archive keeps it: its windows with posteriors and vectors, and the segments that these make."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.contours import ContourMeter
from audioclass.audio.decode import open_audio
from audioclass.audio.recorded import ClockRule, RecordedAt
from audioclass.classifier.model import Model
from audioclass.classifier.projection import Projection
from audioclass.data import Block, Contours, Cut, Features, Posteriors, Result, Segment
from audioclass.engine.models import ModelFile
from audioclass.engine.stream_windows import with_stream_windows
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SegmentationOptions, heard_features, recording_result
from audioclass.errors import AudioclassError, AudioFileError, ComponentError
from audioclass.extraction.batch import extract_one, find_cached
from audioclass.extraction.cache import Cache, content_of, segments_of
from audioclass.recordings import regular
from audioclass.run import Progress, Run, silent
from audioclass.segmentation.outlines import Outline, Outliner
from audioclass.segmentation.silence import DEFAULT_SILENCE, SilenceRule
from audioclass.threads import one_thread

AS_STATED = ("smooth", "silence", "depth")  # the others of a choice are kept as numbers with a fraction
CONTENT_LENGTH = 32  # of the digest's digits: 128 bits tell any recordings apart


@dataclass(frozen=True)
class SegmentChoice:
    """How windows become segments, as it is stated: what an archive keeps beside them, and goes on with."""

    smooth: str = DEFAULT_SMOOTHER
    min_duration: float = 0.0
    threshold: float = 0.0
    unknown: float = 0.0
    silence: str = DEFAULT_SILENCE.text
    min_silence: float = DEFAULT_SILENCE.least
    depth: int | None = None

    def resolved(self, run: Run) -> SegmentationOptions:
        """As the engine takes them."""
        silence = SilenceRule.of(self.silence, self.min_silence)
        options = {"min_duration": self.min_duration, "threshold": self.threshold, "unknown": self.unknown}
        return SegmentationOptions.of(self.smooth, run, silence=silence, depth=self.depth, **options)

    def for_model(self, model: Model) -> SegmentChoice:
        """The same with the depth that is told: none where that is the model's labels and it has no other default."""
        deepest, default = model.taxonomy.depth, model.default_depth
        depth = min(self.depth if self.depth is not None else default or deepest, deepest)
        return replace(self, depth=None if default is None and depth == deepest else depth)

    def to_json(self) -> str:
        """As a text, always the same for the same choice.

        >>> SegmentChoice(min_duration=3).to_json() == SegmentChoice(min_duration=3.0).to_json()
        True
        """
        stated = {name: value for name, value in asdict(self).items() if value is not None}
        values = {name: value if name in AS_STATED else float(value) for name, value in stated.items()}
        return json.dumps(values, sort_keys=True)

    def to_options(self) -> str:
        """As it is stated on the command line.

        >>> SegmentChoice(min_duration=3).to_options()
        '--smooth hmm --min-duration 3 --threshold 0 --unknown 0 --silence -60 --min-silence 0.2'
        """
        stated = {
            name: f"{value:g}" if isinstance(value, float | int) else value
            for name, value in asdict(self).items()
            if value is not None
        }
        return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in stated.items())

    @classmethod
    def of_json(cls, text: str) -> SegmentChoice:
        """The inverse of `to_json`."""
        try:
            values = json.loads(text)
            return cls(
                smooth=str(values["smooth"]),
                min_duration=float(values["min_duration"]),
                threshold=float(values["threshold"]),
                unknown=float(values["unknown"]),
                silence=str(values["silence"]),
                min_silence=float(values["min_silence"]),
                depth=int(values["depth"]) if "depth" in values else None,
            )
        except (ValueError, KeyError, TypeError) as error:
            raise AudioclassError(f"segments were made with options that are not known here: {text[:100]}") from error


@dataclass(frozen=True, eq=False)
class StoredWindows:
    """The windows of a recording in the precision that is kept: (n, 2) times, posteriors, strangeness and vectors.

    The posteriors are those of the model's leaves, at whatever depth segments are told. The outline is that of the
    recording between the windows.
    """

    times: np.ndarray
    P: np.ndarray
    codes: np.ndarray
    outline: Outline
    strangeness: np.ndarray | None = None

    @property
    def end(self) -> float:
        """Where the recording ends, in seconds."""
        return float(self.times[-1, 1]) + self.outline.trailing / 1000 if len(self.times) else 0.0

    @property
    def levels(self) -> list[np.ndarray]:
        """The levels of the recording from each window to the next."""
        return self.outline.levels_by_window(self.times[:, 0])

    def posteriors(self, model: Model) -> Posteriors:
        """As smoothers and segments take them: rows sum to 1 again where the model's labels are not independent."""
        P = self.P.astype(np.float64)
        P = model.of_leaves(P if model.is_multi_label else P / P.sum(axis=1, keepdims=True))
        segments = tuple(Segment(float(start), float(end)) for start, end in self.times)
        strangeness = None if self.strangeness is None else self.strangeness.astype(np.float64)
        return Posteriors(P, model.labels, segments, strangeness, model.is_multi_label)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What became of one recording: its windows and segments, or the one line that says why there are none.

    `content` is empty where not even the bytes could be read. `reason` tells of damage too: what was read stands.
    """

    path: Path
    content: str = ""
    bytes: int = 0
    modified_ns: int = 0
    seconds: float = 0.0
    sample_rate: int | None = None
    channels: int | None = None
    recorded: RecordedAt | None = None
    reason: str = ""
    seconds_taken: float = 0.0
    windows: StoredWindows | None = None
    result: Result | None = None
    options: SegmentationOptions | None = None


@dataclass(frozen=True)
class Analyst:
    """Analyses recordings with one model; features are looked up in the cache, and put there where it `keeps` them."""

    model: ModelFile
    projection: Projection
    options: SegmentationOptions
    cache: Cache | None = None
    keeps: bool = False
    clock: ClockRule = field(default_factory=ClockRule)
    strict: bool = False
    progress: Progress = silent

    def needed_files(self) -> list[Path]:
        """What must be the same wherever recordings are analysed."""
        return [*self.model.needed_files(), *([] if self.cache is None else self.cache.needed_files())]

    def __call__(self, path: Path) -> Analysis:
        """What becomes of a recording; an error that a user can understand becomes a reason."""
        start = time.perf_counter()
        known = Analysis(path)
        try:
            known = file_facts(path)
            digest = content_of(path)
            known = replace(known, content=digest[:CONTENT_LENGTH], recorded=self.clock.find(path))
            analysis = self._analysed(known, digest)
        except AudioclassError as error:
            where = f"{path}: " if isinstance(error, ComponentError) else ""  # a component does not know its recording
            analysis = replace(known, reason=f"{where}{error}")
        except OSError as error:
            analysis = replace(known, reason=f"{path}: {error.strerror or error}")
        return replace(analysis, seconds_taken=time.perf_counter() - start)

    def _analysed(self, known: Analysis, digest: str) -> Analysis:
        model = with_stream_windows(self.model.load())
        reading = _Reading(known.path, model, self.progress)
        windows = self._windows(model, self._features(digest, model, reading), reading)
        known = replace(known, seconds=reading.seconds, sample_rate=reading.sample_rate, channels=reading.channels)
        if reading.cut is not None:
            if self.strict:
                raise AudioFileError(f"{known.path}: {reading.cut.reason}")
            known = replace(known, reason=f"{known.path}: {reading.cut.reason}; indexed up to there")
        result = segmented(windows, model, self.options, str(known.path))
        return replace(known, windows=windows, result=result, options=self.options)

    def _features(self, digest: str, model: Model, reading: _Reading) -> Iterator[tuple[Features, Contours | None]]:
        """From the cache, or computed now, with the contours of the recording."""
        cached = None
        if self.cache is not None and self.keeps:
            extracted = extract_one(reading.path, model.recipe, self.cache, self.progress)
            if extracted.cached is None:
                raise AudioFileError(extracted.reason)
            cached = extracted.cached
        elif self.cache is not None:
            cached = find_cached(digest, model.recipe, self.cache)
        if cached is None:
            yield from reading.computed()
            return
        for X, times in cached.rows():
            yield Features(X, model.recipe.columns, model.recipe.groups, segments_of(times)), None
        yield from reading.without_features()

    @one_thread()
    def _windows(
        self, model: Model, heard: Iterator[tuple[Features, Contours | None]], reading: _Reading
    ) -> StoredWindows:
        times: list[tuple[float, float]] = []
        parts: list[np.ndarray] = []
        strange: list[np.ndarray] = []
        codes: list[np.ndarray] = []
        outliner = Outliner()
        for features, contours in heard:
            outliner.push(features.segments, contours)
            prepared = model.prepared(features.X, len(times))
            P, strangeness = model.classify_prepared(prepared, len(times))
            times += [(segment.start, segment.end) for segment in features.segments]
            parts.append(model.flatten_short(P, features.segments).astype(np.float32))
            codes.append(self.projection.codes(prepared[:, 0]))
            strange += [] if strangeness is None else [strangeness.astype(np.float32)]
        return StoredWindows(
            np.array(times, np.float64).reshape(-1, 2),
            np.concatenate([np.empty((0, len(model.labels)), np.float32), *parts]),
            np.concatenate([np.empty((0, self.projection.n_axes), np.int8), *codes]),
            outliner.finish(reading.end),
            None if model.novelty is None else np.concatenate([np.empty(0, np.float32), *strange]),
        )


class _Reading:
    """A recording as it is read: its features, and what is known of it when all were.

    It lasts `seconds`; at the sample rate of the recipe it ends at `end`, which is the same to a sample.
    """

    def __init__(self, path: Path, model: Model, progress: Progress) -> None:
        self.path, self._recipe, self._progress = path, model.recipe, progress
        self.seconds, self.end = 0.0, 0.0
        self.sample_rate: int | None = None
        self.channels: int | None = None
        self.cut: Cut | None = None

    def computed(self) -> Iterator[tuple[Features, Contours]]:
        """The features from the first to the last that can be read, and the contours."""
        return heard_features(self._blocks(), self._recipe)

    def without_features(self) -> Iterator[tuple[Features, Contours]]:
        """The contours alone."""
        meter, recipe = ContourMeter(self._recipe.framing.sample_rate), self._recipe
        none = Features(np.empty((0, len(recipe.columns)), np.float32), recipe.columns, recipe.groups, ())
        for _ in meter.watch(self._blocks()):
            yield none, meter.take()
        yield none, meter.take()

    def _blocks(self) -> Iterator[Block]:
        """All that can be read."""
        recipe = self._recipe
        with open_audio(self.path, strict=False) as audio:
            self.sample_rate, self.channels = audio.sample_rate, audio.channels
            declared = audio.declared / audio.sample_rate if audio.declared else None
            for block in cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim):
                yield block
                self.seconds = audio.position / audio.sample_rate
                self.end = (block.start + len(block.samples)) / block.sample_rate
                self._progress(self.path.name, self.seconds, declared)
        self.seconds, self.cut = audio.position / audio.sample_rate, audio.cut


def content_id(path: Path) -> str:
    """What tells the content of a recording from others; empty where it cannot be read."""
    try:
        return content_of(path)[:CONTENT_LENGTH]
    except OSError:
        return ""


def file_facts(path: Path) -> Analysis:
    """What the file system says of a recording."""
    status = regular(path).stat()
    if not is_text(path):
        raise AudioFileError(f"{path}: its name is no text, an archive cannot keep it")
    return Analysis(path, bytes=status.st_size, modified_ns=status.st_mtime_ns)


def is_text(path: Path) -> bool:
    """Whether a table can hold the path: names of files may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def segmented(windows: StoredWindows, model: Model, options: SegmentationOptions, name: str) -> Result:
    """The segments that windows make."""
    outline, model = windows.outline, options.fitted(model)
    stream = options.stream(model, outline.stored_borders)
    with one_thread():
        final = stream.push(windows.posteriors(model), outline.contours)
        segments = [*final, *stream.finish(windows.end)]
    return recording_result(name, segments, model)


def check_choice(choice: SegmentChoice, model: Model, run: Run) -> SegmentationOptions:
    """The options of a choice, refused where they do not fit the model."""
    options = choice.resolved(run)
    options.stream(model)
    return options


def versions_of(about: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """What computes, as a text: ourselves and our libraries, and the distributions of the model's components."""
    plugins = {str(one["distribution"]): str(one["version"]) for one in about.get("pieces", []) if "version" in one}
    return json.dumps({**plugins, **versions}, sort_keys=True)

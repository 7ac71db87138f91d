"""Many recordings, each extracted by itself; a bad one is skipped and reported."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.data import Block, Cut, Features
from audioclass.errors import AudioclassError, AudioFileError, ComponentError
from audioclass.extraction.cache import Cache, CachedFeatures, FeaturesInMemory, JoinedFeatures, content_of, key_of
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.stretches import Span, extract_stretches
from audioclass.recordings import regular
from audioclass.run import Progress, Run, SerialExecutor, silent
from audioclass.storage import warn_unkept

CRASHED = "the decoder crashed on it"


@dataclass(frozen=True)
class Extracted:
    """What became of one recording: its features, or the one line that says why there are none.

    Where it is damaged and was read up to there, `reason` says that beside the features. `unkept` is the error of a
    cache that did not take the features; they are in memory then.
    """

    path: Path
    cached: CachedFeatures | JoinedFeatures | FeaturesInMemory | None = None
    reason: str = ""
    was_cached: bool = False
    seconds_taken: float = 0.0
    unkept: OSError | None = None


def extract_batch(paths: Sequence[Path], recipe: Recipe, cache: Cache | None, run: Run) -> Iterator[Extracted]:
    """What becomes of each recording, in order of completion; one that crashes its process is reported.

    Where the cache takes nothing, or no more, features are held in memory; the first time, a warning says so.
    """
    recipe.require_fitted()
    prepared = None if cache is None else cache.prepare()
    executor = SerialExecutor() if Path("-") in paths else run.executor  # other processes have another standard input
    progress = run.progress if executor.shares_memory else silent
    work = partial(extract_one, recipe=recipe, cache=prepared, progress=progress, strict=run.strict)
    has_warned = False
    for extracted in executor.map_unordered(work, paths, lambda path: Extracted(path, reason=f"{path}: {CRASHED}")):
        if extracted.unkept is not None and prepared is not None and not has_warned:
            warn_unkept(prepared.folder, extracted.unkept)
            has_warned = True
        yield extracted


def extract_one(
    path: Path,
    recipe: Recipe,
    cache: Cache | None,
    progress: Progress = silent,
    *,
    strict: bool = False,
    spans: Sequence[Span] = (),
) -> Extracted:
    """Extract a recording or find it in the cache; an error that a user can understand becomes a reason.

    With `spans` only these stretches of it are extracted, each as a recording of its own.
    """
    start = time.perf_counter()
    try:
        extracted = _marked(_extracted(path, recipe, cache, progress, spans), strict=strict)
    except AudioclassError as error:
        where = f"{path}: " if isinstance(error, ComponentError) else ""  # a component does not know what it is given
        extracted = Extracted(path, reason=f"{where}{error}")
    return replace(extracted, seconds_taken=time.perf_counter() - start)


def _marked(extracted: Extracted, *, strict: bool) -> Extracted:
    """The same, with the reason where the recording is damaged; without its features where that is to be strict."""
    cut = None if extracted.cached is None else extracted.cached.cut
    if cut is None:
        return extracted
    name = "standard input" if str(extracted.path) == "-" else extracted.path
    if strict:
        return Extracted(extracted.path, reason=f"{name}: {cut.reason}")
    return replace(extracted, reason=f"{name}: {cut.reason}; features up to there")


def _extracted(path: Path, recipe: Recipe, cache: Cache | None, progress: Progress, spans: Sequence[Span]) -> Extracted:
    """The features from the cache or computed, in the cache where it takes them.

    A pipe has no content to know it by.
    """
    is_pipe = str(path) == "-"
    with _readable(path):
        content = uuid.uuid4().hex if is_pipe else content_of(regular(path))
    content += f" {list(spans)}" if spans else ""
    key, unkept = key_of(content, recipe), None
    if cache is not None and not is_pipe:
        parts = _halves(content, recipe)
        entries = {part: entry for part in parts if (entry := cache.find(part)) is not None}
        missing = {part: half for part, half in parts.items() if part not in entries}
        try:
            if missing and cache.keeps:
                entries |= _written(path, missing, recipe, cache, progress, spans)
        except OSError as error:  # of writing: those of reading have become errors of the recording
            unkept = error
        if (joined := _joined(key, recipe, parts, entries)) is not None:
            return Extracted(path, joined, was_cached=not missing)
    computed = _Computed(path, recipe, progress, spans)
    in_memory = FeaturesInMemory.of(key, computed.chunks(), recipe, computed.cut_of)
    return Extracted(path, in_memory, unkept=unkept)


def find_cached(content: str, recipe: Recipe, cache: Cache) -> CachedFeatures | JoinedFeatures | None:
    """The features of a recording of this content that a cache holds, if it holds all of them."""
    parts = _halves(content, recipe)
    entries = {part: entry for part in parts if (entry := cache.find(part)) is not None}
    return _joined(key_of(content, recipe), recipe, parts, entries)


def _halves(content: str, recipe: Recipe) -> dict[str, Recipe]:
    """What is kept apart, by its key: no training changes the fixed part of a recipe."""
    halves = [each for each in (recipe.fixed, recipe.learnt) if each.parts] or [recipe]
    return {key_of(content, half): half for half in halves}


def _joined(
    key: str, recipe: Recipe, parts: Mapping[str, Recipe], entries: Mapping[str, CachedFeatures]
) -> CachedFeatures | JoinedFeatures | None:
    """All parts as one, where they are there and of the same windows."""
    if len(entries) < len(parts) or len({entry.n_rows for entry in entries.values()}) != 1:
        return None
    several = [entries[part] for part in parts]
    return several[0] if len(several) == 1 else JoinedFeatures(key, recipe, *several)


def _written(
    path: Path,
    missing: Mapping[str, Recipe],
    recipe: Recipe,
    cache: Cache,
    progress: Progress,
    spans: Sequence[Span],
) -> dict[str, CachedFeatures]:
    """The entries that the cache lacks, by their keys, computed in one pass."""
    computed = _Computed(path, next(iter(missing.values())) if len(missing) == 1 else recipe, progress, spans)
    return dict(zip(missing, cache.write_several(missing, computed.chunks(), computed.cut_of), strict=True))


class _Computed:
    """The features of a recording as they are computed, and what cut them, known when all were."""

    def __init__(self, path: Path, recipe: Recipe, progress: Progress, spans: Sequence[Span]) -> None:
        self._path, self._recipe, self._progress, self._spans = path, recipe, progress, spans
        self._cut: Cut | None = None

    def chunks(self) -> Iterator[Features]:
        """From the first to the last that can be read."""
        if self._spans:
            return extract_stretches(self._watched(), self._recipe, self._spans)
        return extract_features(self._watched(), self._recipe)

    def cut_of(self) -> Cut | None:
        """Where and why the chunks ended before the recording did."""
        return self._cut

    def _watched(self) -> Iterator[Block]:
        """The blocks of a recording; `progress` is told how far it is."""
        path, recipe = self._path, self._recipe
        with _readable(path), open_audio("-" if str(path) == "-" else path, strict=False) as audio:
            trims = recipe.trim and not self._spans  # a stretch is what it is, be it silence
            for block in cut_blocks(audio, recipe.framing.sample_rate, trim=trims):
                yield block
                declared = audio.declared / audio.sample_rate if audio.declared else None
                self._progress(path.name, audio.position / audio.sample_rate, declared)
        self._cut = audio.cut


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """An error of the system becomes one of the recording."""
    try:
        yield
    except OSError as error:
        raise AudioFileError(f"{path}: {error.strerror or error}") from error

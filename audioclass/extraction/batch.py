"""Many recordings, each extracted by itself; a bad one is skipped and reported."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.data import Block, Cut, Features
from audioclass.errors import AudioclassError, AudioFileError, ComponentError
from audioclass.extraction.cache import Cache, CachedFeatures, FeaturesInMemory, cache_key
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.recordings import regular
from audioclass.run import Progress, Run, silent
from audioclass.storage import warn_unkept

CRASHED = "the decoder crashed on it"


@dataclass(frozen=True)
class Extracted:
    """What became of one recording: its features, or the one line that says why there are none.

    Where it is damaged and was read up to there, `reason` says that beside the features. `unkept` is the error of a
    cache that did not take the features; they are in memory then.
    """

    path: Path
    cached: CachedFeatures | FeaturesInMemory | None = None
    reason: str = ""
    was_cached: bool = False
    seconds_taken: float = 0.0
    unkept: OSError | None = None


def extract_batch(paths: Sequence[Path], recipe: Recipe, cache: Cache | None, run: Run) -> Iterator[Extracted]:
    """What becomes of each recording, in order of completion; one that crashes its process is reported.

    Where the cache takes nothing, or no more, features are held in memory; the first time, a warning says so.
    """
    prepared = None if cache is None else cache.prepare()
    progress = run.progress if run.executor.shares_memory else silent
    work = partial(extract_one, recipe=recipe, cache=prepared, progress=progress, strict=run.strict)
    has_warned = False
    for extracted in run.executor.map_unordered(work, paths, lambda path: Extracted(path, reason=f"{path}: {CRASHED}")):
        if extracted.unkept is not None and prepared is not None and not has_warned:
            warn_unkept(prepared.folder, extracted.unkept)
            has_warned = True
        yield extracted


def extract_one(
    path: Path, recipe: Recipe, cache: Cache | None, progress: Progress = silent, *, strict: bool = False
) -> Extracted:
    """Extract a recording or find it in the cache; an error that a user can understand becomes a reason."""
    start = time.perf_counter()
    try:
        extracted = _marked(_extracted(path, recipe, cache, progress), strict=strict)
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


def _extracted(path: Path, recipe: Recipe, cache: Cache | None, progress: Progress) -> Extracted:
    """The features from the cache or computed, in the cache where it takes them.

    A pipe has no content to know it by.
    """
    is_pipe = str(path) == "-"
    with _readable(path):
        key = uuid.uuid4().hex if is_pipe else cache_key(regular(path), recipe)
    computed = _Computed(path, recipe, progress)
    if cache is not None and not is_pipe:
        before = cache.find(key)
        if before is not None:
            return Extracted(path, before, was_cached=True)
        if cache.keeps:
            try:
                return Extracted(path, cache.write(key, computed.chunks(), recipe, computed.cut_of))
            except OSError as error:  # of writing: those of reading have become errors of the recording
                in_memory = FeaturesInMemory.of(key, computed.chunks(), recipe, computed.cut_of)
                return Extracted(path, in_memory, unkept=error)
    return Extracted(path, FeaturesInMemory.of(key, computed.chunks(), recipe, computed.cut_of))


class _Computed:
    """The features of a recording as they are computed, and what cut them, known when all were."""

    def __init__(self, path: Path, recipe: Recipe, progress: Progress) -> None:
        self._path, self._recipe, self._progress = path, recipe, progress
        self._cut: Cut | None = None

    def chunks(self) -> Iterator[Features]:
        """From the first to the last that can be read."""
        return extract_features(self._watched(), self._recipe)

    def cut_of(self) -> Cut | None:
        """Where and why the chunks ended before the recording did."""
        return self._cut

    def _watched(self) -> Iterator[Block]:
        """The blocks of a recording; `progress` is told how far it is."""
        path, recipe = self._path, self._recipe
        with _readable(path), open_audio("-" if str(path) == "-" else path, strict=False) as audio:
            for block in cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim):
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

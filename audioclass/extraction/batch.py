"""Many recordings, each extracted by itself; a bad one is skipped and reported."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.data import Block
from audioclass.errors import AudioclassError, ComponentError
from audioclass.extraction.cache import Cache, CachedFeatures, cache_key
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.recordings import regular
from audioclass.run import Progress, Run, silent

CRASHED = "the decoder crashed on it"


@dataclass(frozen=True)
class Extracted:
    """What became of one recording: its features on disk, or the one line that says why there are none."""

    path: Path
    cached: CachedFeatures | None = None
    reason: str = ""
    was_cached: bool = False
    seconds_taken: float = 0.0


def extract_batch(paths: Sequence[Path], recipe: Recipe, cache: Cache, run: Run) -> Iterator[Extracted]:
    """What becomes of each recording, in order of completion; one that crashes its process is reported."""
    cache.prepare()
    progress = run.progress if run.executor.shares_memory else silent
    work = partial(extract_one, recipe=recipe, cache=cache, progress=progress)
    return run.executor.map_unordered(work, paths, lambda path: Extracted(path, reason=f"{path}: {CRASHED}"))


def extract_one(path: Path, recipe: Recipe, cache: Cache, progress: Progress = silent) -> Extracted:
    """Extract a recording or find it in the cache; an error that a user can understand becomes a reason."""
    start = time.perf_counter()
    try:
        key = uuid.uuid4().hex if str(path) == "-" else cache_key(regular(path), recipe)
        before = cache.find(key)
        features = before or cache.write(key, extract_features(_watched(path, recipe, progress), recipe), recipe)
    except AudioclassError as error:
        where = f"{path}: " if isinstance(error, ComponentError) else ""  # a component does not know what it is given
        return Extracted(path, reason=f"{where}{error}", seconds_taken=time.perf_counter() - start)
    except OSError as error:
        return Extracted(path, reason=f"{path}: {error.strerror}", seconds_taken=time.perf_counter() - start)
    return Extracted(path, features, was_cached=before is not None, seconds_taken=time.perf_counter() - start)


def _watched(path: Path, recipe: Recipe, progress: Progress) -> Iterator[Block]:
    """The blocks of a recording; `progress` is told how far it is."""
    with open_audio("-" if str(path) == "-" else path) as audio:
        for block in cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim):
            yield block
            declared = audio.declared / audio.sample_rate if audio.declared else None
            progress(path.name, audio.position / audio.sample_rate, declared)

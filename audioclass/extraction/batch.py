"""Many recordings, each extracted by itself, a bad one costing only itself."""

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
from audioclass.errors import AudioclassError
from audioclass.extraction.cache import Cache, CachedFeatures, cache_key
from audioclass.extraction.extract import extract_features
from audioclass.extraction.parallel import for_each
from audioclass.extraction.recipe import Recipe
from audioclass.recordings import Progress, regular


@dataclass(frozen=True)
class Extracted:
    """What became of one recording: its features on disk, or the one line that says why there are none."""

    path: Path
    cached: CachedFeatures | None = None
    reason: str = ""
    was_kept: bool = False
    seconds_taken: float = 0.0


def extract_batch(
    paths: Sequence[Path], recipe: Recipe, cache: Cache, jobs: int = 1, progress: Progress | None = None
) -> Iterator[Extracted]:
    """One outcome for each recording, in order of their completion; `progress` is told of one file at a time."""
    cache.prepare()
    if jobs == 1 or len(paths) < 2:
        yield from (extract_one(path, recipe, cache, progress) for path in paths)
        return
    work = partial(extract_one, recipe=recipe, cache=cache)
    yield from for_each(work, paths, jobs, lambda path, reason: Extracted(path, reason=reason))


def extract_one(path: Path, recipe: Recipe, cache: Cache, progress: Progress | None = None) -> Extracted:
    """Extract a recording or find what was kept of it; an error that a user can understand becomes a reason."""
    start = time.perf_counter()
    try:
        key = uuid.uuid4().hex if str(path) == "-" else cache_key(regular(path), recipe)
        kept = cache.find(key)
        entry = kept or cache.write(key, extract_features(_watched(path, recipe, progress), recipe), recipe)
    except AudioclassError as error:
        return Extracted(path, reason=str(error), seconds_taken=time.perf_counter() - start)
    except OSError as error:
        return Extracted(path, reason=f"{path}: {error.strerror}", seconds_taken=time.perf_counter() - start)
    return Extracted(path, entry, was_kept=kept is not None, seconds_taken=time.perf_counter() - start)


def _watched(path: Path, recipe: Recipe, progress: Progress | None) -> Iterator[Block]:
    """The blocks of a recording; `progress` is told how far it is."""
    with open_audio("-" if str(path) == "-" else path) as audio:
        for block in cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim):
            yield block
            if progress is not None:
                declared = audio.declared / audio.sample_rate if audio.declared else None
                progress(audio.position / audio.sample_rate, declared)

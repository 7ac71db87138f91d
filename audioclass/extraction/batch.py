"""Many recordings: what is found under the paths, each extracted by itself, a bad one costing only itself."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.data import Block
from audioclass.errors import AudioclassError, AudioFileError
from audioclass.extraction.cache import Cache, Entry, cache_key
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe

SUFFIXES = frozenset(
    {
        *(".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc", ".au", ".snd", ".caf"),
        *(".w64", ".rf64", ".m4a", ".m4b", ".mp4", ".aac", ".wma", ".mkv", ".mov", ".webm", ".avi", ".amr", ".ac3"),
    }
)

Progress = Callable[[float, float | None], None]  # seconds done, seconds in all where they are declared


@dataclass(frozen=True)
class Outcome:
    """What became of one recording: its features on disk, or the one line that says why there are none."""

    path: Path
    entry: Entry | None = None
    reason: str = ""
    was_kept: bool = False
    seconds_taken: float = 0.0


def find_recordings(paths: Sequence[Path]) -> list[Path]:
    """The recordings under the paths, in order: files as they are, folders searched all the way down.

    Suffixes count in any case; hidden files and folders do not. A folder with the suffix of a recording is among them,
    for its reader to refuse.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found |= dict.fromkeys(_below(path))
        else:
            found[path] = None
    return list(found)


def extract_batch(
    paths: Sequence[Path], recipe: Recipe, cache: Cache, jobs: int = 1, progress: Progress | None = None
) -> Iterator[Outcome]:
    """One outcome for each recording, in order of their completion; `progress` is told of one file at a time."""
    cache.prepare()
    if jobs == 1 or len(paths) < 2:
        yield from (extract_one(path, recipe, cache, progress) for path in paths)
        return
    work = partial(extract_one, recipe=recipe, cache=cache)
    done: set[Path] = set()
    try:
        for outcome in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(work)(path) for path in paths):
            done.add(outcome.path)
            yield outcome
    except TerminatedWorkerError:  # a decoder crashed and took the workers along: the rest goes on one by one
        yield from _apart(work, [path for path in paths if path not in done])


def extract_one(path: Path, recipe: Recipe, cache: Cache, progress: Progress | None = None) -> Outcome:
    """Extract a recording or find what was kept of it; an error that a user can understand becomes a reason."""
    start = time.perf_counter()
    try:
        key = uuid.uuid4().hex if str(path) == "-" else cache_key(_regular(path), recipe)
        kept = cache.find(key)
        entry = kept or cache.write(key, extract_features(_watched(path, recipe, progress), recipe), recipe)
    except AudioclassError as error:
        return Outcome(path, reason=str(error), seconds_taken=time.perf_counter() - start)
    except OSError as error:
        return Outcome(path, reason=f"{path}: {error.strerror}", seconds_taken=time.perf_counter() - start)
    return Outcome(path, entry, was_kept=kept is not None, seconds_taken=time.perf_counter() - start)


def _watched(path: Path, recipe: Recipe, progress: Progress | None) -> Iterator[Block]:
    """The blocks of a recording; `progress` is told how far it is."""
    with open_audio("-" if str(path) == "-" else path) as audio:
        for block in cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim):
            yield block
            if progress is not None:
                declared = audio.declared / audio.sample_rate if audio.declared else None
                progress(audio.position / audio.sample_rate, declared)


def _regular(path: Path) -> Path:
    """The path itself, if it can be read to its end: a pipe or a device would be read for ever."""
    if path.is_file():
        return path
    what = "a folder" if path.is_dir() else "not a regular file" if path.exists() else "no such file"
    raise AudioFileError(f"{path}: {what}")


def _apart(work: Callable[[Path], Outcome], paths: Sequence[Path]) -> Iterator[Outcome]:
    for path in paths:
        try:
            with ProcessPoolExecutor(1) as pool:
                yield pool.submit(work, path).result()
        except BrokenProcessPool:
            yield Outcome(path, reason=f"{path}: the decoder crashed on it")


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*files, *folders]):
            if Path(name).suffix.lower() in SUFFIXES and not name.startswith("."):
                yield Path(parent, name)

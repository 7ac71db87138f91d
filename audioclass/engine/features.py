"""Recordings to features: one recording, or many with what is kept of them."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.data import Features
from audioclass.engine.runs import make_run
from audioclass.extraction.batch import Extracted, extract_batch
from audioclass.extraction.cache import Cache
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipes import load_recipe
from audioclass.recordings import find_recordings
from audioclass.run import Run

DEFAULT_RECIPE = "broadcast"


def extract(
    path: str | Path, recipe: str | Recipe = DEFAULT_RECIPE, *, strict: bool = False, run: Run | None = None
) -> Features:
    """The features of one recording's windows, all in memory; `-` reads standard input.

    A damaged recording gives those of what can be read, with a warning; with `strict` it is an error.
    """
    run = run or make_run()
    recipe = load_recipe(recipe, run.registry) if isinstance(recipe, str) else recipe
    source = path if path == "-" else Path(path)
    with open_audio(source, strict=strict or run.strict) as audio:
        chunks = extract_features(cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim), recipe)
        features = Features.joined(chunks, recipe.columns, recipe.groups)
    if audio.cut is not None:
        warnings.warn(f"{path}: {audio.cut.reason}; features up to there", stacklevel=2)
    return features


@dataclass(frozen=True)
class Extraction:
    """Recordings that are to be extracted into a folder, each known by its content; into memory where there is none."""

    recordings: list[Path]
    recipe: Recipe
    folder: Path | None
    run: Run

    def __iter__(self) -> Iterator[Extracted]:
        """What becomes of each recording, in order of completion."""
        cache = None if self.folder is None else Cache(self.folder)
        return extract_batch(self.recordings, self.recipe, cache, self.run)

    def collect(self) -> list[Extracted]:
        """What became of each recording, in the order of the recordings; the run is told of each that is done."""
        done: dict[Path, Extracted] = {}
        for extracted in self:
            done[extracted.path] = extracted
            self.run.progress("recordings", len(done), len(self.recordings))
        return [done[path] for path in self.recordings]


@contextlib.contextmanager
def extract_many(paths: Sequence[Path], recipe: Recipe, run: Run) -> Iterator[Extraction]:
    """The extraction of all recordings under the paths.

    Results stay in the cache of the run; without one they are gone when the context ends. Those of standard input,
    which has no content to know it by, are held in memory.
    """
    recordings = find_recordings(paths)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(_passing_folder()) if run.cache is None else run.cache / "features"
        yield Extraction(recordings, recipe, folder, run)


@contextlib.contextmanager
def _passing_folder() -> Iterator[Path | None]:
    """A folder that is gone in the end; None where the system has no place for one."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="audioclass-", ignore_cleanup_errors=True))
        except OSError:
            yield None
        else:
            yield Path(folder)

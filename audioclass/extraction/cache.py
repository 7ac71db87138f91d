"""Features kept by content: the same bytes and the same recipe are never computed twice.

An entry is a zip of raw arrays and a small description, written beside its place and renamed into it; its name is made
of the content of the recording and of the recipe, so parallel writers and kills at any moment do no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from audioclass.data import Features, Segment
from audioclass.extraction.recipe import Recipe

ROWS_TOGETHER = 4096
VALUE, TIME = np.dtype("<f4"), np.dtype("<f8")


@dataclass(frozen=True)
class CachedFeatures:
    """The features of one recording on disk: (n_rows, n_columns) values and the seconds of audio they describe."""

    path: Path
    n_rows: int
    n_columns: int
    seconds: float

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Values and (start, end) of a few thousand rows at a time."""
        with zipfile.ZipFile(self.path) as archive, archive.open("X") as values, archive.open("times") as times:
            for first in range(0, self.n_rows, ROWS_TOGETHER):
                count = min(ROWS_TOGETHER, self.n_rows - first)
                X = np.frombuffer(values.read(count * self.n_columns * VALUE.itemsize), VALUE)
                spans = np.frombuffer(times.read(count * 2 * TIME.itemsize), TIME)
                yield X.reshape(count, self.n_columns), spans.reshape(count, 2)

    def load(self, recipe: Recipe) -> Features:
        """All rows in memory."""
        parts = list(self.rows())
        X = np.concatenate([values for values, _ in parts]) if parts else np.empty((0, self.n_columns), VALUE)
        segments = tuple(Segment(float(start), float(end)) for _, spans in parts for start, end in spans)
        return Features(X, recipe.columns, recipe.groups, segments)


@dataclass(frozen=True)
class Cache:
    """A folder of entries; making one removes what killed processes left unfinished."""

    folder: Path

    def prepare(self) -> None:
        """Make the folder and sweep out unfinished entries whose writers are gone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for part in self.folder.glob("*/.*.part"):
            with contextlib.suppress(OSError), part.open("rb") as file:
                if _lock(file):
                    part.unlink(missing_ok=True)

    def find(self, key: str) -> CachedFeatures | None:
        """The entry of a key; None where there is none that is whole."""
        path = self._path(key)
        try:
            with zipfile.ZipFile(path) as archive:
                said = json.loads(archive.read("about.json"))
                entry = CachedFeatures(path, int(said["n_rows"]), int(said["n_columns"]), float(said["seconds"]))
                sizes = {info.filename: info.file_size for info in archive.infolist()}
        except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError):
            return None
        is_whole = sizes.get("X") == entry.n_rows * entry.n_columns * VALUE.itemsize
        return entry if is_whole and sizes.get("times") == entry.n_rows * 2 * TIME.itemsize else None

    def write(self, key: str, chunks: Iterable[Features], recipe: Recipe) -> CachedFeatures:
        """Write an entry chunk by chunk; where the chunks fail, nothing stays."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.parent / f".{path.stem}.{os.getpid()}.part"
        try:
            with _locked(part) as file, zipfile.ZipFile(file, "w") as archive:
                n_rows, seconds = _fill(archive, chunks, recipe)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return CachedFeatures(path, n_rows, len(recipe.columns), seconds)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.zip"


def cache_key(path: Path, recipe: Recipe) -> str:
    """The name of a result: a digest of the recording's bytes and of the recipe."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "blake2b").hexdigest()
    return hashlib.sha256(f"{content} {recipe.fingerprint}".encode()).hexdigest()


def _fill(archive: zipfile.ZipFile, chunks: Iterable[Features], recipe: Recipe) -> tuple[int, float]:
    """Write the rows as they come, then what describes them; how many there are, and the seconds they reach to."""
    times: list[tuple[float, float]] = []
    with archive.open("X", "w", force_zip64=True) as values:
        for chunk in chunks:
            values.write(np.ascontiguousarray(chunk.X, VALUE).tobytes())
            times += [(segment.start, segment.end) for segment in chunk.segments]
    seconds = times[-1][1] if times else 0.0
    archive.writestr("times", np.array(times, TIME).tobytes())
    about = {"n_rows": len(times), "n_columns": len(recipe.columns), "seconds": seconds, "recipe": recipe.fingerprint}
    archive.writestr("about.json", json.dumps(about))
    return len(times), seconds


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """A new file that nobody sweeps out while its writer lives: the lock ends with the process, however that ends."""
    while True:
        with path.open("wb") as file:
            _lock(file)
            if os.fstat(file.fileno()).st_nlink:  # else it was swept out between opening and locking
                yield file
                return


def _lock(file: IO[bytes]) -> bool:
    """Whether the lock of a file could be taken; where there are no such locks, open files cannot be removed anyway."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

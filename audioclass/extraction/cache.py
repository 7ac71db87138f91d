"""Features kept by content: the same bytes and the same recipe are never computed twice.

An entry of the store is a zip of raw arrays and a small description; its name is made of the content of the recording
and of the recipe. It is read to its end, with its checksums, before anybody relies on it: a disk may have damaged it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.data import Cut, Features, Segment
from audioclass.extraction.recipe import Recipe
from audioclass.storage import DAMAGE, Store, warn_unkept

ROWS_TOGETHER = 4096
VALUE, TIME = np.dtype("<f4"), np.dtype("<f8")


def whole() -> Cut | None:
    """What cut a recording that is not damaged."""
    return None


@dataclass(frozen=True)
class CachedFeatures:
    """The features of one recording on disk: (n_rows, n_columns) values and the seconds of audio they describe."""

    path: Path
    n_rows: int
    n_columns: int
    seconds: float
    cut: Cut | None = None

    @property
    def key(self) -> str:
        """A name of the recording's content and of the recipe."""
        return self.path.stem

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


@dataclass(frozen=True, eq=False)
class FeaturesInMemory:
    """The features of one recording that no disk took, or that nobody could find again: those of a pipe."""

    key: str
    features: Features
    cut: Cut | None = None

    @classmethod
    def of(
        cls, key: str, chunks: Iterable[Features], recipe: Recipe, cut_of: Callable[[], Cut | None] = whole
    ) -> FeaturesInMemory:
        """All chunks, with the values that a disk would give back; then, what cut them."""
        joined = Features.joined(chunks, recipe.columns, recipe.groups)
        return cls(key, replace(joined, X=joined.X.astype(VALUE)), cut_of())

    @property
    def n_rows(self) -> int:
        """How many windows there are."""
        return len(self.features.X)

    @property
    def n_columns(self) -> int:
        """How many features each has."""
        return len(self.features.columns)

    @property
    def seconds(self) -> float:
        """Where the last window ends."""
        return self.features.segments[-1].end if self.features.segments else 0.0

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Values and (start, end) of all rows, where there are some."""
        if self.n_rows:
            spans = [(segment.start, segment.end) for segment in self.features.segments]
            yield self.features.X, np.array(spans, TIME)

    def load(self, recipe: Recipe) -> Features:
        """All rows, for the columns of their recipe."""
        return replace(self.features, columns=recipe.columns, groups=recipe.groups)


@dataclass(frozen=True)
class Cache:
    """A folder of features; `prepare` removes what killed processes left unfinished."""

    folder: Path
    keeps: bool = True

    @property
    def store(self) -> Store:
        """The folder as a store of zips."""
        return Store(self.folder, ".zip")

    def prepare(self) -> Cache:
        """The same cache, its folder made and unfinished entries swept out whose writers are gone.

        Where nothing can be written to it, that is told in a warning, and it only gives what it holds.
        """
        try:
            self.store.prepare()
        except OSError as error:
            warn_unkept(self.folder, error)
            return replace(self, keeps=False)
        return self

    def find(self, key: str) -> CachedFeatures | None:
        """The entry of a key; None where there is none that is whole."""
        try:
            entry = _read_entry(self.store.place(key), key)
            return entry if all(_is_right(X, times) for X, times in entry.rows()) else None
        except DAMAGE:
            return None

    def write(
        self, key: str, chunks: Iterable[Features], recipe: Recipe, cut_of: Callable[[], Cut | None] = whole
    ) -> CachedFeatures:
        """Write an entry chunk by chunk, then what cut them; where the chunks fail, nothing stays."""
        with self.store.writing(key) as stream, zipfile.ZipFile(stream, "w") as archive:
            times = _fill(archive, chunks)
            seconds, cut = times[-1][1] if times else 0.0, cut_of()
            about: dict[str, Any] = {"n_rows": len(times), "n_columns": len(recipe.columns), "seconds": seconds}
            about |= {"recipe": recipe.fingerprint, "key": key, "cut": None if cut is None else vars(cut)}
            archive.writestr("about.json", json.dumps(about))
        return CachedFeatures(self.store.place(key), len(times), len(recipe.columns), seconds, cut)


def cache_key(path: Path, recipe: Recipe) -> str:
    """The name of a result: a digest of the recording's bytes and of the recipe."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "blake2b").hexdigest()
    return hashlib.sha256(f"{content} {recipe.fingerprint}".encode()).hexdigest()


def _read_entry(path: Path, key: str) -> CachedFeatures:
    """What the entry says of itself, where that fits its name and the sizes of its members."""
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        about = json.loads(archive.read("about.json"))
    cut = None if about["cut"] is None else Cut(float(about["cut"]["seconds"]), str(about["cut"]["reason"]))
    entry = CachedFeatures(path, int(about["n_rows"]), int(about["n_columns"]), float(about["seconds"]), cut)
    expected = {"X": entry.n_rows * entry.n_columns * VALUE.itemsize, "times": entry.n_rows * 2 * TIME.itemsize}
    if about["key"] != key or any(sizes.get(name) != size for name, size in expected.items()):
        raise ValueError(f"{path}: not the entry of {key}")
    return entry


def _is_right(X: np.ndarray, times: np.ndarray) -> bool:
    """Whether these are features and times: rows of an older version may hold what is not a number."""
    starts, ends = times.T
    return bool(np.isfinite(X).all() and np.isfinite(times).all() and (starts >= 0).all() and (starts <= ends).all())


def _fill(archive: zipfile.ZipFile, chunks: Iterable[Features]) -> list[tuple[float, float]]:
    """Write the rows as they come, then their times, which are given back."""
    times: list[tuple[float, float]] = []
    with archive.open("X", "w", force_zip64=True) as values:
        for chunk in chunks:
            values.write(np.ascontiguousarray(chunk.X, VALUE).tobytes())
            times += [(segment.start, segment.end) for segment in chunk.segments]
    archive.writestr("times", np.array(times, TIME).tobytes())
    return times

"""Features kept by content: the same bytes and the same recipe are never computed twice.

An entry of the store is a zip of raw arrays and a small description; its name is made of the content of the recording
and of the recipe. It is read to its end, with its checksums, before anybody relies on it: a disk may have damaged it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.data import Cut, Features, Segment
from audioclass.extraction.recipe import Recipe
from audioclass.storage import DAMAGE, Store, warn_unkept

ROWS_TOGETHER = 4096
VALUE, TIME = np.dtype("<f4"), np.dtype("<f8")
N_TIMES = 3  # of a row: start, end and padding


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
        """Values and (start, end, padding) of a few thousand rows at a time."""
        with zipfile.ZipFile(self.path) as archive, archive.open("X") as values, archive.open("times") as times:
            for first in range(0, self.n_rows, ROWS_TOGETHER):
                count = min(ROWS_TOGETHER, self.n_rows - first)
                X = np.frombuffer(values.read(count * self.n_columns * VALUE.itemsize), VALUE)
                spans = np.frombuffer(times.read(count * N_TIMES * TIME.itemsize), TIME)
                yield X.reshape(count, self.n_columns), spans.reshape(count, N_TIMES)

    def load(self, recipe: Recipe) -> Features:
        """All rows in memory."""
        parts = list(self.rows())
        X = np.concatenate([values for values, _ in parts]) if parts else np.empty((0, self.n_columns), VALUE)
        segments = tuple(segment for _, spans in parts for segment in segments_of(spans))
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
        """Values and (start, end, padding) of all rows, where there are some."""
        if self.n_rows:
            yield self.features.X, np.array(times_of(self.features.segments), TIME)

    def load(self, recipe: Recipe) -> Features:
        """All rows, for the columns of their recipe."""
        return replace(self.features, columns=recipe.columns, groups=recipe.groups)


@dataclass(frozen=True, eq=False)
class JoinedFeatures:
    """The features of a recipe whose fixed and learnt parts are kept apart: no training changes those of the first."""

    key: str
    recipe: Recipe
    fixed: CachedFeatures
    learnt: CachedFeatures

    @property
    def cut(self) -> Cut | None:
        """What cut the recording."""
        return self.fixed.cut

    @property
    def n_rows(self) -> int:
        """How many windows there are."""
        return self.fixed.n_rows

    @property
    def n_columns(self) -> int:
        """How many features each has."""
        return self.fixed.n_columns + self.learnt.n_columns

    @property
    def seconds(self) -> float:
        """Where the last window ends."""
        return self.fixed.seconds

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Values and (start, end, padding) of a few thousand rows at a time, columns in the order of the recipe."""
        for (fixed, spans), (learnt, _) in zip(self.fixed.rows(), self.learnt.rows(), strict=True):
            yield self.recipe.join(fixed, learnt), spans

    def load(self, recipe: Recipe) -> Features:
        """All rows in memory."""
        fixed, learnt = self.fixed.load(recipe.fixed), self.learnt.load(recipe.learnt)
        return Features(recipe.join(fixed.X, learnt.X), recipe.columns, recipe.groups, fixed.segments)


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

    def needed_files(self) -> list[Path]:
        """A file in the folder that tells it from all others, where it can be written: who has another has not ours."""
        mark = self.folder / "folder.id"
        try:
            with contextlib.suppress(FileExistsError), mark.open("x") as stream:
                stream.write(uuid.uuid4().hex)
        except OSError:
            return []
        return [mark]

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
        return self.write_several({key: recipe}, chunks, cut_of)[0]

    def write_several(
        self, recipes: Mapping[str, Recipe], chunks: Iterable[Features], cut_of: Callable[[], Cut | None] = whole
    ) -> list[CachedFeatures]:
        """Entries for several recipes, each by its key, of chunks that hold the columns of all of them."""
        with contextlib.ExitStack() as stack:
            streams = [stack.enter_context(self.store.writing(key)) for key in recipes]
            archives = [stack.enter_context(zipfile.ZipFile(stream, "w")) for stream in streams]
            times = _fill(dict(zip(archives, recipes.values(), strict=True)), chunks)
            seconds, cut = times[-1][1] if times else 0.0, cut_of()
            for archive, (key, recipe) in zip(archives, recipes.items(), strict=True):
                about: dict[str, Any] = {"n_rows": len(times), "n_columns": len(recipe.columns), "seconds": seconds}
                about |= {"recipe": recipe.fingerprint, "key": key, "cut": None if cut is None else vars(cut)}
                archive.writestr("about.json", json.dumps(about))
        return [
            CachedFeatures(self.store.place(key), len(times), len(recipe.columns), seconds, cut)
            for key, recipe in recipes.items()
        ]


def cache_key(path: Path, recipe: Recipe) -> str:
    """The name of a result: a digest of the recording's bytes and of the recipe."""
    return key_of(content_of(path), recipe)


def content_of(path: Path) -> str:
    """A digest of the recording's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def key_of(content: str, recipe: Recipe) -> str:
    """The name of a result of a recording of this content."""
    return hashlib.sha256(f"{content} {recipe.fingerprint}".encode()).hexdigest()


def _read_entry(path: Path, key: str) -> CachedFeatures:
    """What the entry says of itself, where that fits its name and the sizes of its members."""
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        about = json.loads(archive.read("about.json"))
    cut = None if about["cut"] is None else Cut(float(about["cut"]["seconds"]), str(about["cut"]["reason"]))
    entry = CachedFeatures(path, int(about["n_rows"]), int(about["n_columns"]), float(about["seconds"]), cut)
    expected = {"X": entry.n_rows * entry.n_columns * VALUE.itemsize, "times": entry.n_rows * N_TIMES * TIME.itemsize}
    if about["key"] != key or any(sizes.get(name) != size for name, size in expected.items()):
        raise ValueError(f"{path}: not the entry of {key}")
    return entry


def _is_right(X: np.ndarray, times: np.ndarray) -> bool:
    """Whether these are features and times: rows of an older version may hold what is not a number."""
    starts, ends, padding = times.T
    are_times = np.isfinite(times).all() and (starts >= 0).all() and (padding >= 0).all() and (starts <= ends).all()
    return bool(np.isfinite(X).all() and are_times)


def segments_of(times: np.ndarray) -> tuple[Segment, ...]:
    """Windows from rows of (start, end, padding)."""
    return tuple(Segment(start, end, padding=padding) for start, end, padding in times.tolist())


def times_of(windows: Iterable[Segment]) -> list[tuple[float, float, float]]:
    """The inverse of `segments_of`."""
    return [(window.start, window.end, window.padding) for window in windows]


def _fill(archives: Mapping[zipfile.ZipFile, Recipe], chunks: Iterable[Features]) -> list[tuple[float, float, float]]:
    """Write the columns of each recipe as their rows come, then the times of these, which are given back."""
    times: list[tuple[float, float, float]] = []
    places: list[Any] | None = None
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(archive.open("X", "w", force_zip64=True)) for archive in archives]
        for chunk in chunks:
            places = places or [_places(recipe.columns, chunk.columns) for recipe in archives.values()]
            for values, columns in zip(members, places, strict=True):
                values.write(np.ascontiguousarray(chunk.X[:, columns], VALUE).tobytes())
            times += times_of(chunk.segments)
    for archive in archives:
        archive.writestr("times", np.array(times, TIME).tobytes())
    return times


def _places(columns: Sequence[str], among: Sequence[str]) -> Any:
    """Where the columns of a recipe stand among those of a chunk."""
    if columns == among:
        return slice(None)
    place = {name: i for i, name in enumerate(among)}
    return np.array([place[name] for name in columns], int)

"""Windows that are near a sound, among all windows of an archive.

Vectors of the tables are kept once more in one file, as numpy maps it into memory. Up to a million of them all are
compared; beyond that a graph is built once, by usearch, through which a search meets a few thousand of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.errors import UsageError
from audioclass.index.schema import EXTRA
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.outputs import atomic_write, replacing
from audioclass.packages import import_extra
from audioclass.run import Run
from audioclass.storage import DAMAGE, warn_unkept

EXACT_UP_TO = 1_000_000
ADDED_TOGETHER = 100_000
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 64, 256
WINDOW = np.dtype([("content", "S32"), ("start_s", "f8"), ("end_s", "f8")])


@dataclass(frozen=True, eq=False)
class Hits:
    """Windows and their squared distances to the nearest of the vectors that were asked for, nearest first."""

    windows: np.ndarray
    distances: np.ndarray


class Vectors:
    """The vectors of one model's windows, (n, n_axes) whole numbers, with what windows they are of."""

    def __init__(self, vectors: np.ndarray, windows: np.ndarray, graph: Any = None) -> None:
        self.vectors, self.windows, self._graph = vectors, windows, graph

    def nearest(self, queries: np.ndarray, count: int) -> Hits:
        """The windows nearest to any of the queries."""
        count = min(count, len(self.windows))
        if not count:
            return Hits(np.empty(0, WINDOW), np.empty(0))
        usearch = import_extra("usearch.index", EXTRA)
        queries = np.ascontiguousarray(queries, np.int8)
        if self._graph is None:
            matches = usearch.search(self.vectors, queries, count, usearch.MetricKind.L2sq, exact=True)
        else:
            matches = self._graph.search(queries, count)
        keys, distances = np.asarray(matches.keys).reshape(-1), np.asarray(matches.distances, np.float64).reshape(-1)
        is_found = keys < len(self.windows)
        order = np.lexsort([keys[is_found], distances[is_found]])
        keys, distances = keys[is_found][order], distances[is_found][order]
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first)[:count]
        return Hits(self.windows[keys[first].astype(np.int64)], distances[first])


def vectors_of(snapshot: Snapshot, model: KnownModel, n_axes: int, run: Run) -> Vectors:
    """The vectors of a model's windows; what the cache of the run holds of them is not read again from the tables."""
    files = snapshot.files("windows", model.id)
    if run.cache is None:
        return Vectors(*_read(files, n_axes, run))
    place = hashlib.sha256(f"{snapshot.address} {model.digest}".encode()).hexdigest()[:32]
    folder = run.cache / "vectors" / place / hashlib.sha256(json.dumps(files).encode()).hexdigest()[:32]
    before = _kept(folder) or _kept_before(folder, files)
    if before is not None and before.folder == folder:
        return Vectors(before.vectors, before.windows, _graph(before, None, run))
    vectors, windows = _read([file for file in files if before is None or file not in before.files], n_axes, run)
    if before is not None:
        vectors, windows = np.concatenate([before.vectors, vectors]), np.concatenate([before.windows, windows])
    try:
        now = _keep(_CachedVectors(folder, tuple(files), vectors, windows))
        graph = _graph(now, before, run)
    except OSError as error:
        warn_unkept(folder, error)
        return Vectors(vectors, windows)
    for other in folder.parent.iterdir():  # those of tables that are no more
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return Vectors(now.vectors, now.windows, graph)


@dataclass(frozen=True, eq=False)
class _CachedVectors:
    """What a folder of the cache holds: the vectors of some files of a table, and of which windows they are."""

    folder: Path
    files: tuple[str, ...]
    vectors: np.ndarray
    windows: np.ndarray

    @property
    def graph(self) -> Path:
        """Where the graph of the vectors is, if there is one."""
        return self.folder / "graph.usearch"


def _kept(folder: Path) -> _CachedVectors | None:
    """What `_keep` has written, as it is on disk; None where it is not there or damaged."""
    try:
        files = json.loads((folder / "files.json").read_text(encoding="utf-8"))
        vectors, windows = (np.load(folder / name, mmap_mode="r") for name in ("vectors.npy", "windows.npy"))
    except DAMAGE:
        return None
    is_whole = vectors.ndim == 2 and windows.dtype == WINDOW and len(vectors) == len(windows)
    return _CachedVectors(folder, tuple(map(str, files)), vectors, windows) if is_whole else None


def _kept_before(folder: Path, files: Sequence[str]) -> _CachedVectors | None:
    """What is kept of fewer files of the same table, the most there is."""
    others = [_kept(other) for other in (sorted(folder.parent.iterdir()) if folder.parent.is_dir() else ())]
    usable = [other for other in others if other is not None and set(other.files) < set(files)]
    return max(usable, key=lambda other: len(other.windows), default=None)


def _keep(cached: _CachedVectors) -> _CachedVectors:
    """Write it; what is on disk then takes no memory."""
    cached.folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("vectors.npy", cached.vectors), ("windows.npy", cached.windows)):
        with replacing(cached.folder / name) as part, part.open("wb") as stream:
            np.save(stream, array)
    atomic_write(cached.folder / "files.json", json.dumps(cached.files))  # last: it says that the others are there
    return _kept(cached.folder) or cached


def _read(files: Sequence[str], n_axes: int, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The vectors in files of a table, and of which windows they are."""
    parquet = import_extra("pyarrow.parquet", EXTRA)
    vectors, windows = [np.empty((0, n_axes), np.int8)], [np.empty(0, WINDOW)]
    for number, file in enumerate(files, start=1):
        table = parquet.ParquetFile(file).read(["content", "start_s", "end_s", "vector"]).combine_chunks()
        codes = np.frombuffer(b"".join(table["vector"].to_pylist()), np.int8)
        if len(codes) != table.num_rows * n_axes:
            raise UsageError(f"{file}: vectors of other lengths than {n_axes}")
        rows = np.empty(table.num_rows, WINDOW)
        rows["content"] = table["content"].to_numpy(zero_copy_only=False).astype("S32")
        rows["start_s"], rows["end_s"] = table["start_s"].to_numpy(), table["end_s"].to_numpy()
        vectors.append(codes.reshape(-1, n_axes))
        windows.append(rows)
        run.progress("vectors", number, len(files))
    return np.concatenate(vectors), np.concatenate(windows)


def _graph(cached: _CachedVectors, before: _CachedVectors | None, run: Run) -> Any:
    """The graph of the vectors: built where it is not there, from the one of fewer vectors where that is.

    None where there are so few that all are compared.
    """
    if len(cached.vectors) <= EXACT_UP_TO:
        return None
    usearch = import_extra("usearch.index", EXTRA)
    if not cached.graph.exists():
        graph = usearch.Index(
            ndim=cached.vectors.shape[1],
            metric=usearch.MetricKind.L2sq,
            dtype=usearch.ScalarKind.I8,
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            expansion_search=EXPANSION_SEARCH,
        )
        if before is not None and before.graph.exists():
            graph.load(str(before.graph))
        for first in range(len(graph), len(cached.vectors), ADDED_TOGETHER):
            some = np.ascontiguousarray(cached.vectors[first : first + ADDED_TOGETHER])
            graph.add(np.arange(first, first + len(some)), some)
            run.progress("graph", first + len(some), len(cached.vectors))
        with replacing(cached.graph) as part:
            graph.save(str(part))
    try:
        graph = usearch.Index.restore(str(cached.graph), view=True)
    except DAMAGE:  # all are compared this once, and the next search builds it
        cached.graph.unlink(missing_ok=True)
        return None
    graph.expansion_search = EXPANSION_SEARCH
    return graph

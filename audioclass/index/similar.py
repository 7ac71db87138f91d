"""Windows that are near a sound, among all windows of an archive.

Vectors of the tables are kept once more in one file, as numpy maps it into memory. Up to a million of them all are
compared; beyond that a graph is built once, by usearch, through which a search meets a few thousand of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.errors import UsageError
from audioclass.index.schema import EXTRA
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.outputs import replacing
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
    """The vectors of a model's windows, from the cache of the run where it holds those of the same tables."""
    if run.cache is None:
        return Vectors(*_read(snapshot, model, n_axes, run))
    files = snapshot.files("windows", model.id)
    place = hashlib.sha256(f"{snapshot.address} {model.digest}".encode()).hexdigest()[:32]
    folder = run.cache / "vectors" / place / hashlib.sha256(json.dumps(files).encode()).hexdigest()[:32]
    kept = _kept(folder)
    if kept is None:
        kept = _read(snapshot, model, n_axes, run)
        try:
            _keep(folder, *kept)
            kept = _kept(folder) or kept
        except OSError as error:
            warn_unkept(folder, error)
            return Vectors(*kept)
    graph = _graph(kept[0], folder / "graph.usearch", run) if len(kept[0]) > EXACT_UP_TO else None
    return Vectors(*kept, graph)


def _kept(folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """What `_keep` has written, as it is on disk; None where it is not there or damaged."""
    try:
        vectors, windows = (np.load(folder / name, mmap_mode="r") for name in ("vectors.npy", "windows.npy"))
    except DAMAGE:
        return None
    is_whole = vectors.ndim == 2 and windows.dtype == WINDOW and len(vectors) == len(windows)
    return (vectors, windows) if is_whole else None


def _keep(folder: Path, vectors: np.ndarray, windows: np.ndarray) -> None:
    if folder.parent.exists():
        shutil.rmtree(folder.parent, ignore_errors=True)  # those of tables that are no more
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("vectors.npy", vectors), ("windows.npy", windows)):
        with replacing(folder / name) as part, part.open("wb") as stream:
            np.save(stream, array)


def _read(snapshot: Snapshot, model: KnownModel, n_axes: int, run: Run) -> tuple[np.ndarray, np.ndarray]:
    parquet = import_extra("pyarrow.parquet", EXTRA)
    files = snapshot.files("windows", model.id)
    vectors, windows = [np.empty((0, n_axes), np.int8)], [np.empty(0, WINDOW)]
    for number, file in enumerate(files, start=1):
        for batch in parquet.ParquetFile(file).iter_batches(
            ADDED_TOGETHER, columns=["content", "start_s", "end_s", "vector"]
        ):
            codes = batch["vector"].flatten().to_numpy(zero_copy_only=False).astype(np.int8)
            if len(codes) != batch.num_rows * n_axes:
                raise UsageError(f"{file}: vectors of other lengths than {n_axes}")
            rows = np.empty(batch.num_rows, WINDOW)
            rows["content"] = batch["content"].to_numpy(zero_copy_only=False).astype("S32")
            rows["start_s"], rows["end_s"] = batch["start_s"].to_numpy(), batch["end_s"].to_numpy()
            vectors.append(codes.reshape(-1, n_axes))
            windows.append(rows)
        run.progress("vectors", number, len(files))
    return np.concatenate(vectors), np.concatenate(windows)


def _graph(vectors: np.ndarray, path: Path, run: Run) -> Any:
    """The graph of the vectors, built where it is not there."""
    usearch = import_extra("usearch.index", EXTRA)
    if not path.exists():
        graph = usearch.Index(
            ndim=vectors.shape[1],
            metric=usearch.MetricKind.L2sq,
            dtype=usearch.ScalarKind.I8,
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            expansion_search=EXPANSION_SEARCH,
        )
        for first in range(0, len(vectors), ADDED_TOGETHER):
            some = np.ascontiguousarray(vectors[first : first + ADDED_TOGETHER])
            graph.add(np.arange(first, first + len(some)), some)
            run.progress("graph", first + len(some), len(vectors))
        with replacing(path) as part:
            graph.save(str(part))
    graph = usearch.Index.restore(str(path), view=True)
    graph.expansion_search = EXPANSION_SEARCH
    return graph

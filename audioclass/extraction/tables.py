"""Features of many recordings as one table on disk: CSV, NumPy's npz, or Parquet; written beside, then renamed.

Rows are read from the cache a few thousand at a time, so a table may be larger than memory.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from audioclass.display import encodable
from audioclass.errors import UsageError, unknown_name
from audioclass.extraction.batch import Extracted
from audioclass.extraction.recipe import Recipe
from audioclass.outputs import atomic_open
from audioclass.recordings import FOLDER, irregularity

KEYS = ("file", "start", "end")


def write_table(path: Path, outcomes: Sequence[Extracted], recipe: Recipe) -> int:
    """Write the features of all recordings that have some; the suffix says how. Returns the number of rows."""
    writer = table_writer(path)
    with atomic_open(path, "wb") as stream:
        writer(stream, outcomes, recipe)
    return sum(outcome.cached.n_rows for outcome in outcomes if outcome.cached)


def table_writer(path: Path) -> Callable[[IO[bytes], Sequence[Extracted], Recipe], None]:
    """The writer for a file's suffix, known before any work is done."""
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(f"{path}: {unknown_name('format', suffix or path.name, WRITERS)}")
    if irregularity(path.parent) != FOLDER:
        raise UsageError(f"{path.parent}: not a folder")
    if suffix == ".parquet":
        _import_parquet()
    return WRITERS[suffix]


def _write_csv(stream: IO[bytes], outcomes: Sequence[Extracted], recipe: Recipe) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    write_csv(text, outcomes, recipe)
    text.detach()


def write_csv(stream: IO[str], outcomes: Sequence[Extracted], recipe: Recipe) -> None:
    """One line for each window, with as many digits as float32 needs."""
    lines = csv.writer(stream)
    lines.writerow([*KEYS, *recipe.columns])
    for file, X, times in _rows(outcomes):
        for values, (start, end) in zip(X, times, strict=True):
            lines.writerow([file, f"{start:.6f}", f"{end:.6f}", *(f"{value:.9g}" for value in values.tolist())])


def _write_npz(stream: IO[bytes], outcomes: Sequence[Extracted], recipe: Recipe) -> None:
    """Arrays X, start, end, file (index into files), files, columns and groups; texts are arrays of characters."""
    good = [(outcome.path, outcome.cached.n_rows) for outcome in outcomes if outcome.cached]
    n_rows = sum(count for _, count in good)
    spans = np.concatenate([times for _, _, times in _rows(outcomes)] or [np.empty((0, 2))])
    with zipfile.ZipFile(stream, "w") as archive:
        with archive.open("X.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, len(recipe.columns))}
            np.lib.format.write_array_header_1_0(member, header)
            for _, X, _ in _rows(outcomes):
                member.write(X.tobytes())
        arrays: dict[str, Any] = {
            "start": spans[:, 0],
            "end": spans[:, 1],
            "file": np.repeat(np.arange(len(good)), [count for _, count in good]),
            "files": np.array([_name(path) for path, _ in good], dtype=np.str_),
            "columns": np.array(recipe.columns, dtype=np.str_),
            "groups": np.array(recipe.groups, dtype=np.str_),
        }
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _write_parquet(stream: IO[bytes], outcomes: Sequence[Extracted], recipe: Recipe) -> None:
    arrow, parquet = _import_parquet()
    fields = [("file", arrow.string()), ("start", arrow.float64()), ("end", arrow.float64())]
    schema = arrow.schema(fields + [(name, arrow.float32()) for name in recipe.columns])
    schema = schema.with_metadata({"audioclass.groups": "\n".join(recipe.groups)})
    with parquet.ParquetWriter(stream, schema) as table:
        for file, X, times in _rows(outcomes):
            keys = [arrow.array([file] * len(X)), arrow.array(times[:, 0]), arrow.array(times[:, 1])]
            columns = keys + [arrow.array(column) for column in np.ascontiguousarray(X.T)]
            table.write_batch(arrow.record_batch(columns, schema=schema))


WRITERS = {".csv": _write_csv, ".npz": _write_npz, ".parquet": _write_parquet}


def _import_parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow: pip install 'audioclass[parquet]'") from error
    return pyarrow, pyarrow.parquet


def _rows(outcomes: Sequence[Extracted]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for outcome in outcomes:
        if outcome.cached is not None:
            for X, times in outcome.cached.rows():
                yield _name(outcome.path), X, times[:, :2]


def _name(path: Path) -> str:
    """The path as text that can be written: bytes that are no UTF-8 are shown escaped."""
    return encodable(str(path))

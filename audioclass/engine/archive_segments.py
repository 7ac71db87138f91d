"""Segments of an archive that are cut anew from its windows, in memory that does not grow with the archive."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.engine.analysing import SegmentChoice, StoredWindows, check_choice, segmented
from audioclass.engine.archive_rows import segment_rows
from audioclass.engine.archived_models import archived_model
from audioclass.engine.models import ModelFile
from audioclass.engine.streaming import SegmentationOptions
from audioclass.errors import AudioclassError
from audioclass.index.schema import EXTRA, SEGMENTS
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.index.tables import Table, clean_address
from audioclass.packages import import_extra
from audioclass.run import Run
from audioclass.segmentation.outlines import Outline

WINDOWS_TOGETHER = 500_000  # that are read at once
WINDOWS_A_TASK = 20_000


@dataclass(frozen=True, eq=False)
class SegmentedTask:
    """The segments of some recordings as rows, with the contents of all of them and how many windows they have."""

    contents: tuple[str, ...]
    n_windows: int
    rows: Any


@dataclass(frozen=True)
class Resegmenter:
    """Makes rows of segments of windows that are stored; it is handed to processes."""

    model: ModelFile
    options: SegmentationOptions
    model_id: str
    choice: SegmentChoice

    def needed_files(self) -> list[Path]:
        """What must be the same wherever segments are made."""
        return self.model.needed_files()

    def __call__(self, task: Mapping[str, StoredWindows]) -> SegmentedTask:
        """The segments of recordings, whose windows are given by their contents."""
        model = self.model.load()
        results = {content: segmented(windows, model, self.options, content) for content, windows in task.items()}
        rows = segment_rows(results, self.model_id, self.choice.to_json())
        return SegmentedTask(tuple(task), sum(len(windows.P) for windows in task.values()), rows)


def segment_anew(address: str | Path, choice: SegmentChoice, run: Run, model: str | None = None) -> int:
    """Make all segments of a model anew from its windows; how many there are then. No recording is read."""
    archive = clean_address(address)
    with (
        archived_model(Snapshot(archive), model, run) as archived,
        tempfile.TemporaryDirectory(prefix="audioclass-") as folder,
    ):
        known, done = archived.known, _SegmentFiles(Path(folder))
        choice = choice.for_model(archived.model)
        options = check_choice(choice, archived.model, run)
        work = Resegmenter(archived.file, options, known.id, choice)

        def rows_for(_version: object) -> Any:
            """The segments of all windows that are there by now; those that are made are not made again."""
            snapshot = Snapshot(archive)
            n_windows = windows_by_content(snapshot, known)
            total = sum(n_windows.values())
            absent = {content: n for content, n in n_windows.items() if content not in done.contents}
            for task in run.executor.map(work, _tasks(snapshot, known, absent)):
                done.add(task)
                run.progress("windows", done.n_windows, total)
            return done.reader()

        Table.named(archive, "segments").replace(f"model = '{known.id}'", rows_for)
        return done.n_segments


class _SegmentFiles:
    """Segments that are made, in files of a folder until all of them are written into the archive."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[Path] = []
        self.contents: set[str] = set()
        self.n_windows = self.n_segments = 0

    def add(self, task: SegmentedTask) -> None:
        """Keep the rows of a task."""
        path = self._folder / f"{len(self._files)}.parquet"
        import_extra("pyarrow.parquet", EXTRA).write_table(task.rows, path)
        self._files.append(path)
        self.contents.update(task.contents)
        self.n_windows += task.n_windows
        self.n_segments += task.rows.num_rows

    def reader(self) -> Any:
        """All rows, in the order in which they were added, as a stream of Arrow batches."""
        parquet = import_extra("pyarrow.parquet", EXTRA)
        batches = (batch for path in self._files for batch in parquet.read_table(path).to_batches())
        return import_extra("pyarrow", EXTRA).RecordBatchReader.from_batches(SEGMENTS.arrow(), batches)


# --- windows that are stored ----------------------------------------------------------------------------------------


def windows_by_content(snapshot: Snapshot, model: KnownModel) -> dict[str, int]:
    """How many windows each recording has, in the order of contents."""
    return dict(
        snapshot.rows(
            "SELECT content, count(*) FROM windows WHERE model = ? GROUP BY content ORDER BY content", [model.id]
        )
    )


def _tasks(snapshot: Snapshot, model: KnownModel, n_windows: Mapping[str, int]) -> Iterator[dict[str, StoredWindows]]:
    """The windows of recordings, a task's worth at a time; they are read when they are asked for."""
    for together in _in_groups(n_windows.items(), WINDOWS_TOGETHER):
        windows = stored_windows(snapshot, model, together)
        sizes = ((content, n_windows[content]) for content in together)
        for contents in _in_groups(sizes, WINDOWS_A_TASK):
            yield {content: windows[content] for content in contents}


def _in_groups(sizes: Iterable[tuple[str, int]], enough: int) -> Iterator[list[str]]:
    """Names one after another, in groups that end as soon as their sizes add up to `enough`."""
    group: list[str] = []
    total = 0
    for name, size in sizes:
        group.append(name)
        total += size
        if total >= enough:
            yield group
            group, total = [], 0
    if group:
        yield group


def stored_windows(snapshot: Snapshot, model: KnownModel, contents: Sequence[str]) -> dict[str, StoredWindows]:
    """The windows of recordings by their contents; their vectors are left out."""
    table = snapshot.arrow(
        "SELECT content, start_s, end_s, posteriors, strangeness, border_ms, levels FROM windows "
        "WHERE model = $model AND content IN (SELECT unnest($contents)) ORDER BY content, start_s",
        {"model": model.id, "contents": list(contents)},
    ).combine_chunks()
    names = table["content"].to_numpy(zero_copy_only=False)
    bounds = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    P = _matrix(table["posteriors"], len(model.labels))
    times = np.column_stack([table["start_s"].to_numpy(), table["end_s"].to_numpy()])
    strangeness = None
    if table["strangeness"].null_count < table.num_rows:
        strangeness = table["strangeness"].to_numpy().astype(np.float32)
    borders, levels = table["border_ms"].to_numpy(), table["levels"].to_pylist()
    windows = {}
    for first, last in itertools.pairwise(bounds):
        rows = slice(first, last)
        heard = np.frombuffer(b"".join(levels[rows]), np.int8)
        outline = Outline(heard, borders[rows], model.cell, float(times[first, 0]))
        known = None if strangeness is None else strangeness[rows]
        codes = np.empty((last - first, 0), np.int8)
        windows[str(names[first])] = StoredWindows(times[rows], P[rows], codes, outline, known)
    return windows


def _matrix(lists: Any, n_columns: int) -> np.ndarray:
    """Lists of one length as the rows of a matrix."""
    values = lists.combine_chunks() if hasattr(lists, "combine_chunks") else lists
    flat = values.flatten().to_numpy(zero_copy_only=False)
    if len(flat) != len(values) * n_columns:
        raise AudioclassError(f"windows have {len(flat)} values in all, {len(values)} times {n_columns} are needed")
    return np.asarray(flat, np.float32).reshape(len(values), n_columns)

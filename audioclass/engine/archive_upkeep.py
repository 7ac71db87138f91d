"""Upkeep of an archive: segments cut anew, what is gone marked, small files joined, all of it checked."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.data import Result
from audioclass.engine.analysing import SegmentChoice, StoredWindows, check_choice, content_id, segmented
from audioclass.engine.archive_rows import segment_rows
from audioclass.engine.archived_models import archived_model
from audioclass.engine.archived_recordings import mark_removed
from audioclass.engine.models import ModelFile
from audioclass.engine.streaming import SegmentationOptions
from audioclass.errors import AudioclassError
from audioclass.index.schema import TABLES
from audioclass.index.snapshot import KnownModel, Snapshot, segment_options
from audioclass.index.tables import Table, clean_address
from audioclass.run import Run

WINDOWS_TOGETHER = 500_000  # that are read at once
WINDOWS_A_TASK = 20_000
CONTENT_START = 2  # digits of a content by which windows are read in parts


# --- segments anew --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resegmenter:
    """Makes segments of windows that are stored; it is handed to processes."""

    model: ModelFile
    options: SegmentationOptions

    def needed_files(self) -> list[Path]:
        """What must be the same wherever segments are made."""
        return self.model.needed_files()

    def __call__(self, recordings: Mapping[str, StoredWindows]) -> dict[str, Result]:
        """The segments of each recording, by its content."""
        model = self.model.load()
        return {content: segmented(windows, model, self.options, content) for content, windows in recordings.items()}


def segment_anew(address: str | Path, choice: SegmentChoice, run: Run, model: str | None = None) -> int:
    """Make all segments of a model anew from its windows; how many there are then. No recording is read."""
    archive = clean_address(address)
    results: dict[str, Result] = {}
    with archived_model(Snapshot(archive), model, run) as archived:
        work = Resegmenter(archived.file, check_choice(choice, archived.model, run))
        known = archived.known

        def rows_for(_version: object) -> Any:
            """The segments of all windows that are there by now."""
            tasks = list(_tasks(Snapshot(archive), known, set(results)))
            for some in run.map("windows", work, tasks):
                results.update(some)
            return segment_rows(results, known.id, choice.to_json())

        Table.named(archive, "segments").replace(f"model = '{known.id}'", rows_for)
    return sum(len(result.segments) for result in results.values())


def _tasks(snapshot: Snapshot, model: KnownModel, done: set[str]) -> Iterator[dict[str, StoredWindows]]:
    """The windows of recordings that are not done, a task's worth at a time."""
    task: dict[str, StoredWindows] = {}
    for content, windows in stored_windows(snapshot, model):
        if content in done:
            continue
        task[content] = windows
        if sum(len(each.P) for each in task.values()) >= WINDOWS_A_TASK:
            yield task
            task = {}
    if task:
        yield task


def stored_windows(snapshot: Snapshot, model: KnownModel) -> Iterator[tuple[str, StoredWindows]]:
    """The windows of each recording, in bounded memory; their vectors are left out."""
    [(n_windows,)] = snapshot.rows("SELECT count(*) FROM windows WHERE model = ?", [model.id])
    starts = [""] if n_windows <= WINDOWS_TOGETHER else [f"{i:0{CONTENT_START}x}" for i in range(16**CONTENT_START)]
    for start in starts:
        table = snapshot.arrow(
            "SELECT content, start_s, end_s, posteriors, strangeness FROM windows "
            "WHERE model = $model AND starts_with(content, $start) ORDER BY content, start_s",
            {"model": model.id, "start": start},
        ).combine_chunks()
        if not table.num_rows:
            continue
        contents = table["content"].to_numpy(zero_copy_only=False)
        bounds = [0, *(np.flatnonzero(contents[1:] != contents[:-1]) + 1).tolist(), len(contents)]
        P = _matrix(table["posteriors"], len(model.labels))
        times = np.column_stack([table["start_s"].to_numpy(), table["end_s"].to_numpy()])
        strangeness = None
        if table["strangeness"].null_count < table.num_rows:
            strangeness = table["strangeness"].to_numpy().astype(np.float32)
        for first, last in itertools.pairwise(bounds):
            rows = slice(first, last)
            codes = np.empty((last - first, 0), np.int8)
            known = None if strangeness is None else strangeness[rows]
            yield str(contents[first]), StoredWindows(times[rows], P[rows], codes, known)


def _matrix(lists: Any, n_columns: int) -> np.ndarray:
    """Lists of one length as the rows of a matrix."""
    values = lists.combine_chunks() if hasattr(lists, "combine_chunks") else lists
    flat = values.flatten().to_numpy(zero_copy_only=False)
    if len(flat) != len(values) * n_columns:
        raise AudioclassError(f"windows have {len(flat)} values in all, {len(values)} times {n_columns} are needed")
    return np.asarray(flat, np.float32).reshape(len(values), n_columns)


# --- what is gone ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pruned:
    """How many recordings are gone, and the rows that were removed of what no recording is of."""

    n_marked: int
    n_deleted: int


def prune(address: str | Path, *, delete: bool = False) -> Pruned:
    """Mark recordings that are no longer there; where it is to `delete`, remove what was known of them."""
    archive = clean_address(address)
    paths = [path for (path,) in Snapshot(archive).rows("SELECT path FROM recordings WHERE removed_at IS NULL")]
    gone = [path for path in paths if not Path(path).exists()]
    if gone:
        mark_removed(archive, gone)
    return Pruned(len(gone), _delete_unused(archive) if delete else 0)


def _delete_unused(archive: str) -> int:
    """Remove what was known of contents that no recording has any more; of how many contents."""
    there = "SELECT content FROM recordings WHERE removed_at IS NULL AND content IS NOT NULL"
    asked = f"SELECT DISTINCT content FROM analyses WHERE content NOT IN ({there})"  # noqa: S608 (our own names)
    contents = [content for (content,) in Snapshot(archive).rows(asked)]
    for name in ("segments", "windows", "analyses"):
        if contents:
            Table.named(archive, name).delete(f"content IN ({', '.join(map(repr, contents))})")
    Table.named(archive, "recordings").delete("removed_at IS NOT NULL")
    return len(contents)


def compact(address: str | Path, run: Run, keep_days: float = 7.0) -> dict[str, tuple[int, int]]:
    """Join small files; for each table how many were joined, and how many older ones were removed."""
    archive = clean_address(address)
    done = {}
    for number, name in enumerate(TABLES, start=1):
        done[name] = Table.named(archive, name).compact(keep_days)
        run.progress("tables", number, len(TABLES))
    return done


# --- checks ---------------------------------------------------------------------------------------------------------


@dataclass
class Verified:
    """What is wrong with an archive, and what is merely to know; nothing where all is well."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


CHECKS = {
    "{n} recordings have other windows than were written, such as {first}": """
        SELECT a.content FROM analyses AS a
        LEFT JOIN (SELECT model, content, count(*) AS n FROM windows GROUP BY ALL) AS w USING (model, content)
        WHERE coalesce(w.n, 0) <> a.n_windows""",
    "{n} recordings have windows that overlap themselves: written twice, such as {first}": """
        SELECT content FROM windows GROUP BY model, content, start_s HAVING count(*) > 1""",
    "{n} recordings were analysed twice, such as {first}": """
        SELECT content FROM analyses GROUP BY model, content HAVING count(*) > 1""",
    "{n} recordings have windows and no segments, such as {first}": """
        SELECT content FROM analyses AS a WHERE n_windows > 0 AND NOT EXISTS
            (SELECT 1 FROM segments AS s WHERE s.model = a.model AND s.content = a.content)""",
    "{n} recordings have segments that overlap, such as {first}": """
        SELECT content FROM segments
            QUALIFY start_s < lag(end_s) OVER (PARTITION BY model, content ORDER BY start_s) - 1e-9""",
    "{n} recordings have posteriors that do not sum to 1, such as {first}": """
        SELECT content FROM windows WHERE coalesce(abs(list_sum(posteriors) - 1), 1) > 1e-3""",
    "{n} paths stand there twice, such as {first}": """
        SELECT path FROM recordings GROUP BY path HAVING count(*) > 1""",
    "{n} recordings that can be read were analysed with no model, such as {first}": """
        SELECT path FROM recordings WHERE content IS NOT NULL AND removed_at IS NULL
            AND content NOT IN (SELECT content FROM analyses)""",
}
UNFINISHED = """
SELECT DISTINCT content FROM windows AS w
WHERE NOT EXISTS (SELECT 1 FROM analyses AS a WHERE a.model = w.model AND a.content = w.content)
"""


def verify(address: str | Path, run: Run, *, contents: bool = False) -> Verified:
    """Check that the tables of an archive agree, and with `contents` that the recordings are those that were added."""
    verified, archive = Verified(), clean_address(address)
    snapshot = Snapshot(archive)
    models = snapshot.models
    checks: Sequence[tuple[str, str]] = list(CHECKS.items())
    for number, (text, sql) in enumerate(checks, start=1):
        verified.problems += _failed(snapshot, text, sql)
        run.progress("checks", number, len(checks))
    unfinished = snapshot.rows(UNFINISHED)
    if unfinished:
        verified.notes.append(f"{len(unfinished)} recordings are half written; adding them again finishes them")
    for model in models:
        if hashlib.sha256(snapshot.model_file(model)).hexdigest() != model.digest:
            verified.problems.append(f"the file of model {model.name} ({model.id}) is damaged")
        different = {segment_options([file]) for file in snapshot.files("segments", model.id)} - {None}
        if len(different) > 1:
            verified.problems.append(f"segments of model {model.name} were made in {len(different)} ways")
    if contents:
        asked = "SELECT path, content FROM recordings WHERE removed_at IS NULL AND content IS NOT NULL ORDER BY path"
        rows = snapshot.rows(asked)
        for (path, content), content_now in zip(
            rows, run.map("contents", _content_at, [row[0] for row in rows]), strict=True
        ):
            if content_now != content:
                verified.problems.append(
                    f"{path}: {'has changed since it was added' if content_now else 'cannot be read'}"
                )
    return verified


def _failed(snapshot: Snapshot, text: str, sql: str) -> list[str]:
    try:
        rows = {row[0] for row in snapshot.rows(sql)}
    except AudioclassError as error:
        return [str(error)]
    return [text.format(n=len(rows), first=min(rows))] if rows else []


def _content_at(path: str) -> str:
    return content_id(Path(path))

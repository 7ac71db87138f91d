"""What an archive knows of recordings besides their sound: where they lie, when they were made, a user's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audioclass.audio.recorded import RecordedAt
from audioclass.engine.archive_rows import clock_columns, now
from audioclass.engine.metadata_tables import MetadataTable
from audioclass.errors import UsageError
from audioclass.index.schema import EXTRA
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Table
from audioclass.packages import import_extra

CLOCK = ("recorded_at", "utc_offset_minutes", "clock_source")


def mark_removed(archive: str, paths: Sequence[str]) -> None:
    """Note that recordings are no longer where they were."""
    arrow = import_extra("pyarrow", EXTRA)
    gone = arrow.table(
        {"path": paths, "removed_at": arrow.array([now()] * len(paths), arrow.timestamp("us", tz="UTC"))}
    )
    Table.named(archive, "recordings").update(gone)


def write_metadata(archive: str, files: Sequence[Path], metadata: MetadataTable) -> None:
    """Put what a user's table says of recordings into an archive that holds them."""
    arrow = import_extra("pyarrow", EXTRA)
    snapshot = Snapshot(archive)
    kinds = {each.name: str(each.type) for each in snapshot.arrow("FROM recordings LIMIT 0").schema}
    there = [file for file in files if file in metadata.fields]
    columns: dict[str, Any] = {"path": [str(file) for file in there]}
    for name in metadata.columns:
        is_text = metadata.is_text(name) if name not in kinds else kinds[name] != "double"
        if not is_text and metadata.is_text(name):
            raise UsageError(f"{metadata.path}: column {name} holds texts, in {archive} it holds numbers")
        kind = arrow.string() if is_text else arrow.float64()
        columns[name] = arrow.array(metadata.column(name, there, is_text), kind)
    table = Table.named(archive, "recordings")
    table.add_columns({name: columns[name].type for name in metadata.columns if name not in kinds})
    if metadata.columns and there:
        table.update(arrow.table(columns))
    write_times(archive, {file: metadata.times[file] for file in there if file in metadata.times})


def write_times(archive: str, times: Mapping[Path, RecordedAt]) -> int:
    """Put start times of recordings into an archive that holds them; how many."""
    arrow = import_extra("pyarrow", EXTRA)
    table = Table.named(archive, "recordings")
    if times:
        clock, schema = clock_columns(times.values()), table.schema.arrow()
        fields = {name: arrow.array(values, schema.field(name).type) for name, values in clock.items()}
        table.update(arrow.table({"path": [str(file) for file in times], **fields}))
    return len(times)


def move_facts(snapshot: Snapshot, moves: Mapping[str, str]) -> None:
    """What a user's table said of recordings goes with them from one path to another."""
    arrow = import_extra("pyarrow", EXTRA)
    further = snapshot.further_columns()
    recordings = snapshot.arrow("FROM recordings").select(["path", *CLOCK, *further])
    moved = [{**row, "path": moves[row["path"]]} for row in recordings.to_pylist() if row["path"] in moves]
    table = Table.named(snapshot.address, "recordings")
    for columns, rows in (
        (further, moved if further else []),
        (CLOCK, [row for row in moved if row["clock_source"] == "table"]),
    ):
        if rows:
            types = {name: recordings.schema.field(name).type for name in columns}
            fields = {name: arrow.array([row[name] for row in rows], kind) for name, kind in types.items()}
            table.update(arrow.table({"path": [row["path"] for row in rows], **fields}))

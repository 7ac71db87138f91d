"""Upkeep of an archive: what is gone marked, small files joined, all of it checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audioclass.engine.analysing import content_id
from audioclass.engine.archived_recordings import mark_removed
from audioclass.errors import AudioclassError
from audioclass.index.schema import TABLES
from audioclass.index.snapshot import Snapshot, segment_options
from audioclass.index.tables import Table, clean_address
from audioclass.run import Run

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

"""Upkeep of an archive: what is gone marked, small files joined, all of it checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from audioclass.engine.analysing import content_id
from audioclass.engine.archived_recordings import mark_removed
from audioclass.errors import AudioclassError
from audioclass.index.schema import TABLES
from audioclass.index.snapshot import KnownModel, Snapshot, segment_options
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


@dataclass(frozen=True)
class Check:
    """A question that gives a value for whatever is wrong, and what is said of it; where it names a part, in parts."""

    text: str
    sql: str

    def failures(self, snapshot: Snapshot, n_parts: int) -> list[str]:
        """One line where anything is wrong, or where that cannot be read."""
        asked = f"SELECT count(DISTINCT failed), min(failed) FROM ({self.sql}) AS t(failed)"  # noqa: S608 (our own)
        parts: list[dict[str, int]] = [{}]
        if "$part" in self.sql:
            parts = [{"part": part, "n_parts": n_parts} for part in range(n_parts)]
        try:
            counts = [snapshot.rows(asked, part)[0] for part in parts]
        except AudioclassError as error:
            return [str(error)]
        n_failed = sum(n for n, _ in counts)
        return [self.text.format(n=n_failed, first=min(name for n, name in counts if n))] if n_failed else []


WINDOWS_A_PART = 10_000_000  # of a check that holds something of every window: its memory is bounded
CHECKS = (
    Check(
        "{n} recordings have other windows than were written, such as {first}",
        """SELECT a.content FROM analyses AS a
        LEFT JOIN (SELECT model, content, count(*) AS n FROM windows GROUP BY ALL) AS w USING (model, content)
        WHERE coalesce(w.n, 0) <> a.n_windows""",
    ),
    Check(
        "{n} recordings have windows that overlap themselves: written twice, such as {first}",
        """SELECT content FROM windows WHERE hash(content) % $n_parts = $part
        GROUP BY model, content HAVING list_unique(list(start_s)) < count(*)""",
    ),
    Check(
        "{n} recordings were analysed twice, such as {first}",
        "SELECT content FROM analyses GROUP BY model, content HAVING count(*) > 1",
    ),
    Check(
        "{n} recordings have windows and no segments, such as {first}",
        """SELECT content FROM analyses JOIN models USING (model)
        ANTI JOIN (SELECT DISTINCT model, content FROM segments) USING (model, content)
        WHERE n_windows > 0 AND NOT independent""",
    ),
    Check(
        "{n} recordings have segments that overlap, such as {first}",
        """SELECT content FROM segments JOIN models USING (model) WHERE hash(content) % $n_parts = $part
        QUALIFY start_s < lag(end_s) OVER (PARTITION BY model, content, IF(independent, label, '') ORDER BY start_s)
            - 1e-9""",
    ),
    Check(
        "{n} recordings have posteriors that do not sum to 1, such as {first}",
        """SELECT content FROM windows JOIN models USING (model)
        WHERE NOT independent AND coalesce(abs(list_sum(posteriors) - 1), 1) > 1e-3""",
    ),
    Check(
        "{n} recordings have posteriors that are no probabilities, such as {first}",
        """SELECT content FROM windows
        WHERE coalesce(greatest(list_max(posteriors) - 1, -list_min(posteriors)), 1) > 1e-3""",
    ),
    Check(
        "{n} paths stand there twice, such as {first}",
        "SELECT path FROM recordings GROUP BY path HAVING count(*) > 1",
    ),
    Check(
        "{n} recordings that can be read were analysed with no model, such as {first}",
        """SELECT path FROM recordings WHERE content IS NOT NULL AND removed_at IS NULL
        AND content NOT IN (SELECT content FROM analyses)""",
    ),
)
UNFINISHED = """
SELECT count(DISTINCT content) FROM (SELECT DISTINCT model, content FROM windows)
ANTI JOIN analyses USING (model, content)
"""


def verify(address: str | Path, run: Run, *, contents: bool = False) -> Verified:
    """Check that the tables of an archive agree, and with `contents` that the recordings are those that were added."""
    verified, snapshot = Verified(), Snapshot(clean_address(address))
    models = snapshot.models
    [(n_windows,)] = snapshot.rows("SELECT count(*) FROM windows")
    for number, check in enumerate(CHECKS, start=1):
        verified.problems += check.failures(snapshot, 1 + n_windows // WINDOWS_A_PART)
        run.progress("checks", number, len(CHECKS))
    [(n_unfinished,)] = snapshot.rows(UNFINISHED)
    if n_unfinished:
        verified.notes.append(f"{n_unfinished} recordings are half written; adding them again finishes them")
    verified.problems += [problem for model in models for problem in _model_problems(snapshot, model)]
    if contents:
        verified.problems += _content_problems(snapshot, run)
    return verified


def _model_problems(snapshot: Snapshot, model: KnownModel) -> Iterator[str]:
    if hashlib.sha256(snapshot.model_file(model)).hexdigest() != model.digest:
        yield f"the file of model {model.name} ({model.id}) is damaged"
    different = {segment_options([file]) for file in snapshot.files("segments", model.id)} - {None}
    if len(different) > 1:
        yield f"segments of model {model.name} were made in {len(different)} ways"


def _content_problems(snapshot: Snapshot, run: Run) -> Iterator[str]:
    """Of recordings that are other than when they were added."""
    rows = snapshot.rows(
        "SELECT path, content FROM recordings WHERE removed_at IS NULL AND content IS NOT NULL ORDER BY path"
    )
    contents_now = run.map("contents", _content_at, [path for path, _ in rows])
    for (path, content), content_now in zip(rows, contents_now, strict=True):
        if content_now != content:
            yield f"{path}: {'has changed since it was added' if content_now else 'cannot be read'}"


def _content_at(path: str) -> str:
    return content_id(Path(path))

"""What `audioclass index` does: recordings into an archive, and the upkeep of it."""

from __future__ import annotations

import dataclasses
import json as jsonlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from audioclass.audio.recorded import ClockRule
from audioclass.cli import screen
from audioclass.engine import archive_upkeep
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_pages import write_archive_page
from audioclass.engine.archive_segments import segment_anew
from audioclass.engine.archive_status import Status, status_of
from audioclass.engine.indexing import Added, Additions, add_recordings
from audioclass.engine.metadata_tables import MetadataTable
from audioclass.engine.runs import make_run
from audioclass.index.snapshot import Snapshot, segment_options
from audioclass.index.tables import clean_address, refuse_archive
from audioclass.run import Executor


def add(
    archive: str,
    paths: list[Path],
    *,
    model: str,
    metadata: Path | None,
    timezone: str,
    name_pattern: str | None,
    stated: Mapping[str, Any],
    retry: bool,
    keep_features: bool,
    retime: bool,
    executor: Executor,
    cache: Path | None,
    strict: bool,
    json: bool,
) -> None:
    """Add recordings, and say what became of them."""
    clock = ClockRule(name_pattern, timezone)
    table = None if metadata is None else MetadataTable.read(metadata, clock)
    additions = Additions(_only(stated), clock, table, retry, keep_features, retime)
    start = time.perf_counter()
    with screen.progress("recordings", screen.KEPT) as progress:
        run = make_run(executor=executor, cache=cache, progress=progress, strict=strict)
        added = add_recordings(archive, paths, run, model, additions)
    seconds = time.perf_counter() - start
    if json:
        screen.out_json({**dataclasses.asdict(added), "seconds_taken": seconds})
    for reason in added.failures.values():
        screen.note(reason)
    screen.note(_summary(archive, added, seconds))
    raise typer.Exit(1 if added.failures else 0)


def _summary(archive: str, added: Added, seconds: float) -> str:
    failed_before = f" ({added.n_failed_before} failed before: --retry tries again)" if added.n_failed_before else ""
    parts = [f"{added.n_computed} computed"]
    parts += [f"{added.n_unchanged} unchanged{failed_before}"] if added.n_unchanged else []
    parts += [f"{added.n_moved} moved"] if added.n_moved else []
    parts += [f"{added.n_copies} copies"] if added.n_copies else []
    parts += [f"{len(added.failures)} failed"] if added.failures else []
    parts += [f"{added.n_retimed} with another start time"] if added.n_retimed else []
    speed = f"{added.seconds / seconds:.0f} times faster than real time"
    audio = f"; {added.seconds:.0f} s of audio in {seconds:.1f} s, {speed}" if added.seconds else ""
    return f"{archive}: {added.n_recordings} recordings: {', '.join(parts)}{audio}"


def segment(
    archive: str, stated: Mapping[str, Any], *, model: str | None, executor: Executor, cache: Path | None
) -> None:
    """Make segments anew; what is not stated stays."""
    snapshot = Snapshot(archive)
    known = snapshot.model(model)
    stored = segment_options(snapshot.files("segments", known.id))
    before = SegmentChoice() if stored is None else SegmentChoice.of_json(stored)
    choice = dataclasses.replace(before, **_only(stated))
    start = time.perf_counter()
    with screen.progress("windows") as progress:
        run = make_run(executor=executor, cache=cache, progress=progress)
        n_segments = segment_anew(archive, choice, run, known.id)
    seconds = time.perf_counter() - start
    screen.note(f"{archive}: {n_segments} segments of {known.name} in {seconds:.1f} s with {choice.to_options()}")


def status(archive: str, *, json: bool) -> None:
    """Print what an archive holds."""
    held = status_of(Snapshot(archive))
    if json:
        screen.out_json(_plain(held))
        return
    screen.table(("archive", held.address), _status_rows(held))


def _plain(held: Status) -> dict[str, Any]:
    """Times as ISO 8601 writes them and options as an object, null where there are none."""
    values = dataclasses.asdict(held)
    for name in ("first", "last"):
        values[name] = values[name] and values[name].isoformat()
    for model in values["models"]:
        model["options"] = model["options"] and jsonlib.loads(model["options"])
    return values


def _status_rows(held: Status) -> list[tuple[str, str]]:
    rows = [
        ("recordings", f"{held.n_recordings}, {held.duration}"),
        ("failed or damaged", str(held.n_failed)),
        ("gone", str(held.n_removed)),
        ("with clock time", str(held.n_clocked)),
    ]
    if held.first is not None and held.last is not None:
        rows.append(("first and last", f"{held.first:%Y-%m-%d %H:%M:%S}, {held.last:%Y-%m-%d %H:%M:%S}"))
    space = "" if held.n_bytes is None else f", {held.n_bytes / 1e6:.1f} MB"
    rows.append(("files of the tables", f"{held.n_files}{space}"))
    for model in held.models:
        counts = f"{model.n_recordings} recordings, {model.n_windows} windows, {model.n_segments} segments"
        options = "" if model.options is None else SegmentChoice.of_json(model.options).to_options()
        rows += [(f"model {model.name} ({model.id})", counts), ("segments made with", options)]
    return rows


def verify(archive: str, *, contents: bool, executor: Executor, json: bool) -> None:
    """Print what is wrong with an archive."""
    with screen.progress() as progress:
        verified = archive_upkeep.verify(archive, make_run(executor=executor, progress=progress), contents=contents)
    if json:
        screen.out_json(dataclasses.asdict(verified))
    else:
        for line in verified.problems:
            screen.out(line)
    for line in verified.notes:
        screen.note(line)
    screen.note(f"{archive}: {len(verified.problems)} problems, {len(verified.notes)} notes")
    raise typer.Exit(1 if verified.problems else 0)


def compact(archive: str, *, keep_days: float) -> None:
    """Join files and say how many."""
    with screen.progress("tables") as progress:
        done = archive_upkeep.compact(archive, make_run(progress=progress), keep_days)
    screen.table(("table", "joined", "removed"), [(name, *map(str, counts)) for name, counts in done.items()])


def prune(archive: str, *, delete: bool) -> None:
    """Mark what is gone."""
    pruned = archive_upkeep.prune(archive, delete=delete)
    deleted = f", {pruned.n_deleted} forgotten" if delete else ""
    screen.note(f"{archive}: {pruned.n_marked} recordings are gone{deleted}")


def report(archive: str, output: Path, *, model: str | None) -> None:
    """Write the page of an archive."""
    refuse_archive(archive, [output])
    screen.check_place(output)
    write_archive_page(Snapshot(clean_address(archive)), output, model)
    screen.note(f"{output}: written")


def _only(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if value is not None}

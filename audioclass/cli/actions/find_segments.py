"""What `audioclass find` does: segments of an archive as lines, a file of any format, a page or clips."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from audioclass.cli import screen
from audioclass.cli.exporting import output_format, write_result
from audioclass.cli.find import FindOptions, FoundOptions
from audioclass.cli.listing import result_fields
from audioclass.engine.archive_pages import write_found_page
from audioclass.engine.archives import Archive
from audioclass.engine.clips import check_clips_folder, cut_clips
from audioclass.engine.finding import FoundSegments
from audioclass.engine.runs import make_run
from audioclass.errors import UsageError
from audioclass.formats.rows import COLUMNS
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import clean_address
from audioclass.outputs import refuse_inputs


def find(
    address: str, query: FindOptions, wanted: FoundOptions, *, model: str | None, sql: str | None, cache: Path | None
) -> None:
    """Find, and write what was found."""
    if sql is not None:
        _ask(address, sql, query, wanted)
        return
    chosen = output_format(wanted.format, wanted.output)
    for place in (wanted.output, wanted.report):
        if place is not None and str(place) != "-":
            screen.check_place(place)
    if wanted.clips is not None:
        check_clips_folder(wanted.clips)
    with screen.progress() as progress:
        run = make_run(cache=cache, progress=progress)
        segments = Archive(clean_address(address), run).find(**_stated(query), model=model)
    written = [place for place in (wanted.output, wanted.report) if place is not None and str(place) != "-"]
    refuse_inputs(written, map(Path, dict.fromkeys(segments.result.files)))
    if chosen is not None:
        write_result(chosen, segments.result, wanted.output)
    elif wanted.report is None and wanted.clips is None:
        _print(segments)
    if wanted.report is not None:
        write_found_page(segments, wanted.report, _title(query))
        screen.note(f"{wanted.report}: written")
    failures: dict[str, str] = {}
    if wanted.clips is not None:
        with screen.progress("clips") as progress:
            failures = cut_clips(segments, wanted.clips, progress)
        screen.note(f"{wanted.clips}: {len(segments.result.files) - len(failures)} clips")
    for reason in failures.values():
        screen.note(reason)
    screen.note(f"{len(segments.result.files)} segments")
    raise typer.Exit(1 if failures else 0)


def _stated(query: FindOptions) -> dict[str, Any]:
    values = dataclasses.asdict(query)
    values["label"], values["path"] = query.label or (), query.path or ()
    values["sort"] = query.sort or "path"
    return values


def _ask(address: str, sql: str, query: FindOptions, wanted: FoundOptions) -> None:
    others = {**dataclasses.asdict(query), **dataclasses.asdict(wanted)}
    stated = next((name for name, value in others.items() if value), None)
    if stated is not None:
        raise UsageError(f"--sql goes without --{stated.replace('_', '-')}: it says all there is to ask")
    columns, rows = Snapshot(clean_address(address)).ask(sql)
    screen.table(columns, [[_text(value) for value in row] for row in rows])


def _text(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _print(segments: FoundSegments) -> None:
    """A table for people, tab-separated lines for programs."""
    further: dict[str, Sequence[str]] = {}
    if any(segments.times):
        further["at"] = ["" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}" for moment in segments.times]
    if segments.similarities is not None:
        further["similarity"] = [f"{value:.3f}" for value in segments.similarities]
    rows = [
        [*fields, *(values[place] for values in further.values())]
        for place, fields in enumerate(result_fields(segments.result))
    ]
    screen.table([*COLUMNS, *further], rows)
    sys.stdout.flush()


def _title(query: FindOptions) -> str:
    stated = {name: value for name, value in dataclasses.asdict(query).items() if value not in (None, [], ())}
    texts = [
        f"{name.replace('_', ' ')} {', '.join(value) if isinstance(value, list) else value}"
        for name, value in stated.items()
    ]
    return f"Segments: {'; '.join(texts)}" if texts else "Segments"

"""What `audioclass find` does: segments of an archive as lines, a file of any format, a page or clips."""

from __future__ import annotations

import dataclasses
import os
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
from audioclass.engine.finding import Example, FoundSegments
from audioclass.engine.runs import make_run
from audioclass.errors import UsageError
from audioclass.formats.rows import COLUMNS
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import clean_address, refuse_archive
from audioclass.outputs import refuse_inputs


def find(
    address: str, query: FindOptions, wanted: FoundOptions, *, model: str | None, sql: str | None, cache: Path | None
) -> None:
    """Find, and write what was found."""
    if sql is not None:
        _ask(address, sql, query, wanted)
        return
    chosen = output_format(wanted.format, wanted.output)
    written = [place for place in (wanted.output, wanted.report) if place is not None and str(place) != "-"]
    refuse_archive(address, [*written, *filter(None, [wanted.clips])])
    example = None if query.like is None else Example.parse(query.like).path
    for place in written:
        screen.check_place(place, filter(None, [example]))
    if wanted.clips is not None:
        check_clips_folder(wanted.clips)
    with screen.progress() as progress:
        run = make_run(cache=cache, progress=progress)
        segments = Archive(clean_address(address), run).find(**_stated(query), model=model)
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
    """Tab-separated lines for programs; for people a table that fits their screen."""
    further: dict[str, Sequence[str]] = {}
    if any(segments.times):
        further["at"] = ["" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}" for moment in segments.times]
    if segments.similarities is not None:
        further["similarity"] = [f"{value:.3f}" for value in segments.similarities]
    columns, fields = list(COLUMNS), list(result_fields(segments.result))
    if sys.stdout.isatty():
        columns.remove("runner_up_probability")
        fields = [(_short(path), *others) for path, *others, _ in fields]
    rows = [[*some, *(values[place] for values in further.values())] for place, some in enumerate(fields)]
    screen.table([*columns, *further], rows)
    sys.stdout.flush()


def _short(path: str) -> str:
    """A path from the working directory, where it lies below it."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def _title(query: FindOptions) -> str:
    names = {"since": "from", "until": "to"}
    texts = [
        f"{names.get(name, name).replace('_', ' ')} {', '.join(value) if isinstance(value, list) else value}"
        for name, value in dataclasses.asdict(query).items()
        if value not in (None, []) and not isinstance(value, bool)
    ]
    return f"Segments: {'; '.join(texts)}" if texts else "Segments"

"""`audioclass find`: segments of an archive, by label, certainty, clock time, place, neighbours, or a sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.index import Archive, Model
from audioclass.cli.options import Cache, OptionGroup, grouped


@dataclass(frozen=True)
class FindOptions(OptionGroup):
    """Which segments are asked for."""

    label: Annotated[
        list[str] | None, typer.Option("--label", "-l", help="A label or a group; several where it is repeated.")
    ] = None
    min_probability: Annotated[
        float | None,
        typer.Option(
            "--min-probability", min=0, max=1, help="Whose label has this probability or more.", show_default=False
        ),
    ] = None
    max_probability: Annotated[
        float | None,
        typer.Option("--max-probability", min=0, max=1, help="… this probability or less.", show_default=False),
    ] = None
    min_duration: Annotated[
        float | None,
        typer.Option("--min-duration", min=0, help="That last so many seconds or more.", show_default=False),
    ] = None
    max_duration: Annotated[
        float | None, typer.Option("--max-duration", min=0, help="… so many seconds or less.", show_default=False)
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--from", help="Segments that start at this time or later: 2019, 2019-04-03, 2019-04-03T19:17.",
            show_default=False,
        ),
    ] = None  # fmt: skip
    until: Annotated[
        str | None,
        typer.Option("--to", help="… before this time; a date, month or year is included.", show_default=False),
    ] = None
    between: Annotated[
        str | None,
        typer.Option("--between", metavar="HH:MM-HH:MM", help="At this time of any day; 22:00-04:00 is at night."),
    ] = None
    path: Annotated[
        list[str] | None, typer.Option("--path", help="A pattern of paths, such as 'news/*' or '*.flac'.")
    ] = None
    near: Annotated[
        str | None,
        typer.Option("--near", metavar="LABEL:SECONDS", help="With a segment of another label this near: music:5s."),
    ] = None
    like: Annotated[
        str | None,
        typer.Option(
            "--like", metavar="CLIP[@START-END]", help="Like this recording, or a stretch of it, nearest first."
        ),
    ] = None
    exact: Annotated[
        bool,
        typer.Option("--exact", help="With --like: read the nearest once more, to compare them without any loss."),
    ] = False
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="ORDER",
            help="path, time, probability, duration, novelty or similarity; with a - before it, backwards.",
            show_default="path, or similarity",
        ),
    ] = None
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="No more than so many.", show_default="all, or 50 like")
    ] = None


@dataclass(frozen=True)
class FoundOptions(OptionGroup):
    """What becomes of the segments."""

    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="csv, json, raven, …; see `audioclass plugins --kind format`."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here; the suffix tells the format.", show_default=False),
    ] = None
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page to look at and listen to.", show_default=False)
    ] = None
    clips: Annotated[
        Path | None,
        typer.Option("--clips", metavar="DIR", help="Cut the segments out, into a new folder.", show_default=False),
    ] = None


@screen.with_examples(
    "audioclass find archive/ --label speech --min-probability 0.9 --min-duration 10 --from 2019 --to 2019",
    "audioclass find archive/ -l music --between 04:00-07:00 --path 'news/*' --near speech:5s",
    "audioclass find archive/ --label speech --sort=-probability -n 50 --report doubtful.html",
    "audioclass find archive/ --like clip.wav@12.5-15 -n 20 --clips found/",
    "audioclass find archive/ --sql 'SELECT label, sum(duration_s) / 3600 AS hours FROM occurrences GROUP BY label'",
)
@grouped
def find(
    archive: Archive,
    query: FindOptions,
    output: FoundOptions,
    model: Model = None,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            help="Ask the tables recordings, models, analyses, windows, segments and the view occurrences instead.",
            show_default=False,
        ),
    ] = None,
    cache: Cache = None,
) -> None:
    """Find segments in an archive: those that fit all that is stated.

    Times are those of the clock where a recording was made; a segment is where it starts. `--like` compares windows in
    the space of the model's kernels; `similarity` is 1 for equal sounds and about 0.37 for two that have nothing in
    common. A line for each segment goes to standard output, with its clock time where that is known.
    """
    from audioclass.cli.actions import find_segments

    find_segments.find(archive, query, output, model=model, sql=sql, cache=cache)

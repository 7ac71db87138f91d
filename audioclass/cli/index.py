"""`audioclass index`: an archive of recordings that grows, is cut anew, checked and looked at."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import Cache, Json, OptionGroup, Strict, WorkOptions, grouped

app = typer.Typer(
    name="index",
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep the segments of an archive of recordings in tables that grow.",
    epilog=screen.examples(
        "audioclass index add archive/ recordings/ --jobs 0",
        "audioclass index segment archive/ --min-duration 3",
        "audioclass index status archive/",
        "audioclass index report archive/ -o archive.html",
        "audioclass find archive/ --label speech --min-probability 0.9",
    ),
)

Archive = Annotated[
    str,
    typer.Argument(
        metavar="ARCHIVE", help="The folder of the archive, or its address in an object store.", show_default=False
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="Of several models, this one: its name or digest; the last added by default.",
        show_default=False,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class ArchiveSegmentOptions(OptionGroup):
    """How windows become segments; what is not stated stays as it was in the archive."""

    smooth: Annotated[
        str | None,
        typer.Option(
            "--smooth", help="Smoother, such as hmm, hmm:duration=20, median or none.", show_default="as before, or hmm"
        ),
    ] = None
    min_duration: Annotated[
        float | None,
        typer.Option("--min-duration", min=0, help="Seconds of the shortest segment.", show_default="as before, or 0"),
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", min=0, max=1, help="Below it say the group above the label, or unknown.",
            show_default="as before, or 0",
        ),
    ] = None  # fmt: skip
    unknown: Annotated[
        float | None,
        typer.Option(
            "--unknown", min=0, max=1,
            help="Say unknown of what is stranger than this share of the training recordings.",
            show_default="as before, or 0",
        ),
    ] = None  # fmt: skip
    silence: Annotated[
        str | None,
        typer.Option(
            "--silence", metavar="DB|auto|none",
            help="Level below which a recording is silent; auto: -60, or at its noise floor.",
            show_default="as before, or -60",
        ),
    ] = None  # fmt: skip
    min_silence: Annotated[
        float | None,
        typer.Option(
            "--min-silence", min=0.04, help="Seconds of the shortest silence.", show_default="as before, or 0.2"
        ),
    ] = None
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="N",
            help="How deep the model's tree of labels is told; windows keep its labels, so that it can be told anew.",
            show_default="as before, or as the model says",
        ),
    ] = None  # fmt: skip


@app.command(
    epilog=screen.examples(
        "audioclass index add archive/ recordings/ --jobs 0",
        "audioclass index add archive/ moths/ --timezone Europe/Zurich --metadata sites.csv",
        "audioclass index add archive/ tapes/ --name-pattern '%d-%m-%Y %Hh%M'",
        "audioclass index add archive/ recordings/ --model birds.audioclass --cluster local:4",
    )
)
@grouped
def add(
    *,
    archive: Archive,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Recordings, or folders of them.")],
    work: WorkOptions,
    model: Annotated[
        str, typer.Option("--model", "-m", help="A model file, or the name of a shipped one.")
    ] = "broadcast",
    metadata: Annotated[
        Path | None,
        typer.Option(
            "--metadata",
            help="A table with a column `file`; its other columns are kept, `recorded_at` as the start of a recording.",
            show_default=False,
        ),
    ] = None,
    timezone: Annotated[
        str, typer.Option("--timezone", help="Of times that state none: Europe/Zurich or +01:00.")
    ] = "UTC",
    name_pattern: Annotated[
        str | None,
        typer.Option(
            "--name-pattern", help="How names tell the start, such as '%d-%m-%Y %Hh%M'.", show_default="common forms"
        ),
    ] = None,
    retime: Annotated[
        bool, typer.Option("--retime", help="Find start times of known recordings anew too; those of a table stay.")
    ] = False,
    segments: ArchiveSegmentOptions,
    retry: Annotated[bool, typer.Option("--retry", help="Try recordings again that failed before.")] = False,
    keep_features: Annotated[
        bool, typer.Option("--keep-features", help="Keep features in the cache, for other models of the same recipe.")
    ] = False,
    cache: Cache = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Add recordings to an archive, which is made where there is none.

    Only what is new or has changed is computed: a recording is known by its path, size and time of change, and in
    another place by its content. Start times come from GUANO, AudioMoth and BWF metadata, from names such as
    20190403_191730.wav, or from a table. What is done is kept: a run that was stopped goes on when it is started again,
    and several may add to one archive at once.

    A recording that cannot be read is listed with its reason; the exit code is then 1.
    """
    from audioclass.cli.actions import index_archive

    index_archive.add(
        archive,
        paths,
        model=model,
        metadata=metadata,
        timezone=timezone,
        name_pattern=name_pattern,
        stated=dataclasses.asdict(segments),
        retry=retry,
        keep_features=keep_features,
        retime=retime,
        executor=work.executor,
        cache=cache,
        strict=strict,
        json=json,
    )


@app.command(epilog=screen.examples("audioclass index segment archive/ --min-duration 3 --threshold 0.6"))
@grouped
def segment(
    *,
    archive: Archive,
    work: WorkOptions,
    segments: ArchiveSegmentOptions,
    model: Model = None,
    cache: Cache = None,
) -> None:
    """Make all segments of a model anew from the stored windows; no recording is read.

    What is not stated stays as it was. Recordings that are added later are segmented in the same way.
    """
    from audioclass.cli.actions import index_archive

    index_archive.segment(archive, dataclasses.asdict(segments), model=model, executor=work.executor, cache=cache)


@app.command(epilog=screen.examples("audioclass index status archive/", "audioclass index status archive/ --json"))
def status(archive: Archive, json: Json = False) -> None:
    """Say what an archive holds: recordings, hours, models, segments, space."""
    from audioclass.cli.actions import index_archive

    index_archive.status(archive, json=json)


@app.command(epilog=screen.examples("audioclass index verify archive/ --contents"))
@grouped
def verify(
    archive: Archive,
    work: WorkOptions,
    contents: Annotated[
        bool, typer.Option("--contents", help="Read every recording, and say which have changed since.")
    ] = False,
    json: Json = False,
) -> None:
    """Check that the tables of an archive agree with one another; the exit code is 1 where they do not."""
    from audioclass.cli.actions import index_archive

    index_archive.verify(archive, contents=contents, executor=work.executor, json=json)


@app.command(
    epilog=screen.examples("audioclass index compact archive/", "audioclass index compact archive/ --keep-days 0")
)
def compact(
    archive: Archive,
    keep_days: Annotated[
        float,
        typer.Option(
            "--keep-days", min=0, help="Older versions stay readable for so many days; 0 only where nobody else reads."
        ),
    ] = 7.0,
) -> None:
    """Join the small files that many additions leave, and remove what no version of the last days needs."""
    from audioclass.cli.actions import index_archive

    index_archive.compact(archive, keep_days=keep_days)


@app.command(epilog=screen.examples("audioclass index prune archive/", "audioclass index prune archive/ --delete"))
def prune(
    archive: Archive,
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove what is known of recordings that are gone, now or earlier.")
    ] = False,
) -> None:
    """Mark recordings that are no longer there: they are found no more, until they are added again.

    Where a disk is not mounted all of its recordings are gone; marks are taken back by adding, deletions are not.
    """
    from audioclass.cli.actions import index_archive

    index_archive.prune(archive, delete=delete)


@app.command(epilog=screen.examples("audioclass index report archive/ -o archive.html"))
def report(
    archive: Archive,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the page here.", show_default=False)],
    model: Model = None,
) -> None:
    """Write a page: hours of labels by month and by hour of the day, activity, certain and doubtful segments.

    It opens without a network; recordings are played from where they lie.
    """
    from audioclass.cli.actions import index_archive

    index_archive.report(archive, output, model=model)

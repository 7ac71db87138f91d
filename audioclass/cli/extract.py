"""`audioclass extract` and `audioclass recipes`: recordings to a table of features."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import Cache, Json, Strict, WorkOptions, grouped


@screen.with_examples(
    "audioclass extract talk.wav",
    "audioclass extract recordings/ --recipe environment -o features.npz --jobs 0",
    "ffmpeg -i film.mkv -f wav - | audioclass extract - -o film.csv",
)
@grouped
def extract(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Recordings, folders of them, or - for a pipe.")],
    work: WorkOptions,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            help="Name of a recipe or path of a TOML file; see `audioclass recipes`.",
            show_default="broadcast",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Instead, the recipe of this model, with what it learnt.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table here: .csv, .npz or .parquet; - for CSV here."),
    ] = None,
    cache: Cache = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep nothing, look nothing up.")] = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Turn recordings into a table of features.

    One row for each window of each recording. A recording that cannot be read is listed with its reason and
    skipped, a damaged one is used as far as it can be read; the exit code is then 1. What was computed before is not
    computed again.
    """
    from audioclass.cli.actions import extract_features

    extract_features.extract(
        paths,
        recipe=recipe,
        model=model,
        output=output,
        executor=work.executor,
        cache=cache,
        no_cache=no_cache,
        strict=strict,
        json=json,
    )


@screen.with_examples("audioclass recipes", "audioclass recipes environment > mine.toml")
def recipes(
    name: Annotated[str | None, typer.Argument(help="Show this recipe in full.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the recipes, or show one."""
    from audioclass.cli.actions import list_recipes

    list_recipes.list_recipes(name, json=json)

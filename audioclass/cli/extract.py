"""`audioclass extract` and `audioclass recipes`: recordings to a table of features."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Cache, Jobs, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audioclass.engine.features import Extraction
    from audioclass.extraction.batch import Extracted
    from audioclass.extraction.recipe import Recipe
    from audioclass.run import Progress


@screen.with_examples(
    "audioclass extract talk.wav",
    "audioclass extract recordings/ --recipe environment -o features.npz --jobs 0",
    "ffmpeg -i film.mkv -f wav - | audioclass extract - -o film.csv",
)
def extract(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Recordings, folders of them, or - for a pipe.")],
    recipe: Annotated[
        str, typer.Option("--recipe", help="Name of a recipe or path of a TOML file; see `audioclass recipes`.")
    ] = "broadcast",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table here: .csv, .npz or .parquet; - for CSV here."),
    ] = None,
    jobs: Jobs = 1,
    cache: Cache = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep nothing, look nothing up.")] = False,
    json: Json = False,
) -> None:
    """Turn recordings into a table of features.

    One row for each window of each recording. A recording that cannot be read is listed with its reason and
    skipped; the exit code is then 1. What was computed before is not computed again.
    """
    from audioclass.engine.features import extract_many
    from audioclass.engine.runs import KEEP_NOTHING, make_run
    from audioclass.extraction.recipes import load_recipe
    from audioclass.extraction.tables import table_writer
    from audioclass.run import executor_for

    with screen.progress() as progress:
        where = KEEP_NOTHING if no_cache else cache
        run = make_run(executor=executor_for(jobs), cache=where, progress=progress)
        loaded = load_recipe(recipe, run.registry)
        if output is not None and str(output) != "-":
            table_writer(output)  # a wrong suffix is found before the work
        start = time.perf_counter()
        with extract_many(paths, loaded, run) as extraction:
            done = _collect(extraction, progress)
            _write(output, done, loaded)
    failed = [outcome for outcome in done if outcome.cached is None]
    seconds = time.perf_counter() - start
    if json:
        screen.out_json(_as_plain(done, loaded, seconds))
    elif output is None:
        _print_files(done)
    for outcome in failed:
        screen.note(outcome.reason)
    screen.note(_summary(done, seconds))
    raise typer.Exit(1 if failed else 0)


@screen.with_examples("audioclass recipes", "audioclass recipes environment > mine.toml")
def recipes(
    name: Annotated[str | None, typer.Argument(help="Show this recipe in full.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the recipes, or show one."""
    from audioclass.engine.runs import make_run
    from audioclass.extraction.recipes import load_recipe, recipe_text, shipped_recipes

    if name is not None:
        screen.out_json(load_recipe(name, make_run().registry).plain()) if json else screen.out(
            recipe_text(name).rstrip()
        )
        return
    tables = shipped_recipes()
    if json:
        screen.out_json(tables)
        return
    rows = [(name, f"{t['sample_rate']} Hz", f"{t['window']:g} s", str(t["summary"])) for name, t in tables.items()]
    screen.table(("name", "rate", "window", "what it is for"), rows)


def _collect(extraction: Extraction, progress: Progress) -> list[Extracted]:
    """What became of each recording, in the order of the files, with progress on a terminal."""
    done: dict[Path, Extracted] = {}
    for extracted in extraction:
        done[extracted.path] = extracted
        progress("recordings", len(done), len(extraction.recordings))
    return [done[path] for path in extraction.recordings]


def _write(output: Path | None, done: Sequence[Extracted], recipe: Recipe) -> None:
    from audioclass.extraction.tables import write_csv, write_table

    if output is None:
        return
    if str(output) == "-":
        write_csv(sys.stdout.buffer, done, recipe)
    else:
        screen.note(f"{output}: {write_table(output, done, recipe)} rows of {len(recipe.columns)} features")


def _print_files(done: Sequence[Extracted]) -> None:
    rows = [
        (str(outcome.path), f"{outcome.cached.seconds:.2f}", str(outcome.cached.n_rows), str(outcome.cached.n_columns))
        for outcome in done
        if outcome.cached
    ]
    screen.table(("file", "seconds", "windows", "features"), rows)


def _summary(done: Sequence[Extracted], seconds: float) -> str:
    good = [outcome for outcome in done if outcome.cached]
    audio = sum(outcome.cached.seconds for outcome in done if outcome.cached)
    fresh = sum(outcome.cached.seconds for outcome in done if outcome.cached and not outcome.was_cached)
    n_cached = sum(outcome.was_cached for outcome in good)
    speed = f", {fresh / seconds:.0f} times faster than real time" if fresh else ""
    before = f" ({n_cached} from the cache)" if n_cached else ""
    return f"{len(good)} of {len(done)} recordings{before}, {audio:.0f} s of audio in {seconds:.1f} s{speed}"


def _as_plain(done: Sequence[Extracted], recipe: Recipe, seconds: float) -> dict[str, Any]:
    files = [
        {
            "file": str(outcome.path),
            "seconds": outcome.cached.seconds if outcome.cached else None,
            "windows": outcome.cached.n_rows if outcome.cached else None,
            "kept": outcome.was_cached,
            "reason": outcome.reason or None,
        }
        for outcome in done
    ]
    return {"recipe": recipe.name, "features": len(recipe.columns), "seconds": seconds, "files": files}

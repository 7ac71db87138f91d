"""What `audioclass extract` does: a table of features, and what became of each recording."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from audioclass.cli import screen
from audioclass.engine.features import DEFAULT_RECIPE, extract_many
from audioclass.engine.models import load_model
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.errors import UsageError
from audioclass.extraction.batch import Extracted
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipes import load_recipe
from audioclass.extraction.tables import table_writer, write_csv, write_table
from audioclass.recordings import find_recordings
from audioclass.run import Executor, Registry


def extract(
    paths: list[Path],
    *,
    recipe: str | None,
    model: str | None,
    output: Path | None,
    executor: Executor,
    cache: Path | None,
    no_cache: bool,
    strict: bool,
    json: bool,
) -> None:
    """Extract, write the table and say what became of each recording."""
    where = KEEP_NOTHING if no_cache else cache
    with screen.progress("recordings", "" if where == KEEP_NOTHING else screen.KEPT) as progress:
        run = make_run(executor=executor, cache=where, progress=progress, strict=strict)
        loaded = _recipe(recipe, model, run.registry)
        if output is not None and str(output) != "-":
            table_writer(output)  # a wrong suffix is found before the work
            screen.check_place(output, [Path(recipe or model or DEFAULT_RECIPE), *find_recordings(paths)])
        start = time.perf_counter()
        with extract_many(paths, loaded, run) as extraction:
            done = extraction.collect()
            _write(output, done, loaded)
    failed = [outcome for outcome in done if outcome.reason]
    seconds = time.perf_counter() - start
    if json:
        screen.out_json(_as_plain(done, loaded, seconds))
    elif output is None:
        _print_files(done)
    for outcome in failed:
        screen.note(outcome.reason)
    screen.note(_summary(done, seconds))
    raise typer.Exit(1 if failed else 0)


def _recipe(recipe: str | None, model: str | None, registry: Registry) -> Recipe:
    """The recipe that was named or that of a model; one that must learn first is refused before the work."""
    if model is None:
        return load_recipe(recipe or DEFAULT_RECIPE, registry).require_fitted()
    if recipe is not None:
        raise UsageError("a model has its recipe: give --recipe or --model, not both")
    return load_model(model, registry=registry).recipe


def _write(output: Path | None, done: Sequence[Extracted], recipe: Recipe) -> None:
    if output is None:
        return
    if str(output) == "-":
        with screen.text_output() as stream:
            write_csv(stream, done, recipe)
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
            "cut": outcome.cached.cut.seconds if outcome.cached and outcome.cached.cut else None,
        }
        for outcome in done
    ]
    return {"recipe": recipe.name, "features": len(recipe.columns), "seconds": seconds, "files": files}

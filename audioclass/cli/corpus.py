"""`audioclass corpus`: what a corpus holds and what is wrong with it, before anything is learnt from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import Json, WorkOptions, grouped

app = typer.Typer(
    name="corpus",
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Check, measure and split a labelled corpus.",
    epilog=screen.examples(
        "audioclass corpus check recordings/",
        "audioclass corpus stats ESC-50/ --reader esc50 --set esc10=true",
        "audioclass corpus split recordings/ --folds 5 -o folds.csv",
    ),
)

Place = Annotated[
    Path,
    typer.Argument(
        metavar="PATH", help="A folder per label, a manifest, label files beside recordings, …", show_default=False
    ),
]
Reader = Annotated[
    str | None, typer.Option("--reader", help="The layout of the corpus, such as folders; detected by default.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="PARAMETER=VALUE", help="Tell the reader, such as esc10=true.")
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="How many folds.")]


@app.command(epilog=screen.examples("audioclass corpus check recordings/", "audioclass corpus check a.csv --json"))
@grouped
def check(
    path: Place,
    work: WorkOptions,
    folds: Folds = 5,
    reader: Reader = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Say what was found, what was ignored, and what is wrong.

    Every recording is decoded: those that cannot be read, are silent, clipped or sound the same as another are listed,
    as are labels with too few groups for the folds. The exit code is 1 if something is wrong, notes alone are no harm.
    """
    from audioclass.cli.actions import curate_corpus

    curate_corpus.check(path, folds=folds, reader=reader, settings=settings, executor=work.executor, json=json)


@app.command(epilog=screen.examples("audioclass corpus stats recordings/", "audioclass corpus stats a.csv --json"))
@grouped
def stats(path: Place, work: WorkOptions, reader: Reader = None, settings: Settings = None, json: Json = False) -> None:
    """Count clips, recordings, groups, seconds and folds of each label.

    A recording that cannot be read is listed and counts no seconds; the exit code is then 1.
    """
    from audioclass.cli.actions import curate_corpus

    curate_corpus.stats(path, reader=reader, settings=settings, executor=work.executor, json=json)


@app.command(
    epilog=screen.examples(
        "audioclass corpus split recordings/ -o folds.csv",
        "audioclass corpus split recordings/ --folds 10 --seed 7 -o folds.csv",
        "audioclass corpus split recordings/ -o - | head",
    )
)
def split(
    path: Place,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the manifest here; - for standard output.")],
    folds: Folds = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Other seeds deal the groups out otherwise.")] = 0,
    reader: Reader = None,
    settings: Settings = None,
) -> None:
    """Write folds down, as a manifest that every command reads.

    Entries of one group stay in one fold, and every fold has its part of each label. Folds that the corpus has are
    replaced. The same corpus and seed give the same folds.
    """
    from audioclass.cli.actions import curate_corpus

    curate_corpus.split(path, output, folds=folds, seed=seed, reader=reader, settings=settings)

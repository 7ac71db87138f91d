"""`audioclass model show|verify|card` and `audioclass calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import CorpusOptions, Json, grouped

app = typer.Typer(
    name="model",
    help="Look at a model file: what it knows, whether it still computes what it did, its card.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or the name of a shipped model.")]


@app.command(epilog=screen.examples("audioclass model show birds.audioclass", "audioclass model show broadcast"))
def show(model: ModelPath, json: Json = False) -> None:
    """Labels, tree, machines, report and provenance of a model."""
    from audioclass.cli.actions import inspect_model

    inspect_model.show(model, json=json)


@app.command(epilog=screen.examples("audioclass model verify birds.audioclass"))
def verify(model: ModelPath, json: Json = False) -> None:
    """Recompute the golden posteriors: from a signal that we generate, through features, to the last digit."""
    from audioclass.cli.actions import inspect_model

    inspect_model.verify(model, json=json)


@app.command(epilog=screen.examples("audioclass model card birds.audioclass > CARD.md"))
def card(model: ModelPath) -> None:
    """A readable card in Markdown."""
    from audioclass.cli.actions import inspect_model

    inspect_model.card(model)


@screen.with_examples("audioclass calibrate broadcast.audioclass local/ -o local.audioclass")
@grouped
def calibrate(
    model: ModelPath,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A few labelled recordings of every label.")],
    gathering: CorpusOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The new model file (MODEL-calibrated.audioclass).")
    ] = None,
    json: Json = False,
) -> None:
    """Fit only the calibration of a model anew, from local recordings; its machines stay as they are.

    Says what the log-loss on held-out groups was before, and is after.
    """
    from audioclass.cli.actions import calibrate_model

    calibrate_model.calibrate(model, corpus, gathering, output=output, json=json)

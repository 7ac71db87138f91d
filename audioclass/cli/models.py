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
    """Labels, tree, machines, report and provenance of a model; its plugins need not be installed."""
    from audioclass.cli.actions import inspect_model

    inspect_model.show(model, json=json)


@app.command(epilog=screen.examples("audioclass model verify birds.audioclass"))
def verify(model: ModelPath, json: Json = False) -> None:
    """Recompute the golden vectors: the features of a signal that we generate, and the posteriors of golden features.

    More than rounding is an error that names who computes otherwise: a plugin whose version changed, a plugin that
    changed at the same version, a library. Up to 2 units of a feature's last decimal and 0.0005 of a posterior are
    rounding: that is more than single precision changes.
    """
    from audioclass.cli.actions import inspect_model

    inspect_model.verify(model, json=json)


@app.command(epilog=screen.examples("audioclass model card birds.audioclass > CARD.md"))
def card(model: ModelPath) -> None:
    """A readable card in Markdown; the model's plugins need not be installed."""
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
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Write the new model even where it is no better than the old one.")
    ] = False,
    json: Json = False,
) -> None:
    """Fit only the calibration of a model anew, from local recordings; its machines stay as they are.

    Says what the log-loss on held-out groups was before, and is after. Where it did not fall nothing is written, and
    the exit code is 1.
    """
    from audioclass.cli.actions import calibrate_model

    calibrate_model.calibrate(model, corpus, gathering, output=output, anyway=anyway, json=json)

"""Seconds of each recording and of all together."""

from pathlib import Path
from typing import Annotated, ClassVar

import soundfile
import typer

from audioclass import component, hookimpl
from audioclass.contracts import Command


@component
class ExampleName:
    """Add up the durations of recordings."""

    name: ClassVar[str] = "example_name"

    def app(self) -> typer.Typer:
        return app


app = typer.Typer(rich_markup_mode=None)


@app.command()
def durations(files: Annotated[list[Path], typer.Argument(help="Recordings.", show_default=False)]) -> None:
    """Add up the durations of recordings."""
    total = 0.0
    for file in files:
        seconds = float(soundfile.info(file).duration)
        typer.echo(f"{seconds:.3f}\t{file}")
        total += seconds
    typer.echo(f"{total:.3f}\ttotal")


@hookimpl
def register_commands() -> list[type[Command]]:
    return [ExampleName]

"""The command line: a command is its options, one call and one print; here an error becomes one red line."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from audioclass import __version__
from audioclass.cli import screen
from audioclass.cli.extensions import LazyGroup, Modules, TraceHooks
from audioclass.errors import AudioclassError

app = typer.Typer(
    name="audioclass",
    cls=LazyGroup,
    help="Recordings to time segments with calibrated posterior probabilities over a taxonomy of labels.",
    epilog=screen.examples("audioclass classify talk.wav", "audioclass train corpus/", "audioclass plugins")
    + "\n\nExit codes: 0 done, 1 some of the work failed, 2 wrong use.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        screen.out(f"audioclass {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    trace_hooks: TraceHooks = False,
    modules: Modules = None,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; every error that a user can cause is one line on standard error."""
    try:
        return app(args=list(arguments), prog_name="audioclass", standalone_mode=False) or 0
    except typer.TyperException as error:
        message = " ".join(error.format_message().split()).rstrip(".")
        screen.error(message[:1].lower() + message[1:])
        return error.exit_code
    except AudioclassError as error:
        screen.error(str(error))
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        screen.error("stopped")
        return 130


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without our letters still gets the rest
    warnings.showwarning = lambda message, *_: screen.warn(str(message))
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)

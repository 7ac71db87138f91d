"""The command line: a command is its options, one call and one print; here an error becomes one red line."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer
import typer.main

from audioclass import __version__
from audioclass.cli import screen
from audioclass.cli.extensions import LazyGroup, Modules, TraceHooks
from audioclass.cli.stopping import Stopped, end_in_order
from audioclass.errors import AudioclassError
from audioclass.hookspecs import PROJECT

COMPLETION = "_AUDIOCLASS_COMPLETE"

app = typer.Typer(
    name="audioclass",
    cls=LazyGroup,
    help="Recordings to time segments with calibrated posterior probabilities over a taxonomy of labels.",
    epilog=screen.examples("audioclass classify talk.wav", "audioclass train corpus/", "audioclass plugins")
    + "\n\nExit codes: 0 done, 1 some of the work failed, 2 wrong use, 130 Ctrl-C, 143 SIGTERM.",
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
        return _invoke(list(arguments))
    except typer.TyperException as error:
        _tell(error)
        return error.exit_code
    except AudioclassError as error:
        screen.error(str(error))
        return error.exit_code
    except Stopped as error:
        screen.error(str(error))
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        screen.error("stopped")
        return 130


def _tell(error: typer.TyperException) -> None:
    """One line of what is wrong; where a group of commands was named and none of them, its help as it is."""
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None and text == context.get_help():
        screen.note_lines(text)
        return
    message = " ".join(text.split()).rstrip(".")
    screen.error(message[:1].lower() + message[1:])


def _invoke(arguments: list[str]) -> int:
    """The code that a command exits with; Typer's own call turns interrupts and closed pipes into codes of its own."""
    if COMPLETION in os.environ:
        app(args=arguments, prog_name=PROJECT, standalone_mode=False)
    command = typer.main.get_command(app)
    try:
        with command.make_context(PROJECT, arguments) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def main() -> None:
    """The console script."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without our letters still gets the rest
    warnings.showwarning = lambda message, *_: screen.warn(" ".join(str(message).splitlines()))
    end_in_order()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough
        code = 0
        _drop_output()
    except OSError as error:
        code = 1
        _drop_output()
        place = "standard output: cannot be written" if error.filename is None else str(error.filename)
        screen.error(f"{place}: {error.strerror or error}")
    sys.exit(code)


def _open_closed_streams() -> None:
    """Give the numbers of closed standard streams back to streams: else the next file that is opened has them.

    What is read from such an input or written to such an output is an error; messages go nowhere.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDWR)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 (a number, open as long as we are)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def _drop_output() -> None:
    """Let what is still to be written go nowhere, without another error at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

"""Results on standard output, messages on standard error; tables for people, tab-separated lines for pipes."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from audioclass.cli.stopping import telling_how_far
from audioclass.display import printable, printable_json, printable_lines
from audioclass.errors import UsageError
from audioclass.outputs import refuse_inputs, unwritable, written_file
from audioclass.run import Progress, silent

KEPT = "start it again to go on: what is done is kept"
Command = TypeVar("Command", bound=Callable[..., None])


def out(line: str) -> None:
    """A line of the result; its fields may be separated by tabs."""
    sys.stdout.write("\t".join(map(printable, line.split("\t"))) + "\n")


def out_text(text: str) -> None:
    """Lines of the result that stand in the text as they are."""
    sys.stdout.write(printable_lines(text) + "\n")


@contextlib.contextmanager
def text_output() -> Iterator[IO[str]]:
    """Standard output for the text of a file: as it is for programs, on a terminal nothing in it is obeyed."""
    if not sys.stdout.isatty():
        yield sys.stdout
        return
    text = io.StringIO(newline="")
    yield text
    sys.stdout.write(printable_lines(text.getvalue().replace("\r\n", "\n")))


def out_json(value: Any) -> None:
    """The result for programs."""
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n")


def note(text: str) -> None:
    """A message beside the result; where nobody can be told, the result is no worse."""
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(text) + "\n")


def note_lines(text: str) -> None:
    """The same of several lines, which stand in the text as they are."""
    with contextlib.suppress(OSError):
        sys.stderr.write(printable_lines(text) + "\n")


def error(text: str) -> None:
    """The one line that says what went wrong; red on a terminal."""
    _coloured(printable(text), "red")


def warn(text: str) -> None:
    """A message that a user should not miss; yellow on a terminal."""
    _coloured(f"warning: {printable(text)}", "yellow")


def _coloured(line: str, colour: str) -> None:
    if not sys.stderr.isatty():
        note(line)
        return
    from audioclass.cli import terminal

    with contextlib.suppress(OSError):
        terminal.print_coloured(line, colour)


def check_place(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output that could not be written, or that is one of the inputs, before the work."""
    try:
        target = written_file(path)
        if target is None:
            return
        if target.is_dir():
            raise UsageError(f"{path}: is a folder, a file is needed")
        if not target.absolute().parent.is_dir():
            raise UsageError(f"{path}: no such folder {target.absolute().parent}")
        with tempfile.TemporaryFile(dir=target.absolute().parent):
            pass  # a folder that takes no new file, as on a read-only disk, is told before the work
    except (OSError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise unwritable(path, error) if isinstance(error, OSError) else UsageError(f"{path}: {error}") from error
    refuse_inputs([path], inputs)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A drawn table on a terminal; in a pipe one line a row, its fields separated by tabs."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            out("\t".join(map(printable, row)))
        return
    from audioclass.cli import terminal

    terminal.print_table(columns, [[printable(field) for field in row] for row in rows])


@contextlib.contextmanager
def progress(stage: str | None = None, hint: str = "") -> Iterator[Progress]:
    """Bars for the stages of a long work, on a terminal's standard error; silent elsewhere.

    A stage that is done makes room; results go past the bars to standard output, messages above them. Where the work is
    stopped, the message says how much of a stage, else of the last one, is done, and the hint how to go on.
    """
    with _bars() as drawn, telling_how_far(drawn, stage, hint) as told:
        yield told


def _bars() -> contextlib.AbstractContextManager[Progress]:
    if not sys.stderr.isatty():
        return contextlib.nullcontext(silent)
    from audioclass.cli import terminal

    return terminal.progress_bars()


def examples(*commands: str) -> str:
    """The foot of a command's help: commands as they are typed, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def with_examples(*commands: str) -> Callable[[Command], Command]:
    """A decorator that puts examples at the foot of a command's help."""

    def mark(function: Command) -> Command:
        vars(function)["examples"] = examples(*commands)
        return function

    return mark

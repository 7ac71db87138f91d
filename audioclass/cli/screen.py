"""Results on standard output, messages on standard error; tables for people, tab-separated lines for pipes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audioclass.errors import UsageError
from audioclass.run import Progress, silent

if TYPE_CHECKING:
    from rich.progress import TaskID


def out(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def out_json(value: Any) -> None:
    """The result for programs."""
    out(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """A message beside the result."""
    sys.stderr.write(text + "\n")


def error(text: str) -> None:
    """The one line that says what went wrong; red on a terminal."""
    line = " ".join(text.splitlines())
    sys.stderr.write(f"\033[31m{line}\033[0m\n" if sys.stderr.isatty() else line + "\n")


def warn(text: str) -> None:
    """A message that a user should not miss; yellow on a terminal."""
    line = f"warning: {' '.join(text.splitlines())}"
    sys.stderr.write(f"\033[33m{line}\033[0m\n" if sys.stderr.isatty() else line + "\n")


def check_place(path: Path) -> None:
    """Refuse an output that could not be written, before the work."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, a file is needed")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: no such folder {path.absolute().parent}")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A drawn table on a terminal; in a pipe one line a row, its fields separated by tabs."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            out("\t".join(" ".join(field.split()) for field in row))
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    Console(markup=False, highlight=False).print(drawn)


@contextlib.contextmanager
def progress() -> Iterator[Progress]:
    """Bars for the stages of a long work, on a terminal's standard error; silent elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, done: float, total: float | None) -> None:
            if total is not None and done >= total:  # the bar of what is done makes room
                if stage in tasks:
                    bars.remove_task(tasks.pop(stage))
                return
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=int(done), total=None if total is None else int(total))

        yield tell


def examples(*commands: str) -> str:
    """The foot of a command's help: commands as they are typed, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)

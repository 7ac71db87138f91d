"""Results on standard output, messages on standard error; tables for people, tab-separated lines for pipes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audioclass.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


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
    _coloured(" ".join(text.splitlines()), "red")


def warn(text: str) -> None:
    """A message that a user should not miss; yellow on a terminal."""
    _coloured(f"warning: {' '.join(text.splitlines())}", "yellow")


def _coloured(line: str, colour: str) -> None:
    if not sys.stderr.isatty():
        note(line)
        return
    from rich.console import Console

    Console(stderr=True).print(line, style=colour, markup=False, highlight=False, soft_wrap=True)


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


class ProgressDisplay:
    """Where a long work stands, drawn on a terminal's standard error; silent elsewhere.

    It is a `run.Progress`. With `n_items` it also counts how many of them are done.
    """

    def __init__(self, n_items: int = 0) -> None:
        self._n_items, self._n_done = n_items, 0
        self._drawn: Progress | None = None
        self._stage: tuple[str, TaskID] | None = None
        self._count: TaskID | None = None

    def __enter__(self) -> ProgressDisplay:
        if sys.stderr.isatty():
            self._drawn = _drawn_progress()
            self._drawn.start()
            if self._n_items > 1:
                self._count = self._drawn.add_task("", total=self._n_items, amount=f"0 of {self._n_items}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def __call__(self, stage: str, done: float, total: float | None) -> None:
        """So much of a stage is done; a stage takes the place of the one before."""
        if self._drawn is None:
            return
        if self._stage is None or self._stage[0] != stage:
            if self._stage is not None:
                self._drawn.remove_task(self._stage[1])
            self._stage = stage, self._drawn.add_task(stage, total=total, amount="")
        amount = f"{done:.0f}" if total is None else f"{done:.0f} of {total:.0f}"
        self._drawn.update(self._stage[1], completed=done, total=total, amount=amount)

    def inside(self, seconds: float, total: float | None) -> None:
        """So many seconds of the recording at hand are done."""
        self("seconds", seconds, total)

    def advance(self, name: str) -> None:
        """One more item is done."""
        self._n_done += 1
        if self._drawn is not None and self._count is not None:
            amount = f"{self._n_done} of {self._n_items}"
            self._drawn.update(self._count, completed=self._n_done, amount=amount, description=name)


def _drawn_progress() -> Progress:
    """Bars that vanish at the end; results go past them to standard output, messages above them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        refresh_per_second=5,
    )


def stages() -> ProgressDisplay:
    """Progress through named stages."""
    return ProgressDisplay()


def progress(total: int) -> ProgressDisplay:
    """Progress over so many recordings, and inside each."""
    return ProgressDisplay(total)


def examples(*commands: str) -> str:
    """The foot of a command's help: commands as they are typed, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)

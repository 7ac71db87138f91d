"""Results on standard output, messages on standard error; tables for people, tab-separated lines for pipes."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audioclass.errors import UsageError

SHORTEST_LOOK = 0.2  # seconds between two drawings of the progress inside a recording


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


class Progress:
    """Where a long work stands, on a terminal's standard error; silent elsewhere."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._shown = total, 0, 0.0
        self._is_shown = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._draw("")

    def advance(self, name: str) -> None:
        """One more of them is done."""
        self._done += 1
        self._draw(f"{self._done} of {self._total}: {name}")

    def inside(self, seconds: float, total: float | None) -> None:
        """So many seconds of the recording at hand are done."""
        if time.monotonic() - self._shown > SHORTEST_LOOK:
            share = f" of {total:.0f} s, {100 * seconds / total:.0f} %" if total else " s"
            self._draw(f"{self._done + 1} of {self._total}: {seconds:.0f}{share}")

    def show(self, text: str, *, is_last: bool = False) -> None:
        """A line of its own, not more often than can be read."""
        if is_last or time.monotonic() - self._shown > SHORTEST_LOOK:
            self._draw(text)

    def _draw(self, text: str) -> None:
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + text[:width])
            sys.stderr.flush()
            self._shown = time.monotonic()


class Stages:
    """Where a work of several stages stands: which, and how much of it is done; silent away from a terminal."""

    def __init__(self) -> None:
        self._line = Progress(0)

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """So many items of a stage are done."""
        self._line.show(f"{stage}: {done} of {total}", is_last=done == total)


def stages() -> Stages:
    """Progress through named stages."""
    return Stages()


def progress(total: int) -> Progress:
    """Progress over so many recordings, and inside each."""
    return Progress(total)


def examples(*commands: str) -> str:
    """The foot of a command's help: commands as they are typed, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)

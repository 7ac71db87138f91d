"""Results on standard output, messages on standard error; tables for people, tab-separated lines for pipes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


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


def examples(*commands: str) -> str:
    """The foot of a command's help: commands as they are typed, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)

"""Names from outside, of files and labels, as pages show them: on one line, text and nothing else, and not endless."""

from __future__ import annotations

from collections.abc import Mapping

from audioclass.display import printable
from audioclass.reports.appearance import facts, row_head

MOST_CHARACTERS = 120


def shortened(name: str, most: int = MOST_CHARACTERS) -> str:
    r"""A name from outside on one line, without its middle where it is very long: files are told by how they end.

    >>> shortened("2019/\x1bstation/morning.wav", 15)
    '2019…orning.wav'
    """
    text = printable(name)
    n_first = (most - 1) // 3
    return text if len(text) <= most else f"{text[:n_first]}…{text[n_first + 1 - most :]}"


def name_head(name: str) -> str:
    """The cell that names its row by a file or a label; what it leaves out shows when it is pointed at."""
    text = shortened(name)
    return row_head(text, title=None if text == printable(name) else printable(name))


def printable_facts(notes: Mapping[str, str]) -> str:
    """`facts` whose texts come from outside."""
    return facts({printable(name): printable(value) for name, value in notes.items()})

"""Selection tables of Raven: `Begin Time (s)`, `End Time (s)` and a column of labels that everybody calls otherwise."""

from __future__ import annotations

from pathlib import Path

from audioclass.corpora.marks import Marks
from audioclass.corpora.tables import Row, has_columns, read_rows
from audioclass.corpora.texts import time_of
from audioclass.errors import CorpusError

BEGIN, END, OFFSET, FILE = "begin time (s)", "end time (s)", "file offset (s)", "begin file"
LABELS = (
    *("annotation", "annotations", "label", "labels", "species", "common name", "species code", "call type"),
    *("call_type", "sound type", "class", "type", "tags", "tag", "id", "name"),
)


def looks_like(path: Path) -> bool:
    """Whether the header has the times of a selection table."""
    return has_columns(path, (BEGIN, END))


def read(path: Path, column: str = "") -> Marks:
    """The selections, each once however many views show it; `column` holds the labels, else the first usual one does.

    In a table over several files the times within the file are those of `File Offset (s)`.
    """
    marks = Marks(path)
    seen: set[tuple[str, ...]] = set()
    for row in read_rows(path, (BEGIN, END)):
        label = row.get(column.lower()) if column.lower() in row.values else row.get(_usual(row, column))
        start, end = _times(row)
        selection = (row.get("selection") or row.where, start, end, label)
        if selection not in seen:
            seen.add(selection)
            marks.add(row.line, start, end, label, row.get(FILE))
    return marks


def _usual(row: Row, column: str) -> str:
    found = [] if column else [name for name in LABELS if name in row.values]
    if not found:
        asked = repr(column) if column else "of labels"
        raise CorpusError(f"{row.where}: no column {asked}; found: {', '.join(row.values)[:200]}")
    return found[0]


def _times(row: Row) -> tuple[str, str]:
    begin, end = row.get(BEGIN), row.get(END)
    offset = row.get(OFFSET)
    if not offset:
        return begin, end
    lasts = time_of(row.where, END, end) - time_of(row.where, BEGIN, begin)
    return offset, str(round(time_of(row.where, OFFSET, offset) + lasts, 6))

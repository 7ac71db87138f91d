"""Tables of segments beside a recording: columns start, end and label, and `file` where there are several."""

from __future__ import annotations

from pathlib import Path

from audioclass.corpora.marks import Marks
from audioclass.corpora.tables import has_columns, read_rows

TIMES = ("start", "end")
LABEL = "label"


def looks_like(path: Path, column: str = LABEL) -> bool:
    """Whether the header names the times and the label."""
    return has_columns(path, (*TIMES, column.lower()))


def read(path: Path, column: str = LABEL) -> Marks:
    """One mark a row; `column` holds the labels."""
    marks = Marks(path)
    for row in read_rows(path, (*TIMES, column.lower())):
        marks.add(row.line, row.get("start"), row.get("end"), row.get(column.lower()), row.get("file"))
    return marks

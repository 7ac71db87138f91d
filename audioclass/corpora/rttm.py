"""Rich Transcription Time Marked: SPEAKER lines of ten fields, of one recording or of several."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from audioclass.corpora.marks import Marks
from audioclass.corpora.texts import read_lines, time_of
from audioclass.errors import CorpusError

FEWEST_FIELDS = 8  # up to the speaker; some tools leave out what follows
NOTHING = "<NA>"


def read(path: Path) -> Marks:
    """The SPEAKER lines; spaces in names may stand as %20."""
    marks = Marks(path)
    for n_line, line in enumerate(read_lines(path), start=1):
        fields = line.split()
        if not fields or fields[0].startswith(";"):
            continue
        if fields[0] == "SPEAKER":
            _add(marks, n_line, fields)
        else:
            marks.left_out.append(f"line {n_line}: type {fields[0][:20]}, not SPEAKER")
    return marks


def _add(marks: Marks, n_line: int, fields: list[str]) -> None:
    where = marks.where(n_line)
    if len(fields) < FEWEST_FIELDS:
        raise CorpusError(f"{where}: {len(fields)} fields, a SPEAKER line has at least {FEWEST_FIELDS}")
    duration = time_of(where, "duration", fields[4])
    end = round(time_of(where, "start", fields[3]) + duration, 6)
    marks.add(n_line, fields[3], str(end), _name(fields[7]), _name(fields[1]))


def _name(field: str) -> str:
    return "" if field == NOTHING else unquote(field)

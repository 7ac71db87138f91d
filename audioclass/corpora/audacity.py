"""Label tracks of Audacity: start, end and label between tabs; lines of frequencies begin with a backslash."""

from __future__ import annotations

from pathlib import Path

from audioclass.corpora.marks import Marks
from audioclass.corpora.texts import first_line, read_lines, shown
from audioclass.errors import CorpusError


def looks_like(path: Path) -> bool:
    """Whether the first line begins with two numbers between tabs."""
    fields = first_line(path).split("\t")
    try:
        return len(fields) >= 2 and float(_with_point(fields[0])) <= float(_with_point(fields[1]))
    except ValueError:
        return False


def read(path: Path) -> Marks:
    """The labels of a track, points left out."""
    marks = Marks(path)
    for n_line, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("\\"):
            continue
        start, *rest = line.rstrip("\r\n").split("\t", 2)
        if not rest:
            said = shown(line.rstrip("\r\n"))
            raise CorpusError(f"{marks.where(n_line)}: {said} must be start, end and label between tabs")
        marks.add(n_line, _with_point(start), _with_point(rest[0]), "".join(rest[1:]))
    return marks


def _with_point(number: str) -> str:
    """A number as programs write it: Audacity writes a comma where the language of the computer has one."""
    return number.replace(",", ".", 1)

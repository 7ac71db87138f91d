"""What a label file says: marks, each a labelled stretch of time, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from audioclass.corpora.texts import label_of, time_of
from audioclass.data import Segment
from audioclass.errors import CorpusError


@dataclass(frozen=True)
class Mark:
    """A labelled segment; `of` is what the file calls its recording, empty where it does not say."""

    segment: Segment
    of: str = ""


@dataclass
class Marks:
    """The marks of one label file as they are gathered; `left_out` holds a reason for each line that is none."""

    path: Path
    found: list[Mark] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def where(self, line: int) -> str:
        """The place that an error names."""
        return f"{self.path}, line {line}"

    def add(self, line: int, start: str, end: str, label: str, of: str = "") -> None:
        """Take in a line; points in time and empty labels are left out, times that cannot be are an error."""
        where = self.where(line)
        begin, finish = time_of(where, "start", start), time_of(where, "end", end)
        if finish < begin:
            raise CorpusError(f"{where}: end {end.strip()} is before start {start.strip()}")
        if finish == begin:
            self.left_out.append(f"line {line}: a point in time")
        elif not label.strip():
            self.left_out.append(f"line {line}: no label")
        else:
            self.found.append(Mark(Segment(begin, finish, label_of(where, label)), of.strip()))

"""Label tracks of Audacity: start, end and text, separated by tabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.reading import by_time, read_segment, the_only
from audioclass.formats.rows import captions_of
from audioclass.formats.texts import one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Audacity:
    """A label track to import beside the recording; of several recordings, each text begins with its file."""

    name: ClassVar[str] = "audacity"
    suffix: ClassVar[str] = ".txt"
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment, in order of time."""
        for row, text in captions_of(result):
            stream.write(f"{row.start:.6f}\t{row.end:.6f}\t{one_line(text)}\n")

    def read(self, stream: IO[str]) -> Sequence[Segment]:
        """Labels with their times; the frequency ranges that Audacity adds on lines of their own are passed over."""
        lines = enumerate((line.rstrip("\r\n").removeprefix("\ufeff") for line in stream), start=1)
        found = [_segment(number, line) for number, line in lines if line.strip() and line[0] != "\\"]
        return the_only(by_time({"": found}))


def _segment(number: int, line: str) -> Segment:
    fields = line.split("\t", 2)
    if len(fields) < 2:
        raise CorpusError(f"line {number}: {line[:40]!r} must be start, end and label, separated by tabs")
    return read_segment(f"line {number}", fields[0], fields[1], restored("".join(fields[2:])))


@hookimpl
def register_exports() -> list[type[Export]]:
    """Audacity's labels."""
    return [Audacity]

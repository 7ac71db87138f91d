"""Label tracks of Audacity: start, end and text, separated by tabs."""

from __future__ import annotations

from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import captions_of
from audioclass.formats.texts import one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.text_files import numbered_lines, shown, span_of


@component
class Audacity:
    r"""A label track to import beside the recording; of several recordings, each text begins with its file.

    Tabs, line ends and backslashes in a text are written as `\t`, `\n` and `\\`.
    """

    name: ClassVar[str] = "audacity"
    suffix: ClassVar[str] = ".txt"
    suffixes: ClassVar[tuple[str, ...]] = (".txt",)
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment, in order of time."""
        for row, text in captions_of(result):
            stream.write(f"{row.start:.6f}\t{row.end:.6f}\t{one_line(text)}\n")

    def recognises(self, first_line: str) -> bool:
        """By two times between tabs."""
        try:
            return bool(_segment("", first_line))
        except CorpusError:
            return False

    def read(self, stream: IO[str]) -> Annotations:
        """Labels with their times; the frequency ranges that Audacity adds on lines of their own are passed over."""
        lines = ((where, line) for where, line in numbered_lines(stream) if line.strip() and line[0] != "\\")
        return Annotations({"": [_segment(where, line) for where, line in lines]})


def _segment(where: str, line: str) -> Segment:
    start, *rest = line.split("\t", 2)
    if not rest:
        raise CorpusError(f"{where}: {shown(line)} must be start, end and label between tabs")
    return Segment(*span_of(where, start, rest[0]), restored("".join(rest[1:])))


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """Audacity's labels."""
    return [Audacity]

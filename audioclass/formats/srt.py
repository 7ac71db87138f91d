"""SubRip subtitles, which every video player shows."""

from __future__ import annotations

from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Result
from audioclass.formats.rows import captions_of
from audioclass.formats.texts import clock, one_line
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Srt:
    """Numbered subtitles, one a segment, in order of time; of several recordings, each text begins with its file."""

    name: ClassVar[str] = "srt"
    suffix: ClassVar[str] = ".srt"
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """Times to the millisecond."""
        for number, (row, text) in enumerate(captions_of(result), start=1):
            stream.write(f"{number}\n{clock(row.start, ',')} --> {clock(row.end, ',')}\n{one_line(text)}\n\n")


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """SubRip."""
    return [Srt]

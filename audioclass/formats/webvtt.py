"""WebVTT, the captions of web pages."""

from __future__ import annotations

from html import escape
from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Result
from audioclass.formats.rows import captions_of
from audioclass.formats.texts import clock, one_line
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class WebVtt:
    """Cues, one a segment, in order of time; of several recordings, each text begins with its file."""

    name: ClassVar[str] = "webvtt"
    suffix: ClassVar[str] = ".vtt"
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """Times to the millisecond; `&`, `<` and `>` as the entities that the format asks for."""
        stream.write("WEBVTT\n")
        for row, text in captions_of(result):
            cue = escape(one_line(text), quote=False)
            stream.write(f"\n{clock(row.start, '.')} --> {clock(row.end, '.')}\n{cue}\n")


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """WebVTT."""
    return [WebVtt]

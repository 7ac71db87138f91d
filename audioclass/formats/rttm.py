"""Rich Transcription Time Marked, as speech and diarisation tools read it: ten fields separated by spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import IO, ClassVar
from urllib.parse import quote, unquote

from audioclass.contracts import Export
from audioclass.data import Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.reading import Recordings, by_time, read_number, read_segment, the_only
from audioclass.formats.rows import Row, rows_of
from audioclass.formats.texts import milliseconds
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

NOTHING = "<NA>"
SEPARATING = re.compile(r"[\s%\x00-\x1f\x7f-\x9f]")
FEWEST_FIELDS = 8  # up to the name; some tools leave out what follows


@component
class Rttm:
    """SPEAKER lines: the label is the speaker, its posterior the confidence; spaces in names become %20.

    A recording is called by its file without folder and suffix, by the whole of it where two would be called the same.
    """

    name: ClassVar[str] = "rttm"
    suffix: ClassVar[str] = ".rttm"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment, in the order of the table."""
        rows = list(rows_of(result))
        called = _identifiers(dict.fromkeys(row.file for row in rows))
        for row in rows:
            stream.write(_line(row, called[row.file]))

    def read(self, stream: IO[str]) -> Sequence[Segment]:
        """The SPEAKER lines of one recording; lines of other types and comments are passed over."""
        return the_only(self.read_recordings(stream))

    def read_recordings(self, stream: IO[str]) -> Recordings:
        """The same for every recording."""
        found: dict[str, list[Segment]] = {}
        for number, line in enumerate(stream, start=1):
            fields = line.split()
            if fields and fields[0].removeprefix("\ufeff") == "SPEAKER":
                found.setdefault(_decoded("".join(fields[1:2])), []).append(_segment(number, fields))
        return by_time(found)


def _identifiers(files: Sequence[str]) -> dict[str, str]:
    stems = {file: PurePath(file).stem for file in files}
    unique = len(set(stems.values())) == len(stems)
    return {file: _encoded(stems[file] if unique else file) for file in stems}


def _line(row: Row, identifier: str) -> str:
    start, end = milliseconds(row.start), milliseconds(row.end)
    confidence = NOTHING if row.posterior is None else f"{row.posterior:.6f}"
    times = f"{start / 1000:.3f} {(end - start) / 1000:.3f}"
    return f"SPEAKER {identifier} 1 {times} {NOTHING} {NOTHING} {_encoded(row.label)} {confidence} {NOTHING}\n"


def _segment(number: int, fields: Sequence[str]) -> Segment:
    where = f"line {number}"
    if len(fields) < FEWEST_FIELDS:
        raise CorpusError(f"{where}: {len(fields)} fields, a SPEAKER line has 10")
    end = round(read_number(where, fields[3]) + read_number(where, fields[4]), 6)
    return read_segment(where, fields[3], str(end), _decoded(fields[7]))


def _encoded(text: str) -> str:
    return SEPARATING.sub(lambda match: quote(match[0], safe=""), text) or NOTHING


def _decoded(text: str) -> str:
    return "" if text == NOTHING else unquote(text)


@hookimpl
def register_exports() -> list[type[Export]]:
    """RTTM."""
    return [Rttm]

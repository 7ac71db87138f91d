"""Rich Transcription Time Marked, as speech and diarisation tools read it: ten fields separated by spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import IO, ClassVar
from urllib.parse import quote, unquote

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import ResultRow, rows_of
from audioclass.formats.texts import milliseconds
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.text_files import numbered_lines, span_of, time_of

NOTHING = "<NA>"
SPEAKER = "SPEAKER"
SEPARATING = re.compile(rf"[\s%\x00-\x1f\x7f-\x9f]|^(?={NOTHING}$)<")
FEWEST_FIELDS = 8  # up to the speaker; some tools leave out what follows


@component
class Rttm:
    """SPEAKER lines: the label is the speaker, its probability the confidence; spaces in names become %20.

    A recording is called by its file without folder and suffix, by the whole of it where two would be called the same.
    """

    name: ClassVar[str] = "rttm"
    suffix: ClassVar[str] = ".rttm"
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment, in the order of the table, times to the millisecond."""
        rows = list(rows_of(result))
        called = _identifiers(dict.fromkeys(row.file for row in rows))
        for row in rows:
            stream.write(_line(row, called[row.file]))

    def read(self, stream: IO[str]) -> Annotations:
        """The SPEAKER lines of each recording; lines of other types are left out, comments are passed over."""
        recordings: dict[str, list[Segment]] = {}
        left_out: list[str] = []
        for where, line in numbered_lines(stream):
            fields = line.split()
            if not fields or fields[0].startswith(";"):
                continue
            if fields[0] == SPEAKER:
                recordings.setdefault(_decoded("".join(fields[1:2])), []).append(_segment(where, fields))
            else:
                left_out.append(f"{where}: type {fields[0][:20]}, not {SPEAKER}")
        return Annotations(recordings, tuple(left_out))


def _identifiers(files: Iterable[str]) -> dict[str, str]:
    stems = {file: PurePath(file).stem for file in files}
    unique = len(set(stems.values())) == len(stems)
    return {file: _encoded(stems[file] if unique else file) for file in stems}


def _line(row: ResultRow, identifier: str) -> str:
    start, end = milliseconds(row.start), milliseconds(row.end)
    confidence = NOTHING if row.probability is None else f"{row.probability:.6f}"
    times = f"{start / 1000:.3f} {(end - start) / 1000:.3f}"
    return f"{SPEAKER} {identifier} 1 {times} {NOTHING} {NOTHING} {_encoded(row.label)} {confidence} {NOTHING}\n"


def _segment(where: str, fields: Sequence[str]) -> Segment:
    if len(fields) < FEWEST_FIELDS:
        raise CorpusError(f"{where}: {len(fields)} fields, a {SPEAKER} line has at least {FEWEST_FIELDS}")
    start, duration = time_of(where, "start", fields[3]), time_of(where, "duration", fields[4])
    return Segment(*span_of(where, fields[3], str(round(start + duration, 6))), _decoded(fields[7]))


def _encoded(text: str) -> str:
    return SEPARATING.sub(lambda match: quote(match[0], safe=""), text) or NOTHING


def _decoded(text: str) -> str:
    return "" if text == NOTHING else unquote(text)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """RTTM."""
    return [Rttm]

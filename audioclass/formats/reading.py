"""Label files read back: every fault is one line that says where it is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from audioclass.data import Segment
from audioclass.errors import CorpusError

Recordings = Mapping[str, Sequence[Segment]]


def read_segment(where: str, start: str, end: str, label: str) -> Segment:
    """A segment from texts; `where` names the place in the file."""
    try:
        return Segment(read_number(where, start), read_number(where, end), label)
    except ValueError as error:
        raise CorpusError(f"{where}: {error}") from error


def read_number(where: str, text: str) -> float:
    """A time in seconds."""
    try:
        return float(text)
    except ValueError as error:
        raise CorpusError(f"{where}: {text[:40]!r} is not a number") from error


def read_table(stream: IO[str], needed: Sequence[str], delimiter: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each line of a table under a header, with its place; a field that is not there is empty."""
    lines = csv.DictReader((line.removeprefix("\ufeff") for line in stream), delimiter=delimiter, restval="")
    try:
        names = lines.fieldnames or ()
        missing = [name for name in needed if name not in names]
        if missing:
            raise CorpusError(f"line 1: no column {missing[0]!r} among {', '.join(map(repr, names))[:60] or 'nothing'}")
        for line in lines:
            yield f"line {lines.line_num}", line
    except csv.Error as error:
        raise CorpusError(f"after line {lines.line_num}: {error}") from error


def by_time(recordings: Mapping[str, list[Segment]]) -> Recordings:
    """The segments of each recording in order of time."""
    return {file: sorted(found, key=lambda s: (s.start, s.end)) for file, found in recordings.items()}


def the_only(recordings: Recordings) -> Sequence[Segment]:
    """The segments of a file that speaks of one recording, or of none."""
    if len(recordings) > 1:
        first, second, *_ = recordings
        raise CorpusError(f"labels of {len(recordings)} recordings, must be of one: {first!r}, {second!r}…")
    return next(iter(recordings.values()), [])

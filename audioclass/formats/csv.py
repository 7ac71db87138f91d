"""Comma-separated values, as spreadsheets and data frames read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import IO, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result, Segment
from audioclass.formats.reading import Recordings, by_time, read_segment, read_table, the_only
from audioclass.formats.rows import Row, label_names, rows_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

KEYS = ("file", "start", "end", "label", "posterior", "path")
NEEDED = ("start", "end", "label")


@component
class Csv:
    """One line a segment: file, start, end, label, posterior, path, and the posterior of each label in its column."""

    name: ClassVar[str] = "csv"
    suffix: ClassVar[str] = ".csv"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """The table under a header; `posterior_…` columns follow the order of the labels."""
        lines = csv.writer(stream)
        lines.writerow([*KEYS, *(f"posterior_{label}" for label in label_names(result))])
        lines.writerows(map(_fields, rows_of(result)))

    def read(self, stream: IO[str]) -> Sequence[Segment]:
        """The segments of one recording from a table with at least start, end and label."""
        return the_only(self.read_recordings(stream))

    def read_recordings(self, stream: IO[str]) -> Recordings:
        """The same for every value of the `file` column; all belong to one where there is none."""
        found: dict[str, list[Segment]] = {}
        for where, line in read_table(stream, NEEDED, ","):
            segment = read_segment(where, *(line[key] for key in NEEDED))
            found.setdefault(line.get("file", ""), []).append(segment)
        return by_time(found)


def _fields(row: Row) -> list[str]:
    posterior = "" if row.posterior is None else f"{row.posterior:.6f}"
    times = [f"{row.start:.6f}", f"{row.end:.6f}"]
    return [row.file, *times, row.label, posterior, "/".join(row.path), *(f"{p:.6f}" for p in row.posteriors)]


@hookimpl
def register_exports() -> list[type[Export]]:
    """Comma-separated values."""
    return [Csv]

"""Sound events as the DCASE challenges exchange them: file, onset, offset and label, separated by tabs."""

from __future__ import annotations

import csv
from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.formats.rows import rows_of
from audioclass.formats.texts import one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.text_files import names_columns, read_table, span_of

FILE, ONSET, OFFSET, LABEL = "filename", "onset", "offset", "event_label"


@component
class Dcase:
    """One line an event under a header, for any number of recordings."""

    name: ClassVar[str] = "dcase"
    suffix: ClassVar[str] = ".tsv"
    suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".csv", ".txt")
    carries_probabilities: ClassVar[bool] = False
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """In the order of the table, times to the millisecond."""
        lines = csv.writer(stream, delimiter="\t", lineterminator="\n")
        lines.writerow([FILE, ONSET, OFFSET, LABEL])
        for row in rows_of(result):
            lines.writerow([one_line(row.file), f"{row.start:.3f}", f"{row.end:.3f}", one_line(row.label)])

    def recognises(self, first_line: str) -> bool:
        """By its header."""
        return names_columns(first_line, (ONSET, OFFSET, LABEL))

    def read(self, stream: IO[str]) -> Annotations:
        """The events of every file that is named."""
        recordings: dict[str, list[Segment]] = {}
        for row in read_table(stream, (ONSET, OFFSET, LABEL), (FILE,)):
            segment = Segment(*span_of(row.where, row.get(ONSET), row.get(OFFSET)), restored(row.exact(LABEL)))
            recordings.setdefault(restored(row.exact(FILE)), []).append(segment)
        return Annotations(recordings)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """The events of DCASE."""
    return [Dcase]

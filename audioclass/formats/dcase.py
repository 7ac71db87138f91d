"""Sound events as the DCASE challenges exchange them: file, onset, offset and label, separated by tabs."""

from __future__ import annotations

import csv
from typing import IO, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result
from audioclass.formats.rows import rows_of
from audioclass.formats.texts import one_line
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


@component
class Dcase:
    """One line an event under a header, for any number of recordings."""

    name: ClassVar[str] = "dcase"
    suffix: ClassVar[str] = ".tsv"
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """In the order of the table, times to the millisecond."""
        lines = csv.writer(stream, delimiter="\t", lineterminator="\n")
        lines.writerow(["filename", "onset", "offset", "event_label"])
        for row in rows_of(result):
            lines.writerow([one_line(row.file), f"{row.start:.3f}", f"{row.end:.3f}", one_line(row.label)])


@hookimpl
def register_exports() -> list[type[Export]]:
    """The events of DCASE."""
    return [Dcase]

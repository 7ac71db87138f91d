"""Selection tables of Raven, as bioacousticians exchange them: a box in time and frequency a line."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import IO, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result, Segment
from audioclass.formats.reading import Recordings, by_time, read_number, read_segment, read_table, the_only
from audioclass.formats.rows import Row, rows_of
from audioclass.formats.texts import one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

BEGIN, END, OFFSET, FILE = "Begin Time (s)", "End Time (s)", "File Offset (s)", "Begin File"
LOW, HIGH = "Low Freq (Hz)", "High Freq (Hz)"


@component
class Raven:
    """A selection over all frequencies for each segment, with its file, label and posterior.

    Times are those within the file, also where the table holds several.
    """

    name: ClassVar[str] = "raven"
    suffix: ClassVar[str] = ".selections.txt"
    carries_probabilities: ClassVar[bool] = True

    column: str = parameter("Annotation", help="the column that holds the label")
    high: float = parameter(8000.0, above=0.0, help="upper edge of the boxes, in hertz")

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment under Raven's own header."""
        lines = csv.writer(stream, delimiter="\t", lineterminator="\n")
        head = ("Selection", "View", "Channel", BEGIN, END, LOW, HIGH, FILE, OFFSET, self.column, "Posterior")
        lines.writerow(head)
        for number, row in enumerate(rows_of(result), start=1):
            lines.writerow([number, "Spectrogram 1", 1, *self._fields(row)])

    def read(self, stream: IO[str]) -> Sequence[Segment]:
        """The selections of one recording; one that is shown in several views counts once."""
        return the_only(self.read_recordings(stream))

    def read_recordings(self, stream: IO[str]) -> Recordings:
        """The same for every value of `Begin File`; all belong to one where there is no such column."""
        found: dict[str, dict[str, Segment]] = {}
        for where, line in read_table(stream, (BEGIN, END, self.column), "\t"):
            selections = found.setdefault(restored(line.get(FILE, "")), {})
            selections.setdefault(line.get("Selection", where), self._segment(where, line))
        return by_time({file: list(selections.values()) for file, selections in found.items()})

    def _fields(self, row: Row) -> list[str]:
        posterior = "" if row.posterior is None else f"{row.posterior:.6f}"
        start, end = f"{row.start:.6f}", f"{row.end:.6f}"
        return [start, end, "0.0", f"{self.high}", one_line(row.file), start, one_line(row.label), posterior]

    def _segment(self, where: str, line: Mapping[str, str]) -> Segment:
        begin, end = (read_number(where, line[key]) for key in (BEGIN, END))
        offset = read_number(where, line[OFFSET]) if line.get(OFFSET) else begin
        return read_segment(where, str(offset), str(round(offset + end - begin, 6)), restored(line[self.column]))


@hookimpl
def register_exports() -> list[type[Export]]:
    """Raven's selection table."""
    return [Raven]

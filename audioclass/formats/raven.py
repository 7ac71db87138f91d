"""Selection tables of Raven, as bioacousticians exchange them: a box in time and frequency a line."""

from __future__ import annotations

import csv
from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import ResultRow, known_columns, rows_of, set_text
from audioclass.formats.texts import one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.text_files import TableRow, names_columns, read_table, shown, span_of, time_of

BEGIN, END, OFFSET, FILE = "Begin Time (s)", "End Time (s)", "File Offset (s)", "Begin File"
LOW, HIGH = "Low Freq (Hz)", "High Freq (Hz)"
UNKNOWN_HIGH = 8000.0  # hertz, of a recording whose sample rate nobody knows
# What people call the column of labels, which Raven leaves to them; the first is the one that is written.
LABELS = (
    *("Annotation", "annotations", "label", "labels", "species", "common name", "species code", "call type"),
    *("call_type", "sound type", "class", "type", "tags", "tag", "id", "name"),
)


@component
class Raven:
    r"""A selection over all frequencies for each segment, with its file, label and probability.

    Times are those within the file, also where the table holds several. Tabs, line ends and backslashes in a text are
    written as `\t`, `\n` and `\\`.
    """

    name: ClassVar[str] = "raven"
    suffix: ClassVar[str] = ".selections.txt"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".tsv")
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    column: str = parameter("", help="the column that holds the label; empty: Annotation, or another usual one")
    high: float | None = parameter(
        None, above=0.0, help="upper edge of the boxes, in hertz; half the sample rate where it is not stated"
    )

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment under Raven's own header; `Novelty` and `Set` at the end where they are known."""
        lines = csv.writer(stream, delimiter="\t", lineterminator="\n")
        column = self.column or LABELS[0]
        known = known_columns(result)
        heads = ["Selection", "View", "Channel", BEGIN, END, LOW, HIGH, FILE, OFFSET, column, "Probability"]
        lines.writerow([*heads, *(name.capitalize() for name in known)])
        for number, (file, row) in enumerate(zip(result.files, rows_of(result), strict=True), start=1):
            high = self.high or result.sample_rates.get(file, 2 * UNKNOWN_HIGH) / 2
            further = {"novelty": "" if row.novelty is None else f"{row.novelty:.6f}", "set": one_line(set_text(row))}
            lines.writerow([number, "Spectrogram 1", 1, *_fields(row, high), *(further[name] for name in known)])

    def recognises(self, first_line: str) -> bool:
        """By the times in its header."""
        return names_columns(first_line, (BEGIN, END))

    def read(self, stream: IO[str]) -> Annotations:
        """The selections of every value of `Begin File`, each once however many views show it.

        In a table over several files the times within the file are those of `File Offset (s)`.
        """
        recordings: dict[str, dict[tuple[str, ...], Segment]] = {}
        for row in read_table(stream, (BEGIN, END), (OFFSET, FILE, self.column)):
            label, file = restored(row.exact(self._column(row))), restored(row.exact(FILE))
            selection = (row.get("selection") or row.where, row.get(BEGIN), row.get(END), label)
            recordings.setdefault(file, {}).setdefault(selection, Segment(*_span(row), label))
        return Annotations({file: list(selections.values()) for file, selections in recordings.items()})

    def _column(self, row: TableRow) -> str:
        """The column of labels: the one that was asked for, else the first usual one."""
        wanted = [self.column] if self.column else LABELS
        there = next((name for name in wanted if name.lower() in row.fields), None)
        if there is None:
            asked = repr(self.column) if self.column else "of labels"
            raise CorpusError(f"{row.where}: no column {asked}; found: {shown(', '.join(row.fields), 200)}")
        return there


def _fields(row: ResultRow, high: float) -> list[str]:
    probability = "" if row.probability is None else f"{row.probability:.6f}"
    start, end = f"{row.start:.6f}", f"{row.end:.6f}"
    return [start, end, "0.0", f"{high}", one_line(row.file), start, one_line(row.label), probability]


def _span(row: TableRow) -> tuple[float, float]:
    start, end = span_of(row.where, row.get(BEGIN), row.get(END))
    if not row.get(OFFSET):
        return start, end
    offset = time_of(row.where, OFFSET, row.get(OFFSET))
    return (start, end) if offset == start else (offset, round(offset + end - start, 6))


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """Raven's selection table."""
    return [Raven]

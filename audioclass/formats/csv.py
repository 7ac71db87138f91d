"""Comma-separated values, as spreadsheets and data frames read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import IO, ClassVar, Literal

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.formats.rows import COLUMNS, ResultRow, known_columns, label_names, rows_of, set_text
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.text_files import names_columns, read_table, span_of

TIMES = ("start", "end")
LABEL = "label"
COMPUTED = ("=", "+", "-", "@", "\t", "\r", "'")  # as a spreadsheet does; an apostrophe so that it comes back


@component
class Csv:
    """One line a segment: file, times, label, probability, runner-up, path, cut, and the posterior of each label.

    `cut` is where a damaged recording could be read no further, in seconds; empty elsewhere. `novelty` and `set`, its
    labels separated by |, come before the posteriors where they are known.
    """

    name: ClassVar[str] = "csv"
    suffix: ClassVar[str] = ".csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    column: str = parameter(LABEL, help="the column that holds the label")
    formulas: Literal["keep", "escape"] = parameter(
        "keep", choices=("keep", "escape"), help="escape: an apostrophe before texts that a spreadsheet would compute"
    )

    def write(self, result: Result, stream: IO[str]) -> None:
        """The table under a header; `posterior_…` columns follow the order of the labels."""
        lines = csv.writer(stream)
        columns = [self.column if name == LABEL else name for name in COLUMNS]
        known = known_columns(result)
        lines.writerow([*columns, "path", "cut", *known, *(f"posterior_{label}" for label in label_names(result))])
        lines.writerows(self._fields(row, known) for row in rows_of(result))

    def recognises(self, first_line: str) -> bool:
        """By a header that names the times and the label."""
        return names_columns(first_line, (*TIMES, self.column))

    def read(self, stream: IO[str]) -> Annotations:
        """The segments of every value of the column `file`, separated by commas, tabs or semicolons."""
        recordings: dict[str, list[Segment]] = {}
        for row in read_table(stream, (*TIMES, self.column), ("file",)):
            segment = Segment(*span_of(row.where, *map(row.get, TIMES)), self._unescaped(row.exact(self.column)))
            recordings.setdefault(self._unescaped(row.exact("file")), []).append(segment)
        return Annotations(recordings)

    def _fields(self, row: ResultRow, known: Sequence[str]) -> list[str]:
        """The fields of a line, in the order of the header."""
        values = (row.probability, row.runner_up_probability, row.cut)
        probability, of_runner_up, cut = ("" if value is None else f"{value:.6f}" for value in values)
        texts = (row.file, row.label, row.runner_up or "", "/".join(row.path))
        file, label, runner_up, path = map(self._escaped, texts)
        times = [f"{row.start:.6f}", f"{row.end:.6f}"]
        best = [label, probability, runner_up, of_runner_up]
        further = {"novelty": "" if row.novelty is None else f"{row.novelty:.6f}", "set": self._escaped(set_text(row))}
        posteriors = (f"{p:.6f}" for p in row.posteriors)
        return [file, *times, *best, path, cut, *(further[name] for name in known), *posteriors]

    def _escaped(self, text: str) -> str:
        return f"'{text}" if self.formulas == "escape" and text.startswith(COMPUTED) else text

    def _unescaped(self, text: str) -> str:
        return text.removeprefix("'") if self.formulas == "escape" else text


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """Comma-separated values."""
    return [Csv]

"""Tables with a header, separated by tabs, commas or semicolons; every row knows where it stands."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audioclass.corpora.texts import first_line, read_lines, shown
from audioclass.errors import CorpusError, did_you_mean

DELIMITERS = ("\t", ",", ";")


@dataclass(frozen=True)
class Row:
    """The fields of a row by the name of their column, in lower case; a row of several lines is on its first."""

    path: Path
    line: int
    values: Mapping[str, str]

    @property
    def where(self) -> str:
        """The place that an error names."""
        return f"{self.path}, line {self.line}"

    def get(self, column: str) -> str:
        """The field without space around it; empty where the row or the table lacks it."""
        return self.values.get(column, "")


def read_rows(path: Path, required: Sequence[str], *, quoted: bool = True) -> Iterator[Row]:
    """The rows that are not empty, if the table has the required columns; others are kept as they are."""
    lines = read_lines(path)
    n_before, header = _header(lines)
    delimiter = _delimiter(header, required)
    columns = _columns(header, delimiter)
    _check_columns(f"{path}, line {n_before or 1}", columns, required)
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    for n_line, fields in _numbered(path, reader, n_before):
        if any(field.strip() for field in fields[len(columns) :]):
            raise CorpusError(f"{path}, line {n_line}: {len(fields)} fields, the header names {len(columns)}")
        if any(field.strip() for field in fields):
            yield Row(path, n_line, dict(zip(columns, map(str.strip, fields), strict=False)))


def has_columns(path: Path, required: Sequence[str]) -> bool:
    """Whether a file begins with such a header; only its first line is read."""
    header = first_line(path)
    return set(required) <= set(_columns(header, _delimiter(header, required)))


def _header(lines: Iterator[str]) -> tuple[int, str]:
    """The number of the first line that is not empty, and the line."""
    for n_line, line in enumerate(lines, start=1):
        if line.strip():
            return n_line, line
    return 0, ""


def _delimiter(header: str, required: Sequence[str]) -> str:
    """The one under which the header has most of the columns it must have."""
    return max(DELIMITERS, key=lambda delimiter: len(set(required) & set(_columns(header, delimiter))))


def _columns(header: str, delimiter: str) -> list[str]:
    fields = next(csv.reader([header], delimiter=delimiter), [])
    return [field.strip().lower() for field in fields]


def _check_columns(where: str, columns: Sequence[str], required: Sequence[str]) -> None:
    for name in required:
        if name not in columns:
            nearest = did_you_mean(name, columns).replace("did you mean", "is it")
            raise CorpusError(f"{where}: no column {name!r}{nearest or ';'} found: {shown(', '.join(columns), 200)}")
    repeated = next((name for name in columns if name and columns.count(name) > 1), None)
    if repeated is not None:
        raise CorpusError(f"{where}: column {shown(repeated)} stands twice")


def _numbered(path: Path, reader: csv.reader, n_before: int) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line that each begins on."""
    while True:
        n_line = n_before + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise CorpusError(f"{path}, line {n_line}: {error}") from error
        yield n_line, fields

"""Text that others wrote: lines of a bounded length, tables with a header, numbers, times and labels.

Formats read streams and say in which line something is wrong; who opened the file by `open_text` says in which file.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

from audioclass.errors import CorpusError, did_you_mean
from audioclass.recordings import irregularity

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

LONGEST_LINE = 65536
LARGEST_TEXT = 2**26
BYTE_ORDER_MARK = "\ufeff"
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
DELIMITERS = (",", "\t", ";")


# --- files and lines


class BoundedText(io.TextIOWrapper):
    """A stream that refuses a line or a whole text longer than any of a label file could be."""

    n_lines = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # typeshed declares it by its base class
        """The next line with its end as it is."""
        line = super().readline(LONGEST_LINE + 1 if size < 0 else size)
        self.n_lines += bool(line)
        if len(line) > LONGEST_LINE:
            raise CorpusError(f"line {self.n_lines}: longer than {LONGEST_LINE} characters")
        return line

    def __next__(self) -> str:  # type: ignore[override]  # as above
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def read(self, size: int | None = -1, /) -> str:
        """The whole text, or so many characters."""
        text = super().read(LARGEST_TEXT + 1 if size is None or size < 0 else size)
        if len(text) > LARGEST_TEXT:
            raise CorpusError(f"longer than {LARGEST_TEXT} characters")
        return text


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[BoundedText]:
    """A file in UTF-8 or UTF-16 with its line ends as they are; what is wrong with its text is told with its path."""
    with located(path), contextlib.ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        stream = opened.enter_context(BoundedText(file, encoding=_encoding(file), newline=""))
        try:
            yield stream
        except UnicodeError as error:
            raise CorpusError(f"neither UTF-8 nor UTF-16 after line {stream.n_lines}") from error


@contextlib.contextmanager
def located(path: Path) -> Iterator[None]:
    """Put the path before what is wrong with a file, be it one that cannot be read to its end."""
    try:
        if reason := irregularity(path):
            raise CorpusError(reason)
        yield
    except CorpusError as error:
        separator = ", " if str(error).startswith("line ") else ": "
        raise CorpusError(f"{path}{separator}{error}") from error
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error


def read_text(path: Path) -> str:
    """A whole file, if it is not larger than any file of labels could be."""
    with open_text(path) as stream:
        return stream.read()


def first_line(path: Path) -> str:
    """The first line that is not empty; empty where there is none or the file cannot be read as text."""
    try:
        with open_text(path) as stream:
            return next((line.strip("\r\n") for line in stream if line.strip()), "")
    except CorpusError:
        return ""


def numbered_lines(stream: IO[str]) -> Iterator[tuple[str, str]]:
    """Each line without its end, after the place that an error names: `line 1`, `line 2`…"""
    for number, line in enumerate(stream, start=1):
        text = line.rstrip("\r\n")
        yield f"line {number}", text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text


# --- tables


@dataclass(frozen=True)
class TableRow:
    """The fields of a row by the name of their column, in lower case; a row of several lines is on its first."""

    line: int
    fields: Mapping[str, str]
    path: Path | None = None

    @property
    def where(self) -> str:
        """The place that an error names; with the file, where it is known."""
        return f"line {self.line}" if self.path is None else f"{self.path}, line {self.line}"

    def get(self, column: str) -> str:
        """The field without space around it; empty where the row or the table lacks it."""
        return self.exact(column).strip()

    def exact(self, column: str) -> str:
        """The field as it is."""
        return self.fields.get(column.lower(), "")


def read_table(stream: Iterable[str], required: Sequence[str], known: Sequence[str] = ()) -> Iterator[TableRow]:
    """The rows that are not empty, separated by commas, tabs or semicolons.

    The header names the required columns, and none of these nor of the other known ones twice.
    """
    lines = iter(stream)
    n_empty, first = _first_of(lines)
    reader = csv.reader(chain([first], lines), delimiter=_delimiter(first, required))
    rows = _numbered(reader, n_empty)
    n_line, header = next(rows, (1, []))
    columns = [name.strip().lower() for name in header]
    _check_columns(f"line {n_line}", columns, [name.lower() for name in required], [name.lower() for name in known])
    for n_line, fields in rows:
        if any(field.strip() for field in fields[len(columns) :]):
            raise CorpusError(f"line {n_line}: {len(fields)} fields, the header names {len(columns)}")
        if any(field.strip() for field in fields):
            yield TableRow(n_line, dict(zip(columns, fields, strict=False)))


def read_rows(path: Path, required: Sequence[str], known: Sequence[str] = ()) -> Iterator[TableRow]:
    """The rows of a table in a file, each with its path and line as its place."""
    with open_text(path) as stream:
        for row in read_table(stream, required, known):
            yield replace(row, path=path)


def names_columns(header: str, required: Sequence[str]) -> bool:
    """Whether a line is the header of a table that has the required columns."""
    columns = _columns(header, _delimiter(header, required))
    return {name.lower() for name in required} <= set(columns)


def _first_of(lines: Iterator[str]) -> tuple[int, str]:
    """How many empty lines there are before the first that is not, and that line."""
    for n_before, line in enumerate(lines):
        text = line.removeprefix(BYTE_ORDER_MARK)
        if text.strip():
            return n_before, text
    return 0, ""


def _delimiter(header: str, required: Sequence[str]) -> str:
    """The one under which the header has most of the columns it must have."""
    names = {name.lower() for name in required}
    return max(DELIMITERS, key=lambda delimiter: len(names & set(_columns(header, delimiter))))


def _columns(header: str, delimiter: str) -> list[str]:
    try:
        fields = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:  # a field longer than any name
        return []
    return [field.strip().lower() for field in fields]


def _check_columns(where: str, columns: Sequence[str], required: Sequence[str], known: Sequence[str]) -> None:
    for name in required:
        if name not in columns:
            nearest = did_you_mean(name, columns).replace("did you mean", "is it")
            raise CorpusError(f"{where}: no column {name!r}{nearest or ';'} found: {shown(', '.join(columns), 200)}")
    repeated = next((name for name in (*required, *known) if columns.count(name) > 1), None)
    if repeated is not None:
        raise CorpusError(f"{where}: column {shown(repeated)} stands twice")


def _numbered(reader: CsvReader, n_before: int) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line that each begins on."""
    while True:
        n_line = n_before + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise CorpusError(f"line {n_line}: {error}") from error
        yield n_line, fields


# --- what a field holds


def number_of(where: str, name: str, text: str) -> float:
    """The number that a field holds."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CorpusError(f"{where}: {name} {shown(text)} must be a number")
    return number


def time_of(where: str, name: str, text: str) -> float:
    """The seconds that a field holds, with a point or, as some computers write them, a comma."""
    seconds = number_of(where, name, text.replace(",", ".", 1))
    if seconds < 0:
        raise CorpusError(f"{where}: {name} {text.strip()} is before 0")
    return seconds


def span_of(where: str, start: str, end: str) -> tuple[float, float]:
    """Start and end in seconds; an end before the start is an error, one at the start is a point in time."""
    times = time_of(where, "start", start), time_of(where, "end", end)
    if times[1] < times[0]:
        raise CorpusError(f"{where}: end {end.strip()} is before start {start.strip()}")
    return times


def label_of(where: str, text: str) -> str:
    """A label as it is compared everywhere: composed letters, no space around it."""
    label = unicodedata.normalize("NFC", text.strip())
    if not label:
        raise CorpusError(f"{where}: the label is empty")
    if not label.isprintable():
        raise CorpusError(f"{where}: label {shown(label)} holds a character that cannot be printed")
    return label


def shown(text: str, longest: int = 60) -> str:
    """A foreign text in quotes, short and printable enough for one line."""
    return repr(text if len(text) <= longest else text[:longest] + "…")


def _encoding(file: IO[bytes]) -> str:
    head = file.read(4)
    file.seek(0)
    return next((encoding for mark, encoding in ENCODINGS.items() if head.startswith(mark)), "utf-8")

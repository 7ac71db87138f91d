"""Text that others wrote: UTF-8 or UTF-16, read a bounded line at a time; what is wrong with it is one line."""

from __future__ import annotations

import codecs
import math
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from audioclass.errors import CorpusError
from audioclass.recordings import irregularity

LONGEST_LINE = 65536
LARGEST_TEXT = 2**26
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their ends as they are, opened when the first is asked for."""
    if reason := irregularity(path):
        raise CorpusError(f"{path}: {reason}")
    n_lines = 0
    try:
        with path.open(encoding=_encoding(path), newline="") as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                n_lines += 1
                if len(line) > LONGEST_LINE:
                    raise CorpusError(f"{path}, line {n_lines}: longer than {LONGEST_LINE} characters")
                yield line
    except UnicodeError as error:
        raise CorpusError(f"{path}: neither UTF-8 nor UTF-16 after line {n_lines}") from error
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error


def read_text(path: Path) -> str:
    """A whole file, if it is not larger than any file of labels could be."""
    parts, size = [], 0
    for line in read_lines(path):
        parts.append(line)
        size += len(line)
        if size > LARGEST_TEXT:
            raise CorpusError(f"{path}: longer than {LARGEST_TEXT} characters")
    return "".join(parts)


def first_line(path: Path) -> str:
    """The first line that is not empty; empty where there is none or the file cannot be read as text."""
    try:
        return next((line.strip("\r\n") for line in read_lines(path) if line.strip()), "")
    except CorpusError:
        return ""


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
    """The seconds that a field holds."""
    seconds = number_of(where, name, text)
    if seconds < 0:
        raise CorpusError(f"{where}: {name} {text.strip()} is before 0")
    return seconds


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


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4)
    return next((encoding for mark, encoding in ENCODINGS.items() if head.startswith(mark)), "utf-8")

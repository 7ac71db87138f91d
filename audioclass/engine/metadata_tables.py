"""A user's table about recordings: its columns go into an archive, under names that SQL takes without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audioclass.audio.recorded import ClockRule, RecordedAt
from audioclass.errors import UsageError
from audioclass.index.schema import EXTRA, TABLES
from audioclass.packages import import_extra
from audioclass.recordings import absolute
from audioclass.text_files import read_rows

FILE, TIME = "file", "recorded_at"
NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
COMPUTED = {"distance", "duration_s", "started_at", "local_time"}  # columns that questions add
TAKEN = {name for table in TABLES.values() for name in table.columns} | COMPUTED


@dataclass(frozen=True, eq=False)
class MetadataTable:
    """Values of recordings by path: `columns` are all of them but `file` and `recorded_at`, which say whose and when.

    A column whose values are all numbers holds numbers, any other holds texts: `007` and `1_2` are texts. An empty
    field is no value, and a column without any is left out.
    """

    path: Path
    columns: tuple[str, ...]
    fields: Mapping[Path, Mapping[str, str]]
    times: Mapping[Path, RecordedAt]

    @classmethod
    def read(cls, path: Path, clock: ClockRule | None = None) -> MetadataTable:
        """From a table with a column `file`: absolute paths, or paths from the folder of the table."""
        clock, fields, times = clock or ClockRule(), {}, {}
        names: dict[str, str] = {}
        for row in read_rows(path, [FILE], [TIME]):
            file = absolute(path.parent / row.get(FILE))
            if file in fields:
                raise UsageError(f"{row.where}: {row.get(FILE)} is there twice")
            names |= {name: "" for name, value in row.fields.items() if name not in (FILE, TIME) and value.strip()}
            fields[file] = {name: value.strip() for name, value in row.fields.items()}
            if row.get(TIME):
                try:
                    times[file] = clock.parse(row.get(TIME))
                except UsageError as error:
                    raise UsageError(f"{row.where}: {error}") from error
        if not fields:
            raise UsageError(f"{path}: names no recording")
        plain = plain_names(names)
        renamed = {
            file: {plain[name]: value for name, value in values.items() if name in plain and value}
            for file, values in fields.items()
        }
        return cls(path, tuple(plain.values()), renamed, times)

    def check(self, files: Sequence[Path]) -> None:
        """Refuse a table that says nothing of the recordings: its paths are wrong."""
        if not set(files) & set(self.fields):
            first = next(iter(self.fields))
            raise UsageError(f"{self.path}: none of the recordings is in it; its first is {first}")

    def column(self, name: str, files: Iterable[Path], is_text: bool) -> list[float | str | None]:
        """The values of recordings, None where the table has none."""
        texts = [self.fields.get(file, {}).get(name) for file in files]
        return [text if text is None or is_text else float(text) for text in texts]

    def is_text(self, name: str) -> bool:
        """Whether a column holds anything but numbers."""
        return not all(_is_number(values[name]) for values in self.fields.values() if name in values)


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """For each name of a column one that needs no quotes and is none of ours, all of them different.

    >>> plain_names(["Site", "Water depth (m)", "label"])
    {'Site': 'site', 'Water depth (m)': 'water_depth_m', 'label': 'label_'}
    """
    reserved = _reserved_words()
    plain: dict[str, str] = {}
    for name in names:
        short = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII).strip("_") or "column"
        short = short if short[0].isalpha() else f"c_{short}"
        while short in TAKEN or short in reserved or short in plain.values():
            short += "_"
        plain[name] = short
    return plain


def _reserved_words() -> set[str]:
    asked = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
    return {word for (word,) in import_extra("duckdb", EXTRA).connect(":memory:").execute(asked).fetchall()}


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None

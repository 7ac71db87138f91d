"""Tables of an archive in Delta Lake: several may write at once, a row that is there is not written again.

A commit states that it builds on the version that it has read. Where another writer was first, the format refuses it;
then what the other wrote is read, rows that are there now are left out, and it is tried again. A writer that is killed
leaves files that no version names, which `vacuum` removes.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from audioclass.errors import AudioclassError, StorageError, UsageError, text_of
from audioclass.index.schema import EXTRA, TABLES, TableSchema
from audioclass.packages import import_extra
from audioclass.recordings import absolute

WRITER = "audioclass"  # of a commit: two that overlap are told apart by nothing else
MOST_ATTEMPTS = 100
LONGEST_PAUSE = 2.0  # seconds before a commit is tried again
Outcome = TypeVar("Outcome")
REFUSED = "%[]\\^|"  # in the path of an archive
NO_ROOM = ("no space left", "disk quota", "file too large")


def delta() -> Any:
    """The package that reads and writes the format."""
    return import_extra("deltalake", EXTRA)


def is_remote(address: str) -> bool:
    """Whether an archive lies in an object store instead of a folder."""
    return "://" in address and not address.startswith("file://")


def clean_address(address: str | Path) -> str:
    """The folder as an absolute path, or the address of an object store as it is."""
    text = str(address)
    if is_remote(text):
        return text.rstrip("/")
    folder = str(absolute(Path(text.removeprefix("file://"))))
    if refused := next((character for character in folder if _is_refused(character)), None):
        raise UsageError(f"{folder!r}: the table format takes no {refused!a} in the path of an archive")
    return folder


def refuse_archive(address: str | Path, outputs: Iterable[Path]) -> None:
    """Refuse an output that lies in an archive, among its own files."""
    archive = clean_address(address)
    for output in outputs:
        if not is_remote(archive) and output.resolve().is_relative_to(Path(archive).resolve()):
            raise UsageError(f"{output}: lies in the archive, the output must be elsewhere")


def _is_refused(character: str) -> bool:
    """Whether the format reads a path with it as another one, or not at all."""
    return character in REFUSED or character < " " or character == "\x7f" or "\ud800" <= character <= "\udfff"


def files_of(version: Any, model: str | None = None) -> list[str]:
    """The Parquet files of a version, as paths; of one model where the table has a folder for each."""
    files = [file for file in version.file_uris() if model is None or f"/model={model}/" in file]
    return sorted(file if is_remote(file) else unquote(file.removeprefix("file://")) for file in files)


def arrow_schema(version: Any) -> Any:
    """The columns of a version, those of a user's table too, as pyarrow has them."""
    return import_extra("pyarrow", EXTRA).schema(version.schema().to_arrow())


@contextlib.contextmanager
def naming(address: str) -> Iterator[None]:
    """Errors of the format, and of what lies below it, become one line about the archive."""
    try:
        yield
    except delta().exceptions.TableNotFoundError as error:
        raise UsageError(f"{address}: no archive; `audioclass index add` makes one") from error
    except (delta().exceptions.DeltaError, OSError) as error:
        text = text_of(error)
        if any(words in text.lower() for words in NO_ROOM):
            raise StorageError(f"{address}: cannot be written: no room") from error
        raise AudioclassError(f"{address}: {text[:200]}") from error


@dataclass(frozen=True)
class Table:
    """One table of an archive, by the address of the archive."""

    archive: str
    schema: TableSchema

    @classmethod
    def named(cls, archive: str, name: str) -> Table:
        """By its name."""
        return cls(archive, TABLES[name])

    @property
    def address(self) -> str:
        """Where the table lies."""
        return f"{self.archive}/{self.schema.name}"

    def create(self) -> None:
        """Make the table where there is none; who comes second finds it made."""
        with naming(self.archive):
            partitions = [self.schema.partitioned_by] if self.schema.partitioned_by else None
            table = delta().DeltaTable
            try:
                table.create(self.address, schema=self.schema.arrow(), mode="ignore", partition_by=partitions)
            except delta().exceptions.DeltaError:
                table(self.address)

    def open(self) -> Any:
        """The newest version."""
        with naming(self.archive):
            return delta().DeltaTable(self.address)

    def commit(self, rows_for: Callable[[Any], Any | None]) -> bool:
        """Append what a function gives for the newest version, again where another writer was first.

        Whether there was anything to append.
        """

        def append(version: Any) -> bool:
            rows = rows_for(version)
            if rows is None or not rows.num_rows:
                return False
            delta().write_deltalake(version, rows, mode="append", **_writing(version))
            return True

        return self._attempt(append)

    def replace(self, predicate: str, rows_for: Callable[[Any], Any]) -> None:
        """Put what a function gives for the newest version in the place of the rows that a predicate names."""

        def overwrite(version: Any) -> bool:
            rows = rows_for(version)
            delta().write_deltalake(version, rows, mode="overwrite", predicate=predicate, **_writing(version))
            return True

        self._attempt(overwrite)

    def upsert(self, rows: Any, *, where: str = "false", stays: Sequence[str] = ()) -> None:
        """Rows in the place of those with the same key, or as further ones; other columns stay as they are.

        Of old rows that a predicate names, some more columns do.
        """
        columns = {name: f"new.{name}" for name in rows.column_names}
        fewer = {name: value for name, value in columns.items() if name not in stays}
        self._merge(
            rows,
            lambda merger: (
                merger.when_matched_update(fewer, predicate=where)
                .when_matched_update(columns)
                .when_not_matched_insert(columns)
            ),
        )

    def update(self, rows: Any) -> None:
        """Other values in the rows with the same key; keys that are not there are passed over."""
        columns = {name: f"new.{name}" for name in rows.column_names if name not in self.schema.key}
        self._merge(rows, lambda merger: merger.when_matched_update(columns))

    def _merge(self, rows: Any, decide: Callable[[Any], Any]) -> None:
        if not rows.num_rows:
            return
        same = " AND ".join(f"old.{name} = new.{name}" for name in self.schema.key)

        def merge(version: Any) -> bool:
            decide(version.merge(rows, same, source_alias="new", target_alias="old", **_writing(version))).execute()
            return True

        self._attempt(merge)

    def add_columns(self, types: Mapping[str, Any]) -> None:
        """Further columns, by the types that Arrow has for them, without a value so far; those that are there stay."""

        def add(version: Any) -> bool:
            arrow, there = import_extra("pyarrow", EXTRA), set(arrow_schema(version).names)
            absent = arrow.schema([(name, kind) for name, kind in types.items() if name not in there])
            if len(absent):
                version.alter.add_columns(delta().Schema.from_arrow(absent).fields)
            return bool(len(absent))

        self._attempt(add)

    def delete(self, predicate: str) -> None:
        """Remove the rows that a predicate names."""
        self._attempt(lambda version: version.delete(predicate, **_writing(version)))

    def compact(self, keep_days: float) -> tuple[int, int]:
        """Join small files, and remove those that no version of the last days needs: how many of each."""

        def optimise(version: Any) -> tuple[int, int]:
            joined = version.optimize.compact(writer_properties=_writing(version)["writer_properties"])
            version.create_checkpoint()
            removed = version.vacuum(round(24 * keep_days), dry_run=False, enforce_retention_duration=False)
            return int(joined["numFilesRemoved"]), len(removed)

        return self._attempt(optimise)

    def _attempt(self, work: Callable[[Any], Outcome]) -> Outcome:
        """What the work gives for the newest version, again where another writer was first."""
        pause = 0.01
        for _ in range(MOST_ATTEMPTS):
            try:
                with naming(self.archive):
                    return work(delta().DeltaTable(self.address))
            except AudioclassError as error:
                if not isinstance(error.__cause__, delta().exceptions.CommitFailedError):
                    raise
            time.sleep(pause * random.random())  # noqa: S311 (when to try again is no secret)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AudioclassError(f"{self.archive}: others write to {self.schema.name} without a pause; try again later")


def _writing(version: Any) -> dict[str, Any]:
    """How every commit is written: one that builds on an older version than the newest fails instead of doubling."""
    package = delta()
    mark = package.Transaction(WRITER, version.version() + 1)
    return {
        "commit_properties": package.CommitProperties(app_transactions=[mark], max_commit_retries=0),
        "writer_properties": package.WriterProperties(compression="ZSTD"),
    }


class Inserter:
    """Appends rows of whole recordings to a table, each recording once, whoever else does the same.

    `present` are contents that the table holds already, of the files that `seen` names; those of files that came since
    are read before each commit.
    """

    def __init__(self, table: Table, model: str, present: set[str], seen: set[str]) -> None:
        self._table, self._model = table, model
        self.present, self._seen = present, seen

    def insert(self, rows_for: Callable[[Any], Any]) -> set[str]:
        """Append the rows that a function gives for the newest version, of contents that are not there: of which."""
        arrow, compute = import_extra("pyarrow", EXTRA), import_extra("pyarrow.compute", EXTRA)
        inserted: set[str] = set()

        def absent(version: Any) -> Any:
            self._look(version)
            rows = rows_for(version)
            there = sorted(set(compute.unique(rows["content"]).to_pylist()) & self.present)
            left = rows.filter(compute.invert(compute.is_in(rows["content"], arrow.array(there, arrow.string()))))
            inserted.clear()
            inserted.update(left["content"].to_pylist())
            return left

        self._table.commit(absent)
        self.present |= inserted
        return inserted

    def _look(self, version: Any) -> None:
        """Take in what others wrote."""
        files = set(files_of(version, self._model if self._table.schema.partitioned_by else None))
        fresh = sorted(files - self._seen)
        if fresh:
            self.present |= contents_of(fresh, self._model, self._table.schema.partitioned_by is not None)
        self._seen |= files


def contents_of(files: Sequence[str], model: str, is_partitioned: bool) -> set[str]:
    """The contents that files of a table hold rows of for a model."""
    parquet, arrow = import_extra("pyarrow.parquet", EXTRA), import_extra("pyarrow", EXTRA)
    compute = import_extra("pyarrow.compute", EXTRA)
    contents: set[str] = set()
    for file in files:
        table = parquet.read_table(file, columns=["content", *([] if is_partitioned else ["model"])], partitioning=None)
        # Files that the format has written anew have texts of a type that pyarrow cannot compare.
        table = table.cast(arrow.schema([(name, arrow.string()) for name in table.column_names]))
        if not is_partitioned:
            table = table.filter(compute.equal(table["model"], model))
        contents |= set(compute.unique(table["content"]).to_pylist())
    return contents

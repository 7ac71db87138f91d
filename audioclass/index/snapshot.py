"""The tables of an archive as they are at one moment, as views of a DuckDB connection."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audioclass.errors import AudioclassError, UsageError, listed, text_of
from audioclass.index.schema import EXTRA, RECORDINGS, TABLES
from audioclass.index.tables import Table, arrow_schema, clean_address, files_of, is_remote
from audioclass.packages import import_extra
from audioclass.taxonomy import Taxonomy

# Each table is written after those that come later here: what one row of it speaks of is there in them.
AS_READ = ("recordings", "analyses", "segments", "windows", "models")
# A row for each segment of each recording that is there, with its clock time: what `find` asks.
OCCURRENCES = """
SELECT s.model, r.path, s.start_s, s.end_s, s.end_s - s.start_s AS duration_s, s.label, s.probability,
    s.runner_up, s.runner_up_probability, s.novelty, s.posteriors, s.content,
    r.recorded_at::TIMESTAMP + to_microseconds((s.start_s * 1e6)::BIGINT) AS started_at,
    started_at + to_minutes(coalesce(r.utc_offset_minutes, 0)) AS local_time,
    r.* EXCLUDE (path, content)
FROM segments AS s JOIN recordings AS r ON r.content = s.content AND r.removed_at IS NULL
"""


@dataclass(frozen=True)
class KnownModel:
    """A model that an archive holds results of, without its file."""

    id: str
    name: str
    digest: str
    labels: tuple[str, ...]
    independent: bool
    taxonomy: Taxonomy
    window: float
    hop: float
    cell: float


class Snapshot:
    """An archive at one moment: the versions of its tables, and answers to questions in SQL."""

    def __init__(self, address: str) -> None:
        self.address = clean_address(address)
        self.versions = {name: Table.named(self.address, name).open() for name in AS_READ}
        self._connection: Any = None
        self._views: set[str] = set()
        self._is_locked = False

    def files(self, table: str, model: str | None = None) -> list[str]:
        """The Parquet files that a table is made of, of one model where it is partitioned by models."""
        return files_of(self.versions[table], model if TABLES[table].partitioned_by else None)

    def connection(self, sql: str = "") -> Any:
        """A connection with a view of each table that a question names, and with `occurrences` where it does."""
        if self._connection is None:
            self._connection = import_extra("duckdb", EXTRA).connect(":memory:")
            self._connection.execute("SET TimeZone = 'UTC'")
        named = {word.lower() for word in re.findall(r"\w+", sql)}
        named |= {"segments", "recordings"} if "occurrences" in named else set()
        with self._reading():
            for name in sorted(named & set(TABLES) - self._views):
                self._view(self._connection, name)
            if "occurrences" in named - self._views:
                self._connection.execute(f"CREATE VIEW occurrences AS {OCCURRENCES}")
        self._views |= named
        return self._connection

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Errors of DuckDB become one line about the archive: a file is damaged or gone."""
        try:
            yield
        except import_extra("duckdb", EXTRA).Error as error:
            raise AudioclassError(f"{self.address}: cannot be read: {text_of(error)[:300]}") from error

    def _view(self, connection: Any, name: str) -> None:
        files = self.files(name)
        if is_remote(self.address):
            connection.register(name, self.versions[name].to_pyarrow_dataset())
        elif not files:
            connection.register(name, arrow_schema(self.versions[name]).empty_table())
        else:
            listed_files = ", ".join(_quoted(file) for file in files)
            types = "hive_types = {'model': VARCHAR}" if TABLES[name].partitioned_by else "hive_partitioning = false"
            is_wider = TABLES[name].open and bool(self.further_columns())
            union = ", union_by_name = true" if is_wider else ""
            further = f" UNION ALL BY NAME FROM {name}_columns" if is_wider else ""
            if further:  # a column that no file has a value of is a column too
                connection.register(f"{name}_columns", arrow_schema(self.versions[name]).empty_table())
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet([{listed_files}], {types}{union}){further}")

    def arrow(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """What a question in SQL gives, as an Arrow table."""
        connection = self.connection(sql)
        with self._reading():
            return connection.sql(sql, params=values or None).to_arrow_table()

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """The same as plain rows."""
        connection = self.connection(sql)
        with self._reading():
            answer: list[tuple[Any, ...]] = connection.execute(sql, values or None).fetchall()
        return answer

    @cached_property
    def models(self) -> list[KnownModel]:
        """The models that were used, the last one first."""
        columns = "model, name, digest, labels, independent, taxonomy, window_s, hop_s, cell_s"
        rows = self.rows(f"SELECT {columns} FROM models ORDER BY added_at DESC, model")  # noqa: S608 (our own names)
        return [
            KnownModel(short, name, digest, tuple(labels), independent, Taxonomy.of_paths(json.loads(paths)), *times)
            for short, name, digest, labels, independent, paths, *times in rows
        ]

    def model(self, named: str | None = None) -> KnownModel:
        """The model of a name, a digest or the start of one; the last one that was used where none is named."""
        models = self.models
        if not models:
            raise UsageError(f"{self.address}: holds no results yet; `audioclass index add` adds recordings")
        matching = [one for one in models if named in (None, one.name, one.id) or one.digest.startswith(named or "")]
        if not matching:
            known = listed([f"{one.name} ({one.id})" for one in models])
            raise UsageError(f"{self.address}: holds no results of {named!r}; known: {known}")
        return matching[0]

    def model_file(self, model: KnownModel) -> bytes:
        """The file of a model."""
        return bytes(self.rows("SELECT file FROM models WHERE model = ? LIMIT 1", [model.id])[0][0])

    def projection(self, model: KnownModel) -> bytes:
        """What makes vectors of the features that a model prepares."""
        return bytes(self.rows("SELECT projection FROM models WHERE model = ? LIMIT 1", [model.id])[0][0])

    def further_columns(self) -> list[str]:
        """The columns of recordings that a user's table brought."""
        return [
            field.name for field in self.versions["recordings"].schema().fields if field.name not in RECORDINGS.columns
        ]

    def ask(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """What a user's own question gives: names of columns and rows.

        It can only read, and no file but the archive's.
        """
        duckdb = import_extra("duckdb", EXTRA)
        self._lock()
        try:
            if [one.type for one in duckdb.extract_statements(sql)] != [duckdb.StatementType.SELECT]:
                raise UsageError(
                    "--sql takes one SELECT, such as 'SELECT label, count(*) FROM segments GROUP BY label'"
                )
            # Rows of DuckDB have times with a zone only where pytz is installed.
            table = self._connection.sql(sql).to_arrow_table()
            return table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        except duckdb.Error as error:
            raise UsageError(f"--sql: {text_of(error).partition(' LINE ')[0][:300]}") from error

    def _lock(self) -> None:
        """From now on no question reads or writes a file outside the archive."""
        if self._is_locked:
            return
        connection = self.connection(" ".join([*TABLES, "occurrences"]))
        if not is_remote(self.address):
            connection.execute(f"SET allowed_directories = [{_quoted(self.address)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        self._is_locked = True


def segment_options(files: Sequence[str]) -> str | None:
    """How the segments in files were made, which is the same in all of them; None where there are none."""
    parquet = import_extra("pyarrow.parquet", EXTRA)
    for file in files:
        batch = next(parquet.ParquetFile(file).iter_batches(1, columns=["options"]), None)
        if batch is not None and batch.num_rows:
            return str(batch["options"][0].as_py())
    return None


def _quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"

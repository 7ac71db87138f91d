"""Tables of made windows in Delta Lake and in Lance, with one face: written, read, compacted and asked alike."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

import bench
import numpy as np

LABELS = np.array(["environment", "music", "silence", "speech"])
HOUR = 3600  # windows of a recording
N_AXES = 128
QUESTION = "label = 'speech' and probability > 0.9"
COLUMNS = ["content", "start_s", "label", "probability"]


# Windows that are made.


def content_of(recording: int) -> str:
    """The digest of a made recording."""
    return hashlib.sha256(str(recording).encode()).hexdigest()


def windows(first_recording: int, n: int, length: int = HOUR) -> Any:
    """`n` windows of recordings of `length` windows each as a table; the same arguments give the same windows."""
    import pyarrow as pa

    rng = np.random.default_rng(first_recording)
    contents = pa.array([content_of(first_recording + i) for i in range(-(-n // length))])
    number = np.arange(n) % length
    P = rng.dirichlet([0.3] * len(LABELS), n).astype(np.float32)
    offsets = np.arange(0, P.size + 1, len(LABELS), dtype=np.int32)
    columns = {
        "model": pa.array(np.repeat("broadcast", n)),
        "content": contents.take(pa.array(np.arange(n) // length)),
        "window": number,
        "start_s": number.astype(float),
        "end_s": number + 1.0,
        "label": pa.array(LABELS[P.argmax(axis=1)]),
        "probability": P.max(axis=1),
        "posteriors": pa.ListArray.from_arrays(offsets, P.ravel()),
        "strangeness": rng.random(n, dtype=np.float32),
        "vector": as_bytes(rng.integers(-127, 128, (n, N_AXES), dtype=np.int8)),
    }
    return pa.table(columns)


def as_bytes(codes: np.ndarray) -> Any:
    """A column of bytes, one value a row of codes."""
    import pyarrow as pa

    offsets = np.arange(0, codes.size + 1, codes.shape[1], dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), len(codes), [None, pa.py_buffer(offsets), pa.py_buffer(codes.tobytes())])


def as_lists(codes: np.ndarray) -> Any:
    """A column of lists of int8."""
    import pyarrow as pa

    offsets = np.arange(0, codes.size + 1, codes.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, codes.ravel())


def as_fixed_lists(codes: np.ndarray) -> Any:
    """A column of lists of one length."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(codes.ravel()), codes.shape[1])


# The formats.


class Conflict(Exception):
    """Another writer was faster."""


class Format(Protocol):
    """What the benchmark does with a table."""

    name: ClassVar[str]

    def append(self, path: Path, table: Any) -> None: ...
    def add_once(self, path: Path, table: Any) -> None:
        """Add the windows of one recording unless they are there; a `Conflict` where another writer was faster."""

    def counts(self, path: Path) -> dict[str, tuple[int, int]]:
        """Rows and different windows of each recording."""

    def data_files(self, path: Path) -> set[Path]:
        """Files of rows that belong to the table."""

    def compact(self, path: Path) -> None: ...
    def clean(self, path: Path) -> None:
        """Delete what no longer belongs to the table."""

    def questions(self, path: Path) -> dict[str, Callable[[], tuple[int, int]]]:
        """The question as each tool asks it: how many, and how many of the likeliest came back."""


class Delta:
    """delta-rs: a commit that names a transaction conflicts with any other of that name that came in between."""

    name: ClassVar[str] = "delta"

    def append(self, path: Path, table: Any) -> None:
        from deltalake import WriterProperties, write_deltalake

        properties = WriterProperties(compression="ZSTD", compression_level=1)
        write_deltalake(path, table, mode="append", partition_by=["model"], writer_properties=properties)

    def add_once(self, path: Path, table: Any) -> None:
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        from deltalake.exceptions import CommitFailedError

        delta = DeltaTable(path)
        content = table["content"][0].as_py()
        if self._holds(delta, content):
            return
        application = self.application(content)
        number = (delta.transaction_version(application) or 0) + 1
        commit = CommitProperties(app_transactions=[Transaction(application, number)])
        try:
            write_deltalake(delta, table, mode="append", commit_properties=commit)
        except CommitFailedError as error:
            raise Conflict from error

    def _holds(self, delta: Any, content: str) -> bool:
        # By the statistics of files: `to_pyarrow_dataset` takes most of a millisecond for every file of the table.
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        files = pa.table(delta.get_add_actions(flatten=True))
        may_hold = pc.and_(
            pc.less_equal(files["min.content"], content), pc.greater_equal(files["max.content"], content)
        )
        paths = [
            f"{delta.table_uri.removeprefix('file://')}/{path}" for path in files["path"].filter(may_hold).to_pylist()
        ]
        return bool(paths) and ds.dataset(paths).count_rows(filter=ds.field("content") == content) > 0

    def application(self, content: str) -> str:
        """What a commit of this recording conflicts on: all commits conflict."""
        return "audioclass"

    def counts(self, path: Path) -> dict[str, tuple[int, int]]:
        from deltalake import DeltaTable

        return _counts(DeltaTable(path).to_pyarrow_table(columns=["content", "window"]))

    def data_files(self, path: Path) -> set[Path]:
        from deltalake import DeltaTable

        return {Path(uri.removeprefix("file://")) for uri in DeltaTable(path).file_uris()}

    def compact(self, path: Path) -> None:
        from deltalake import DeltaTable, WriterProperties

        properties = WriterProperties(compression="ZSTD", compression_level=1)
        DeltaTable(path).optimize.compact(writer_properties=properties)

    def clean(self, path: Path) -> None:
        from deltalake import DeltaTable

        DeltaTable(path).vacuum(0, dry_run=False, enforce_retention_duration=False)

    def questions(self, path: Path) -> dict[str, Callable[[], tuple[int, int]]]:
        import duckdb
        import polars as pl
        import pyarrow.dataset  # noqa: F401 - not a part of the first question
        from deltalake import DeltaTable

        def by_duckdb() -> tuple[int, int]:
            source = "read_parquet($files, hive_partitioning=true)"
            return _ask_duckdb(duckdb, source, {"files": DeltaTable(path).file_uris()})

        def by_pandas() -> tuple[int, int]:
            filters = [("label", "=", "speech"), ("probability", ">", 0.9)]
            return _likeliest(DeltaTable(path).to_pandas(columns=COLUMNS, filters=filters))

        def by_polars() -> tuple[int, int]:
            return _ask_polars(pl, pl.scan_delta(str(path)))

        return {"duckdb": by_duckdb, "pandas": by_pandas, "polars": by_polars}


class DeltaByContent(Delta):
    """The same, but commits conflict only where their recordings may be the same."""

    name: ClassVar[str] = "delta_by_content"

    def application(self, content: str) -> str:
        """One of 256 names, by the start of the digest."""
        return f"audioclass-{content[:2]}"


class Lance:
    """Lance: an insert conflicts with another of the same keys where a primary key of text or integers is declared."""

    name: ClassVar[str] = "lance"

    def append(self, path: Path, table: Any) -> None:
        import lance

        lance.write_dataset(_for_lance(table), path, mode="append" if path.exists() else "create")

    def add_once(self, path: Path, table: Any) -> None:
        import lance

        insert = lance.dataset(path).merge_insert(["content", "window"]).when_not_matched_insert_all()
        try:
            insert.conflict_retries(0).execute(_for_lance(table))
        except OSError as error:
            if "concurrent" not in str(error) and "conflict" not in str(error):
                raise
            raise Conflict from error

    def counts(self, path: Path) -> dict[str, tuple[int, int]]:
        import lance

        return _counts(lance.dataset(path).to_table(columns=["content", "window"]))

    def data_files(self, path: Path) -> set[Path]:
        import lance

        fragments = lance.dataset(path).get_fragments()
        return {path / "data" / file.path for fragment in fragments for file in fragment.data_files()}

    def compact(self, path: Path) -> None:
        import lance

        lance.dataset(path).optimize.compact_files()

    def clean(self, path: Path) -> None:
        import lance

        lance.dataset(path).cleanup_old_versions(timedelta(0), delete_unverified=True)

    def questions(self, path: Path) -> dict[str, Callable[[], tuple[int, int]]]:
        import duckdb
        import lance
        import polars as pl

        def by_duckdb() -> tuple[int, int]:
            connection = duckdb.connect()
            connection.register("windows", lance.dataset(path))
            return _ask_duckdb(connection, "windows", {})

        def by_pandas() -> tuple[int, int]:
            return _likeliest(lance.dataset(path).to_table(columns=COLUMNS, filter=QUESTION).to_pandas())

        def by_polars() -> tuple[int, int]:
            return _ask_polars(pl, pl.scan_pyarrow_dataset(lance.dataset(path)))

        return {"duckdb": by_duckdb, "pandas": by_pandas, "polars": by_polars}


def _for_lance(table: Any) -> Any:
    """With the primary key declared, and vectors as the lists of one length that Lance is made for."""
    import pyarrow as pa

    (column,) = table["vector"].chunks
    codes = np.frombuffer(column.buffers()[2], np.int8).reshape(-1, N_AXES)
    table = table.set_column(table.schema.get_field_index("vector"), "vector", as_fixed_lists(codes))
    mark = "lance-schema:unenforced-primary-key"
    schema = table.schema
    for position, name in enumerate(("content", "window"), start=1):
        field = pa.field(name, schema.field(name).type, False, {mark: "true", f"{mark}:position": str(position)})
        schema = schema.set(schema.get_field_index(name), field)
    return table.cast(schema)


def _counts(table: Any) -> dict[str, tuple[int, int]]:
    grouped = table.group_by("content").aggregate([("window", "count"), ("window", "count_distinct")]).to_pydict()
    return {
        content: (rows, different)
        for content, rows, different in zip(
            grouped["content"], grouped["window_count"], grouped["window_count_distinct"], strict=True
        )
    }


def _ask_duckdb(connection: Any, source: str, parameters: dict[str, object]) -> tuple[int, int]:
    count = f"select count(*) from {source} where {QUESTION}"
    likeliest = f"select {', '.join(COLUMNS)} from {source} where {QUESTION} order by probability desc limit 50"
    (n,) = connection.execute(count, parameters).fetchone()
    return n, len(connection.execute(likeliest, parameters).fetchall())


def _likeliest(frame: Any) -> tuple[int, int]:
    return len(frame), len(frame.nlargest(50, "probability"))


def _ask_polars(pl: Any, scan: Any) -> tuple[int, int]:
    chosen = scan.filter((pl.col("label") == "speech") & (pl.col("probability") > 0.9))
    (n,) = chosen.select(pl.len()).collect().row(0)
    return n, chosen.select(COLUMNS).top_k(50, by="probability").collect().height


def formats() -> list[Format]:
    """Those that are installed."""
    if find_spec("lance") is None:
        bench.note("lance is not installed: Delta Lake is measured alone")
        return [Delta(), DeltaByContent()]
    return [Delta(), DeltaByContent(), Lance()]

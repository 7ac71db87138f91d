"""Tables of an archive: every name goes into SQL as it is, and every column says what it means."""

import pytest
from made_archives import MadeRecording, MadeSegment, make_archive

from audioclass.index.schema import SEGMENTS, TABLES, arrow_types
from audioclass.index.snapshot import Snapshot

COLUMNS = [(table.name, column) for table in TABLES.values() for column in table.columns]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """An archive with one recording and one segment."""
    recordings, segments = [MadeRecording("/a.wav", "0")], [MadeSegment("0", 0, 1, "b", 0.5)]
    return Snapshot(make_archive(tmp_path_factory.mktemp("schema") / "archive", recordings, segments, [["a"], ["b"]]))


def asked_bare(snapshot, name, table):
    """A column as a user would write it at every place of a question."""
    snapshot.ask(f"SELECT {name} FROM {table} ORDER BY {name}")
    snapshot.ask(f"SELECT {name}, count(*) AS n FROM {table} WHERE {name} IS NULL GROUP BY {name} HAVING n > 0")
    snapshot.ask(f"SELECT t.{name} AS {name} FROM {table} AS t")


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=lambda name: name)
def test_every_column_is_asked_for_without_quotes(snapshot, table, column):
    asked_bare(snapshot, column, table)


def test_every_column_of_occurrences_is_asked_for_without_quotes(snapshot):
    names = snapshot.arrow("FROM occurrences LIMIT 0").schema.names
    assert len(names) == len(set(names))
    assert not [name for name in names if ":" in name or name.endswith("_1")]  # how DuckDB renames what clashes
    for name in names:
        asked_bare(snapshot, name, "occurrences")
    wanted = {"model", "path", "start_s", "end_s", "duration_s", "label", "probability", "started_at", "local_time"}
    assert wanted | (set(TABLES["recordings"].columns) - {"content"}) <= set(names)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_columns_have_a_type_and_a_meaning(table):
    assert all(column.type in arrow_types() and column.meaning.strip() for column in table.columns.values())
    assert {*table.key, table.partitioned_by} - {None} <= set(table.columns)
    assert table.arrow().names == list(table.columns)


def test_names_are_lower_case_words():
    assert all(name.isidentifier() and name == name.lower() and name.isascii() for _, name in COLUMNS)


def test_tables_that_have_folders_read_as_their_schema_says(snapshot):
    assert set(snapshot.arrow("FROM segments").schema.names) == set(SEGMENTS.columns)
    assert snapshot.rows("SELECT typeof(model) FROM segments") == [("VARCHAR",)]

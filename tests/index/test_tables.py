"""Tables that several write to at once: nothing is lost or doubled, and what is damaged is said in one line."""

import shutil

import numpy as np
import pytest
from made_archives import (
    MadeRecording,
    MadeSegment,
    analysis_table,
    append,
    make_archive,
    recording_table,
    segment_table,
    window_table,
)
from runs import run
from writers import change_recordings, create_and_insert, end_well, insert, start

from audioclass.engine import archive_upkeep
from audioclass.engine.archive_upkeep import verify
from audioclass.engine.archives import Archive
from audioclass.engine.indexing import create_archive
from audioclass.errors import AudioclassError, StorageError, UsageError
from audioclass.index import tables
from audioclass.index.schema import TABLES
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Inserter, Table, clean_address, delta, files_of

MODEL = "0123456789ab"


@pytest.fixture
def archive(tmp_path):
    """An archive without rows."""
    address = clean_address(tmp_path / "archive")
    create_archive(address)
    return address


def windows_of(*contents, n=3):
    arrow = pytest.importorskip("pyarrow")
    return arrow.concat_tables([window_table(content, np.ones((n, 4))) for content in contents])


def inserter(archive, name="windows"):
    return Inserter(Table.named(archive, name), MODEL, set(), set())


def counted(archive, name="windows"):
    """How many rows there are of each content."""
    return dict(Snapshot(archive).rows(f"SELECT content, count(*) FROM {name} GROUP BY content"))


def test_the_same_contents_twice_are_there_once(archive):
    first = inserter(archive)
    assert first.insert(lambda version: windows_of("a", "b")) == {"a", "b"}
    assert first.insert(lambda version: windows_of("b", "c")) == {"c"}
    assert inserter(archive).insert(lambda version: windows_of("a", "b", "c", "d")) == {"d"}
    assert counted(archive) == {"a": 3, "b": 3, "c": 3, "d": 3}
    assert Table.named(archive, "windows").open().version() == 3


def test_nothing_new_is_no_version(archive):
    inserter(archive).insert(lambda version: windows_of("a"))
    inserter(archive).insert(lambda version: windows_of("a"))
    assert Table.named(archive, "windows").open().version() == 1


def test_contents_of_another_model_are_others(archive):
    other = Inserter(Table.named(archive, "windows"), "ba9876543210", set(), set())
    inserter(archive).insert(lambda version: windows_of("a"))
    other.insert(lambda version: window_table("a", np.ones((2, 4)), model="ba9876543210"))
    assert counted(archive) == {"a": 5}
    assert inserter(archive, "analyses").insert(lambda version: analysis_table(["a"])) == {"a"}
    again = Inserter(Table.named(archive, "analyses"), "ba9876543210", set(), set())
    assert again.insert(lambda version: analysis_table(["a"], model="ba9876543210")) == {"a"}


def test_processes_that_write_at_once_lose_and_double_nothing(archive):
    shared = [f"shared-{i}" for i in range(4)]
    own = [[f"own-{n}-{i}" for i in range(2)] for n in range(4)]
    end_well([start(insert, archive, MODEL, *shared, *mine) for mine in own])
    assert counted(archive) == dict.fromkeys([*shared, *(content for mine in own for content in mine)], 3)


def test_processes_that_make_an_archive_at_once_make_one(tmp_path):
    address = clean_address(tmp_path / "archive")
    end_well([start(create_and_insert, address, MODEL, f"content-{i}") for i in range(3)])
    assert counted(address) == {"content-0": 3, "content-1": 3, "content-2": 3}


def test_a_commit_on_an_old_version_is_tried_again_on_the_newest(archive):
    table, seen = Table.named(archive, "windows"), []

    def rows_for(version):
        seen.append(version.version())
        if len(seen) == 1:  # somebody else is faster
            append(archive, "windows", windows_of("other"))
        return windows_of("mine")

    assert table.commit(rows_for)
    assert seen == [0, 1]
    assert counted(archive) == {"mine": 3, "other": 3}


def test_who_was_first_is_seen_before_the_commit_is_tried_again(archive):
    calls = []

    def rows_for(version):
        calls.append(version)
        if len(calls) == 1:
            inserter(archive).insert(lambda version: windows_of("a"))
        return windows_of("a", "b")

    assert inserter(archive).insert(rows_for) == {"b"}
    assert counted(archive) == {"a": 3, "b": 3}


def test_a_replacement_takes_in_what_was_appended_meanwhile(archive):
    append(archive, "windows", windows_of("a", "b"))
    calls = []

    def rows_for(version):
        calls.append(version)
        if len(calls) == 1:
            append(archive, "windows", windows_of("c"))
        there = Snapshot(archive).rows("SELECT DISTINCT content FROM windows ORDER BY content")
        return windows_of(*(content for (content,) in there), n=1)

    Table.named(archive, "windows").replace(f"model = '{MODEL}'", rows_for)
    assert len(calls) == 2
    assert counted(archive) == {"a": 1, "b": 1, "c": 1}


def test_a_replacement_leaves_other_models_alone(archive):
    append(archive, "windows", windows_of("a"))
    append(archive, "windows", window_table("a", np.ones((7, 4)), model="ba9876543210"))
    Table.named(archive, "windows").replace(f"model = '{MODEL}'", lambda version: windows_of("b"))
    assert counted(archive) == {"a": 7, "b": 3}


def test_it_gives_up_where_others_never_pause(archive, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ATTEMPTS", 3)

    def rows_for(version):
        append(archive, "windows", windows_of("other"))
        return windows_of("mine")

    with pytest.raises(AudioclassError, match="others write to windows without a pause; try again later"):
        Table.named(archive, "windows").commit(rows_for)


def recordings_in(archive, columns="path, content"):
    return Snapshot(archive).rows(f"SELECT {columns} FROM recordings ORDER BY path")


def test_an_upsert_changes_and_adds(archive):
    table = Table.named(archive, "recordings")
    table.upsert(recording_table([MadeRecording("/a", "1"), MadeRecording("/b", "2")]))
    table.upsert(recording_table([MadeRecording("/b", "3"), MadeRecording('/it\'s "c"\n', "4")]))
    assert recordings_in(archive) == [("/a", "1"), ("/b", "3"), ('/it\'s "c"\n', "4")]


def test_an_update_passes_over_keys_that_are_not_there(archive):
    arrow = pytest.importorskip("pyarrow")
    table = Table.named(archive, "recordings")
    table.upsert(recording_table([MadeRecording("/a", "1"), MadeRecording("/b", "2")]))
    table.update(arrow.table({"path": ["/b", "/none"], "content": ["9", "9"]}))
    assert recordings_in(archive, "path, content, bytes") == [("/a", "1", 1), ("/b", "9", 1)]


def test_columns_that_were_added_are_kept_by_an_upsert(archive):
    arrow = pytest.importorskip("pyarrow")
    table = Table.named(archive, "recordings")
    table.upsert(recording_table([MadeRecording("/a", "1")]))
    table.add_columns({"site": arrow.string(), "depth": arrow.float64()})
    assert Snapshot(archive).further_columns() == ["site", "depth"]
    table.update(arrow.table({"path": ["/a"], "site": ["north"], "depth": [2.5]}))
    table.upsert(recording_table([MadeRecording("/a", "2"), MadeRecording("/b", "3")]))
    assert recordings_in(archive, "path, content, site, depth") == [("/a", "2", "north", 2.5), ("/b", "3", None, None)]


def test_columns_without_a_value_so_far_can_be_asked_for(archive):
    arrow = pytest.importorskip("pyarrow")
    table = Table.named(archive, "recordings")
    table.upsert(recording_table([MadeRecording("/a", "1")]))
    for _ in range(2):  # as after a kill
        table.add_columns({"site": arrow.string()})
    assert recordings_in(archive, "path, site") == [("/a", None)]
    table.add_columns({"site": arrow.string(), "depth": arrow.float64()})
    assert recordings_in(archive, "path, site, depth") == [("/a", None, None)]


def test_a_deletion_removes_what_it_names(archive):
    append(archive, "windows", windows_of("a", "b"))
    Table.named(archive, "windows").delete("content IN ('a', 'none')")
    assert counted(archive) == {"b": 3}


def test_writers_of_all_kinds_at_once(archive):
    end_well([start(change_recordings, archive, name) for name in "xy"])
    *own, (shared, content) = sorted(recordings_in(archive), key=lambda row: row[0] == "/shared")
    assert own == [(f"/{name}-{i}", name) for name in "xy" for i in (1, 2, 3)]
    assert (shared, content in ("x", "y")) == ("/shared", True)


def test_compaction_joins_files_and_changes_no_row(archive):
    table = Table.named(archive, "windows")
    for content in "abcd":
        append(archive, "windows", windows_of(content))
    n_joined, n_removed = table.compact(keep_days=0)
    assert (n_joined, n_removed) == (4, 4)
    assert len(files_of(table.open())) == 1
    assert counted(archive) == dict.fromkeys("abcd", 3)
    assert inserter(archive).insert(lambda version: windows_of("a", "e")) == {"e"}


def test_a_compaction_keeps_versions_of_the_last_days(archive):
    before = inserter(archive)
    before.insert(lambda version: windows_of("a"))
    append(archive, "windows", windows_of("b"))
    snapshot = Snapshot(archive)
    assert Table.named(archive, "windows").compact(keep_days=7) == (2, 0)
    assert snapshot.rows("SELECT count(*) FROM windows") == [(6,)]


# --- what is not there, is something else or is damaged -------------------------------------------------------------


def questions(address):
    """What a user may ask of an archive, by name."""
    archive = Archive(str(address), run())
    return {
        "snapshot": lambda: Snapshot(str(address)).models,
        "find": archive.find,
        "status": archive.status,
        "verify": archive.verify,
        "windows": lambda: archive.windows().to_arrow(),
        "recordings": lambda: archive.recordings().to_arrow(),
        "sql": lambda: Snapshot(str(address)).ask("FROM occurrences"),
        "compact": archive.compact,
        "prune": archive.prune,
    }


QUESTIONS = sorted(questions("/none"))


def refused_in_one_line(address, question, words=None):
    with pytest.raises(AudioclassError, match=words) as told:
        questions(address)[question]()
    assert "\n" not in str(told.value)
    assert str(address) in str(told.value)


def test_an_archive_that_is_not_there_is_told(tmp_path):
    for question in QUESTIONS:
        refused_in_one_line(tmp_path / "none", question, "no archive; `audioclass index add` makes one")
    assert not (tmp_path / "none").exists()


def test_a_file_and_a_folder_of_something_else_are_no_archive(tmp_path):
    (tmp_path / "notes.txt").write_text("no table")
    for question in QUESTIONS:
        refused_in_one_line(tmp_path, question, "no archive")
        refused_in_one_line(tmp_path / "notes.txt", question)


def test_nothing_is_added_to_a_folder_of_something_else(tmp_path, model_file):
    (tmp_path / "notes.txt").write_text("no table")
    with pytest.raises(UsageError, match="holds other files; an archive needs a folder of its own"):
        create_archive(clean_address(tmp_path))
    with pytest.raises(UsageError, match=r"notes\.txt: is a file, an archive is a folder"):
        create_archive(clean_address(tmp_path / "notes.txt"))
    with pytest.raises(UsageError, match="cannot be made: Not a directory"):
        create_archive(clean_address(tmp_path / "notes.txt" / "below"))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.fixture
def filled(tmp_path):
    """An archive with a row in every table."""
    folder = make_archive(tmp_path / "archive", [MadeRecording("/a", "a")], [], [["a"], ["b"]])
    append(folder, "windows", windows_of("a"))
    append(folder, "analyses", analysis_table(["a"], 3))
    return folder


@pytest.mark.parametrize("damage", [b"{", b"\xff\xfe", b'{"add": 3}\n', b"[]"])
def test_a_damaged_log_is_told(filled, damage):
    (filled / "recordings" / "_delta_log" / f"{1:020}.json").write_bytes(damage)
    for question in ("find", "verify", "compact"):
        refused_in_one_line(filled, question)


def test_a_log_that_is_gone_is_told(filled):
    shutil.rmtree(filled / "windows" / "_delta_log")
    for question in QUESTIONS:
        refused_in_one_line(filled, question, "no archive")


def parquet_file(folder, table):
    (path,) = (folder / table).rglob("*.parquet")
    return path


@pytest.mark.parametrize("table", ["recordings", "models", "analyses", "windows"])
@pytest.mark.parametrize("damage", ["gone", "cut", "empty"])
def test_a_damaged_table_file_is_told(filled, table, damage):
    path = parquet_file(filled, table)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
    if damage == "gone":
        path.unlink()
    refused_in_one_line(filled, "sql")  # others read only the tables that they need
    if table == "recordings":
        assert any("cannot be read" in problem for problem in Archive(str(filled), run()).verify().problems)
    else:
        refused_in_one_line(filled, "verify")
    for question in {"recordings": ["recordings", "status"], "models": ["find"], "windows": ["windows"]}.get(table, []):
        refused_in_one_line(filled, question)


def test_an_insertion_beside_a_file_that_is_gone_is_told(filled):
    parquet_file(filled, "windows").unlink()
    with pytest.raises(AudioclassError, match="windows"):
        inserter(clean_address(filled)).insert(lambda version: windows_of("b"))


def test_a_disk_without_room_is_told(archive, monkeypatch):
    def full(*arguments, **options):
        raise delta().exceptions.DeltaError("Generic error: No space left on device (os error 28)")

    monkeypatch.setattr(delta(), "write_deltalake", full)
    with pytest.raises(StorageError, match=f"{archive}: cannot be written: no room"):
        append(archive, "windows", windows_of("a"))


# --- where an archive lies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two words", 'it\'s "mine"', "été 音", "100#?x", "a=b", "{a,b}", "st*r"])
def test_an_archive_may_lie_in_a_folder_of_any_name(tmp_path, name):
    folder = make_archive(tmp_path / name, [MadeRecording("/a", "a")], [], [["a"], ["b"]])
    append(folder, "windows", windows_of("a"))
    assert inserter(clean_address(folder)).insert(lambda version: windows_of("a", "b")) == {"b"}
    assert counted(folder) == {"a": 3, "b": 3}
    assert Table.named(clean_address(folder), "windows").compact(0) == (2, 2)
    assert Snapshot(folder).ask("SELECT count(*) AS n FROM windows") == (["n"], [(6,)])


@pytest.mark.parametrize("name", ["a%20b", "a[1]", "a\\b", "a\nb", "a|b", "a^b", "a\udcffb"])
def test_a_folder_that_the_format_cannot_name_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="the table format takes no") as told:
        clean_address(tmp_path / name)
    assert "\n" not in str(told.value)
    str(told.value).encode()


def test_an_address_is_absolute_and_one_of_a_store_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert clean_address("archive/") == str(tmp_path / "archive")
    assert clean_address(f"file://{tmp_path}/archive") == str(tmp_path / "archive")
    assert clean_address("s3://bucket/archive/") == "s3://bucket/archive"


@pytest.mark.parametrize("a_part", [1, 1000], ids=["in parts", "at once"])
def test_windows_that_are_there_twice_and_segments_that_overlap_are_counted(filled, monkeypatch, a_part):
    monkeypatch.setattr(archive_upkeep, "WINDOWS_A_PART", a_part)
    for content in "bcd":
        append(filled, "windows", windows_of(content))
        append(filled, "analyses", analysis_table([content], 3))
    for content in "bd":
        append(filled, "windows", windows_of(content, n=1))
    segments = [
        MadeSegment(content, start, start + 1.5, "a", 1.0) for content in "abcd" for start in (0, 1 + (content < "c"))
    ]
    append(filled, "segments", segment_table(segments, ["a", "b"]))
    assert verify(filled, run()).problems[:3] == [
        "2 recordings have other windows than were written, such as b",
        "2 recordings have windows that overlap themselves: written twice, such as b",
        "2 recordings have segments that overlap, such as c",
    ]


def test_verification_reads_every_table(filled):
    assert verify(filled, run()).problems == [
        "1 recordings have windows and no segments, such as a",
        "the file of model made (0123456789ab) is damaged",
    ]
    assert set(TABLES) == {path.name for path in filled.iterdir()}

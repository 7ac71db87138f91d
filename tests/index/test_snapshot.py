"""An archive as it is read: at one moment, by questions of its own, and by others that know nothing of audioclass."""

import json
import subprocess
import sys

import pytest
import soundfile
from made_archives import MadeRecording, MadeSegment, append, make_archive, recording_table
from runs import run
from trained import LABELS, RATE, sound

from audioclass.engine.archives import Archive
from audioclass.errors import UsageError
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Table, clean_address

READING = """
import json, sys
sys.modules["audioclass"] = None
import duckdb, polars, pyarrow
from deltalake import DeltaTable
try:
    import audioclass
    raise SystemExit("audioclass can be imported")
except ImportError:
    pass
archive, answers = sys.argv[1], {}
for name in ("recordings", "windows", "segments"):
    table = DeltaTable(f"{archive}/{name}")
    frame = table.to_pandas()
    lazy = polars.scan_delta(f"{archive}/{name}")
    files = duckdb.read_parquet(table.file_uris(), hive_partitioning=True)
    dataset = table.to_pyarrow_dataset()
    answers[name] = {
        "pandas": len(frame),
        "polars": polars.read_delta(f"{archive}/{name}").height,
        "lazy": lazy.select(polars.len()).collect().item(),
        "files": duckdb.sql("SELECT count(*) FROM files").fetchall()[0][0],
        "dataset": duckdb.sql("SELECT count(*) FROM dataset").fetchall()[0][0],
    }
    if name == "segments":
        answers["labels"] = {
            "pandas": sorted(frame["label"]),
            "polars": sorted(lazy.select("label").collect()["label"].to_list()),
            "files": [row[0] for row in duckdb.sql("SELECT label FROM files ORDER BY label").fetchall()],
            "dataset": [row[0] for row in duckdb.sql("SELECT label FROM dataset ORDER BY label").fetchall()],
        }
        answers["seconds"] = {
            "pandas": float((frame["end_s"] - frame["start_s"]).sum()),
            "polars": lazy.select((polars.col("end_s") - polars.col("start_s")).sum()).collect().item(),
            "files": duckdb.sql("SELECT sum(end_s - start_s) FROM files").fetchall()[0][0],
            "dataset": duckdb.sql("SELECT sum(end_s - start_s) FROM dataset").fetchall()[0][0],
        }
        answers["models"] = {
            "pandas": sorted(set(frame["model"])),
            "polars": lazy.select("model").unique().collect()["model"].to_list(),
            "files": [row[0] for row in duckdb.sql("SELECT DISTINCT model FROM files").fetchall()],
            "dataset": [row[0] for row in duckdb.sql("SELECT DISTINCT model FROM dataset").fetchall()],
        }
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory, model_file):
    """Six recordings, added three at a time, one of them found again in another place."""
    folder = tmp_path_factory.mktemp("read") / "recordings"
    folder.mkdir()
    archive = Archive(str(folder.parent / "archive"), run())
    for i in range(6):
        soundfile.write(folder / f"20190403_1{i}0000.wav", sound(LABELS[i % 3], i), RATE)
        if i % 3 == 2:
            archive.add(folder, model=model_file)
    (folder / "20190403_100000.wav").rename(folder / "moved.wav")
    archive.add(folder, model=model_file)
    return archive


def test_others_read_the_same_without_audioclass(archive):
    done = subprocess.run([sys.executable, "-c", READING, archive.address], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    tables = {"recordings": archive.recordings(), "windows": archive.windows(), "segments": archive.segments()}
    for name, table in tables.items():
        assert set(answers[name].values()) == {table.to_arrow().num_rows}, name
    frame = archive.segments().to_pandas()
    for by, labels in answers["labels"].items():
        assert labels == sorted(frame["label"]), by
        assert answers["seconds"][by] == pytest.approx((frame["end_s"] - frame["start_s"]).sum())
        assert answers["models"][by] == [Snapshot(archive.address).model().id]


def test_tables_go_to_arrow_pandas_and_polars_alike(archive):
    for table in (archive.recordings(), archive.windows(), archive.segments("small")):
        arrow, frame, polars = table.to_arrow(), table.to_pandas(), table.to_polars()
        assert arrow.num_rows == len(frame) == polars.height > 0
        assert arrow.column_names == list(frame.columns) == polars.columns


def test_a_snapshot_does_not_change(tmp_path):
    folder = make_archive(tmp_path / "archive", [MadeRecording("/a", "a")], [], [["a"], ["b"]])
    before = Snapshot(str(folder))
    assert before.rows("SELECT path FROM recordings") == [("/a",)]
    Table.named(clean_address(folder), "recordings").upsert(recording_table([MadeRecording("/b", "b")]))
    Table.named(clean_address(folder), "recordings").compact(7)
    assert before.rows("SELECT path FROM recordings") == [("/a",)]
    assert Snapshot(str(folder)).rows("SELECT path FROM recordings ORDER BY path") == [("/a",), ("/b",)]


def test_clock_times_do_not_depend_on_the_zone_of_the_machine(archive):
    script = (
        "import sys; from audioclass.index.snapshot import Snapshot\n"
        "print(Snapshot(sys.argv[1]).ask('SELECT path, started_at, local_time FROM occurrences ORDER BY ALL'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, archive.address],
            capture_output=True,
            text=True,
            check=True,
            env={"TZ": zone, "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        ).stdout
        for zone in ("UTC", "Asia/Kolkata")
    }
    assert len(outputs) == 1
    assert "datetime.datetime(2019, 4, 3, 15, 0)" in outputs.pop()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/never.csv'",
        "SET enable_external_access = true",
        "SELEC",
        "SELECT none FROM segments",
        "DROP VIEW segments",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_a_question_reads_only_and_nothing_but_the_archive(archive, sql):
    with pytest.raises(UsageError, match="--sql") as told:
        Snapshot(archive.address).ask(sql)
    assert "\n" not in str(told.value)


def test_a_question_of_ones_own_gives_names_and_rows(archive):
    names, rows = Snapshot(archive.address).ask(
        "SELECT label, count(*) AS n FROM segments GROUP BY label ORDER BY label"
    )
    assert (names, rows) == (["label", "n"], [(label, 2) for label in LABELS])
    [(added,)] = Snapshot(archive.address).ask("SELECT max(added_at) FROM recordings")[1]
    assert added.utcoffset().total_seconds() == 0


def test_quotes_in_names_are_harmless(tmp_path):
    recordings = [MadeRecording('/it\'s "a"; DROP TABLE x.wav', "a")]
    segments = [MadeSegment("a", 0, 1, "it's", 0.5)]
    folder = make_archive(tmp_path / "it's", recordings, segments, [["it's"], ["b"]])
    append(folder, "recordings", recording_table([]))
    found = Archive(str(folder), run()).find("it's", path="it's*").result
    assert found.files == (recordings[0].path,)

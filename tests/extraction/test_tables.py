import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
from runs import recipe as load_recipe
from runs import run
from signals import noise

from audioclass.engine.features import extract_many
from audioclass.errors import UsageError
from audioclass.extraction.tables import table_writer, write_table

RECIPE = load_recipe("broadcast")


@pytest.fixture
def done(tmp_path):
    """Two recordings extracted, one of them with a name that is not ASCII, and one that failed."""
    for name in ("vogelgesang.wav", "öffnen.wav"):
        soundfile.write(tmp_path / name, noise(3.0), 16000)
    (tmp_path / "zerstört.wav").write_text("no audio")
    with extract_many([tmp_path], RECIPE, run(tmp_path / "cache")) as extraction:
        return list(extraction)


def features(outcome):
    return outcome.cached.load(RECIPE)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    return heads, rows


def test_csv_has_a_line_for_each_window(tmp_path, done):
    assert write_table(tmp_path / "out.csv", done, RECIPE) == 4
    heads, rows = read_csv(tmp_path / "out.csv")
    assert heads == ["file", "start", "end", *RECIPE.columns]
    assert {Path(row[0]).name for row in rows} == {"vogelgesang.wav", "öffnen.wav"}
    values = np.array([[float(value) for value in row[3:]] for row in rows], np.float32)
    assert np.array_equal(values, np.concatenate([features(outcome).X for outcome in done if outcome.cached]))


def test_npz_opens_without_pickle(tmp_path, done):
    write_table(tmp_path / "out.npz", done, RECIPE)
    with np.load(tmp_path / "out.npz", allow_pickle=False) as table:
        assert table["X"].shape == (4, len(RECIPE.columns))
        assert table["groups"].tolist() == list(RECIPE.groups)
        assert Path(table["files"][table["file"][-1]]).name == "öffnen.wav"
        assert np.array_equal(table["X"][:2], features(done[0]).X)
        assert table["end"].tolist() == [
            s.end for outcome in done if outcome.cached for s in features(outcome).segments
        ]


def test_parquet_is_read_by_pyarrow(tmp_path, done):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write_table(tmp_path / "out.parquet", done, RECIPE)
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["file", "start", "end", *RECIPE.columns]
    values = np.array(table.column(RECIPE.columns[0]).to_pylist(), np.float32)
    assert np.array_equal(values, np.concatenate([features(outcome).X[:, 0] for outcome in done if outcome.cached]))


@pytest.mark.parametrize(
    ("name", "message"),
    [("out.xls", "unknown format '.xls'"), ("out", "unknown format 'out'"), ("none/out.csv", "none: not a folder")],
)
def test_a_table_that_cannot_be_written_is_known_before_the_work(tmp_path, name, message):
    with pytest.raises(UsageError, match=message):
        table_writer(tmp_path / name)


def test_a_table_that_cannot_be_put_in_place_leaves_nothing(tmp_path, done):
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(UsageError, match="taken.csv: cannot be written"):
        write_table(tmp_path / "taken.csv", done, RECIPE)
    assert not list(tmp_path.glob(".*.part"))

from datetime import UTC, datetime, timedelta

import pytest

from audioclass.audio.recorded import ClockRule
from audioclass.engine.metadata_tables import MetadataTable, plain_names
from audioclass.errors import AudioclassError, UsageError
from audioclass.index.schema import TABLES

pytest.importorskip("duckdb")


def table(folder, text, clock=None, name="sites.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return MetadataTable.read(folder / name, clock)


def test_columns_are_numbers_where_all_of_their_values_are(tmp_path):
    read = table(tmp_path, "file,Site,depth (m),note\na.wav,Pond,1.5,\nb.wav,,-2e1,old\n")
    files = [tmp_path / "a.wav", tmp_path / "b.wav", tmp_path / "c.wav"]
    assert read.columns == ("site", "depth_m", "note")
    assert [read.is_text(name) for name in read.columns] == [True, False, True]
    assert read.column("depth_m", files, is_text=False) == [1.5, -20.0, None]
    assert read.column("site", files, is_text=True) == ["Pond", None, None]
    assert read.column("note", files, is_text=True) == [None, "old", None]


@pytest.mark.parametrize("text", ["007", "1_2", "nan", "inf", "12a", "1 2", "٣", "0x10", "1,5"])
def test_what_is_no_plain_number_stays_a_text(tmp_path, text):
    read = table(tmp_path, f'file,tape\na.wav,"{text}"\n')
    assert read.is_text("tape")
    assert read.column("tape", [tmp_path / "a.wav"], is_text=True) == [text]


@pytest.mark.parametrize("text", ["0", "-3", "+4.25", ".5", "7.", "1e-3", "0.10"])
def test_plain_numbers_are_numbers(tmp_path, text):
    read = table(tmp_path, f"file,depth\na.wav,{text}\n")
    assert not read.is_text("depth")
    assert read.column("depth", [tmp_path / "a.wav"], is_text=False) == [float(text)]


def test_a_column_without_values_is_left_out(tmp_path):
    assert table(tmp_path, "file,site,nothing\na.wav,Pond,\nb.wav,Hill, \n").columns == ("site",)


def test_start_times_have_the_zone_they_state_or_the_one_of_the_clock(tmp_path):
    text = "file,recorded_at\na.wav,2019-04-03T19:17:30\nb.wav,2019-04-03 19:17:30+00:00\nc.wav,\n"
    times = table(tmp_path, text, ClockRule(timezone="Europe/Zurich")).times
    assert sorted(times) == [tmp_path / "a.wav", tmp_path / "b.wav"]
    assert times[tmp_path / "a.wav"].at == datetime(2019, 4, 3, 17, 17, 30, tzinfo=UTC)
    assert times[tmp_path / "b.wav"].at == datetime(2019, 4, 3, 19, 17, 30, tzinfo=UTC)
    assert {one.offset for one in times.values()} == {timedelta(hours=2)}
    assert {one.source for one in times.values()} == {"table"}


@pytest.mark.parametrize("stated", ["a.wav", "../there/a.wav", "{folder}/a.wav", "./a.wav"])
def test_files_are_named_from_the_folder_of_the_table_or_wholly(tmp_path, stated):
    folder = tmp_path / "there"
    folder.mkdir()
    read = table(folder, f"file,site\n{stated.format(folder=folder)},Pond\n")
    assert list(read.fields) == [folder / "a.wav"]
    read.check([folder / "a.wav", folder / "b.wav"])


def test_tabs_may_separate(tmp_path):
    assert table(tmp_path, "file\tsite\na.wav\tPond\n", name="sites.tsv").columns == ("site",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("site\nPond\n", "sites.csv, line 1: no column 'file'; found: 'site'"),
        ("file,site\n", "sites.csv: names no recording"),
        ("file,site\na.wav,x\n./a.wav,y\n", "sites.csv, line 3: ./a.wav is there twice"),
        ("file,recorded_at\na.wav,yesterday\n", "sites.csv, line 2: start time 'yesterday' must be a date and a time"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(tmp_path, text, message):
    with pytest.raises(AudioclassError, match=message):
        table(tmp_path, text)


def test_a_table_of_other_recordings_is_refused(tmp_path):
    read = table(tmp_path, "file,site\na.wav,Pond\n")
    with pytest.raises(UsageError, match=r"sites.csv: none of the recordings is in it; its first is .*a\.wav"):
        read.check([tmp_path / "b.wav"])


def test_names_of_columns_need_no_quotes_and_are_none_of_ours():
    names = ["Site", "site", "SELECT", "label", "12", "Höhe", "—", "local_time", "a b-c", "path"]
    plain = plain_names(names)
    assert list(plain) == names
    assert len(set(plain.values())) == len(names)
    assert all(name.isidentifier() and name.isascii() and name == name.lower() for name in plain.values())
    assert not set(plain.values()) & {name for schema in TABLES.values() for name in schema.columns}
    assert plain["Site"] == "site"
    assert plain["SELECT"] == "select_"
    assert plain["12"] == "c_12"

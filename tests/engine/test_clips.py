import csv
import shutil

import numpy as np
import pytest
import soundfile
from evenings import Evening
from runs import run
from trained import RATE

from audioclass.engine.clips import check_clips_folder, cut_clips
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.metadata_tables import MetadataTable
from audioclass.errors import UsageError


def rows_of(folder):
    with (folder / "clips.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_segment_is_a_clip_with_its_samples_and_a_row(evening, tmp_path):
    found = evening.open().find()
    assert cut_clips(found, tmp_path) == {}
    rows = rows_of(tmp_path)
    assert len(rows) == len(found.result.segments) == len(list(tmp_path.iterdir())) - 1
    for row, segment, file in zip(rows, found.result.segments, found.result.files, strict=True):
        whole, _ = soundfile.read(file, always_2d=True)
        samples, sample_rate = soundfile.read(tmp_path / row["file"], always_2d=True)
        np.testing.assert_array_equal(samples, whole[round(segment.start * RATE) : round(segment.end * RATE)])
        assert sample_rate == RATE
        assert (row["label"], row["recording"]) == (segment.label, file)
        assert float(row["recording_start"]) == pytest.approx(segment.start, abs=1e-3)
        assert float(row["recording_end"]) == pytest.approx(segment.end, abs=1e-3)


def test_clips_are_in_the_order_that_was_asked_for_and_say_when(evening, tmp_path):
    cut_clips(evening.open().find("noise", sort="-time"), tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.flac"))
    assert [name[:22] for name in names] == [
        *("1_noise_20190512_12000", "2_noise_20190404_06595", "3_noise_20190403_23595", "4_noise_undated_0.00-2"),
    ]
    rows = rows_of(tmp_path)
    assert [row["recorded_at"][:19] for row in rows] == [
        *("2019-05-12 12:00:02", "2019-04-04 06:59:56", "2019-04-03 23:59:58", ""),
    ]
    assert {row["similarity"] for row in rows} == {""}


def test_the_table_is_a_corpus_and_tells_an_archive_when(evening, tmp_path):
    cut_clips(evening.open().find(), tmp_path)
    corpus = read_corpus_at(tmp_path / "clips.csv", run())
    assert sorted({clip.label for clip in corpus.clips}) == ["clicks", "noise", "tone"]
    table = MetadataTable.read(tmp_path / "clips.csv")
    assert len(table.times) == 12
    assert "label_" in table.columns


def test_a_recording_that_is_gone_is_told_and_the_others_are_cut(evening, tmp_path, model_file):
    copied = Evening(tmp_path / "recordings", tmp_path / "archive")
    copied.recordings.mkdir()
    for name in ("20190403_235955.wav", "undated.flac"):
        shutil.copy(evening.recordings / name, copied.recordings)
    copied.open().add(copied.recordings, model=model_file)
    found = copied.open().find("noise")
    (copied.recordings / "20190403_235955.wav").unlink()
    clips = tmp_path / "clips"
    clips.mkdir()
    [reason] = cut_clips(found, clips).values()
    assert reason == f"{copied.recordings / '20190403_235955.wav'}: no such file"
    assert [row["recording"] for row in rows_of(clips)] == [str(copied.recordings / "undated.flac")]


@pytest.mark.parametrize("what", ["file", "filled folder"])
def test_clips_never_mix_with_other_files(tmp_path, what):
    place = tmp_path / "clips"
    if what == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="clips: must be a new or an empty folder"):
        check_clips_folder(place)


def test_a_folder_of_clips_is_made_with_those_above_it(tmp_path):
    check_clips_folder(tmp_path / "a" / "b")
    check_clips_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()

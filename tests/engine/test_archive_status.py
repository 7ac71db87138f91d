from datetime import datetime
from pathlib import Path

import pytest
from evenings import Evening
from made_archives import MadeRecording, MadeSegment, make_archive
from runs import run

from audioclass.engine.archive_status import status_of
from audioclass.engine.archives import open_archive
from audioclass.index.snapshot import Snapshot

EARLY, LATE = datetime(2019, 4, 3, 23, 30), datetime(2020, 1, 1)


def test_an_evening_is_counted(evening):
    held = evening.open().status()
    assert (held.n_recordings, held.n_failed, held.n_removed, held.n_clocked) == (5, 1, 0, 3)
    assert held.seconds == pytest.approx(42)
    assert (held.first, held.last) == (datetime(2019, 4, 3, 23, 59, 55), datetime(2019, 5, 12, 12))
    [model] = held.models
    assert (model.name, model.n_labels, model.n_recordings, model.n_segments) == ("small", 3, 5, 14)
    assert '"smooth": "hmm"' in model.options


def test_space_is_that_of_the_files(evening):
    held = evening.open().status()
    files = list(Path(evening.archive).rglob("*.parquet"))
    assert held.n_files == len(files) == 5
    assert held.n_bytes == sum(file.stat().st_size for file in files)


def test_times_are_those_of_the_local_clock_and_of_recordings_that_are_there(tmp_path):
    recordings = [
        MadeRecording("/a.wav", "a", EARLY.replace(day=2), 60, is_removed=True),
        MadeRecording("/b.wav", "b", EARLY, 60),
        MadeRecording("/c.wav", "c", LATE, -60),
        MadeRecording("/d.wav", "d", LATE.replace(year=2021), 0, is_removed=True),
    ]
    archive = make_archive(tmp_path / "archive", recordings, [MadeSegment("b", 0, 1, "x", 0.5)], [["x"], ["y"]])
    held = status_of(Snapshot(str(archive)))
    assert (held.n_recordings, held.n_removed, held.n_clocked) == (2, 2, 2)
    assert (held.first, held.last) == (datetime(2019, 4, 4, 0, 30), datetime(2019, 12, 31, 23))


def test_every_addition_is_a_version(tmp_path, evening, model_file):
    other = Evening(evening.recordings, tmp_path / "archive")
    archive = open_archive(other.archive, run=run())
    archive.add(evening.recordings / "undated.flac", model=model_file)
    once = archive.status()
    archive.add(evening.recordings / "20190512_120000.wav", model=model_file)
    twice = archive.status()
    assert (once.n_recordings, twice.n_recordings) == (1, 2)
    assert {name: twice.versions[name] - once.versions[name] for name in once.versions} == {
        "recordings": 1,
        "models": 0,
        "analyses": 1,
        "windows": 1,
        "segments": 1,
    }

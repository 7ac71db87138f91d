"""Segments that are made anew: the same rows in any number of tasks, which are made when they are needed."""

import shutil
from collections import Counter

import pytest
import soundfile
from runs import run
from trained import LABELS, RATE, mixture, sound

from audioclass.engine import archive_segments
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_segments import Resegmenter
from audioclass.engine.archives import Archive
from audioclass.engine.indexing import create_archive
from audioclass.errors import UsageError
from audioclass.index.snapshot import Snapshot

CHOICE = SegmentChoice("none")
N_RECORDINGS = 4


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """One of each label, and one with all of them."""
    folder = tmp_path_factory.mktemp("recordings")
    for i, label in enumerate(LABELS):
        soundfile.write(folder / f"{label}.wav", sound(label, i), RATE)
    soundfile.write(folder / "mixture.wav", mixture(seconds=2.0), RATE)
    return folder


@pytest.fixture(scope="module")
def added(recordings, model_file, tmp_path_factory):
    """An archive of them, with segments as CHOICE makes them."""
    archive = Archive(str(tmp_path_factory.mktemp("added") / "archive"), run())
    archive.add(recordings, model=model_file, segments=CHOICE)
    return archive


@pytest.fixture
def copied(added, tmp_path):
    """The same archive, at hand for one test."""
    return shutil.copytree(added.address, tmp_path / "archive")


@pytest.fixture
def small_tasks(monkeypatch):
    """A task for each recording, whose windows are read alone."""
    monkeypatch.setattr(archive_segments, "WINDOWS_TOGETHER", 1)
    monkeypatch.setattr(archive_segments, "WINDOWS_A_TASK", 1)


def rows(archive):
    return archive.segments().to_arrow().sort_by([("content", "ascending"), ("start_s", "ascending")])


@pytest.mark.parametrize(("together", "a_task"), [(1, 1000), (10, 1), (1000, 10), (1000, 1000)])
def test_rows_do_not_depend_on_how_windows_are_read_and_shared_out(copied, added, monkeypatch, together, a_task):
    monkeypatch.setattr(archive_segments, "WINDOWS_TOGETHER", together)
    monkeypatch.setattr(archive_segments, "WINDOWS_A_TASK", a_task)
    archive = Archive(str(copied), run())
    assert archive.segment(CHOICE) == rows(added).num_rows
    assert rows(archive).equals(rows(added))


@pytest.mark.usefixtures("small_tasks")
def test_rows_do_not_depend_on_the_number_of_jobs(copied, added):
    archive = Archive(str(copied), run(jobs=2))
    assert archive.segment(CHOICE) == rows(added).num_rows
    assert rows(archive).equals(rows(added))


@pytest.mark.usefixtures("small_tasks")
def test_windows_are_read_when_those_before_are_done(copied, monkeypatch):
    contents, n_read, n_done, read = [], [], [], archive_segments.stored_windows

    def noting(snapshot, model, some):
        contents.extend(some)
        return read(snapshot, model, some)

    def note_progress(stage, done, total):
        n_read.append(len(contents))
        n_done.append((stage, done, total))

    monkeypatch.setattr(archive_segments, "stored_windows", noting)
    Archive(str(copied), run(progress=note_progress)).segment(CHOICE)
    assert n_read == [1, 2, 3, N_RECORDINGS]
    [(n_windows,)] = Snapshot(str(copied)).rows("SELECT count(*) FROM windows")
    assert n_done[-1] == ("windows", n_windows, n_windows)


@pytest.mark.usefixtures("small_tasks")
def test_recordings_that_are_added_meanwhile_are_made_too_and_no_other_twice(
    copied, recordings, model_file, monkeypatch, tmp_path
):
    soundfile.write(tmp_path / "later.wav", mixture(("noise", "tone"), 1.0), RATE)
    made, make = Counter(), Resegmenter.__call__

    def add_meanwhile(self, task):
        if not made:
            Archive(str(copied), run()).add(tmp_path / "later.wav", model=model_file)
        made.update(task.keys())
        return make(self, task)

    monkeypatch.setattr(Resegmenter, "__call__", add_meanwhile)
    archive = Archive(str(copied), run())
    choice = SegmentChoice("median")
    assert archive.segment(choice) == rows(archive).num_rows
    assert sorted(made.values()) == [1] * (N_RECORDINGS + 1)
    assert set(rows(archive)["options"].to_pylist()) == {choice.to_json()}
    assert set(rows(archive)["content"].to_pylist()) == set(made)
    assert archive.verify().problems == []


def test_whole_numbers_are_the_same_options(copied, model_file, tmp_path):
    soundfile.write(tmp_path / "later.wav", mixture(("noise", "tone"), 1.0), RATE)
    archive = Archive(str(copied), run())
    archive.segment(SegmentChoice("none", 1))
    archive.add(tmp_path / "later.wav", model=model_file)
    assert archive.verify().problems == []


def test_an_archive_of_recordings_without_windows_has_no_segments(tmp_path, model_file):
    (tmp_path / "empty.wav").write_bytes(b"")
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(tmp_path / "empty.wav", model=model_file)
    assert (archive.segment(CHOICE), rows(archive).num_rows) == (0, 0)


def test_an_archive_without_a_model_is_refused(tmp_path):
    create_archive(str(tmp_path / "archive"))
    with pytest.raises(UsageError, match="holds no results yet"):
        Archive(str(tmp_path / "archive"), run()).segment(CHOICE)

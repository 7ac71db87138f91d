"""An archive that grows: only what is new is computed, whoever else writes and whenever a writer is killed."""

import os
import random
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from runs import run
from trained import LABELS, RATE, mixture, sound
from writers import add, end_well, segment, start

from audioclass.engine import analysing, archive_upkeep, indexing
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archives import Archive
from audioclass.engine.classifying import classify
from audioclass.errors import UsageError
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Table


@dataclass(frozen=True)
class Whole:
    """A folder with `recordings` and an `archive` of them, and where it is kept as it was at first."""

    place: Path
    kept: Path


@pytest.fixture(scope="module")
def whole(model_file, tmp_path_factory):
    """Four recordings, the last with all labels in it, and an archive of them."""
    place = tmp_path_factory.mktemp("place")
    (place / "recordings").mkdir()
    for i, label in enumerate(LABELS):
        soundfile.write(place / "recordings" / f"{i} {label}.wav", sound(label, i), RATE)
    soundfile.write(place / "recordings" / "mixture.wav", mixture(seconds=2.0), RATE)
    Archive(str(place / "archive"), run()).add(place / "recordings", model=model_file)
    kept = shutil.copytree(place, tmp_path_factory.mktemp("kept"), dirs_exist_ok=True)
    return Whole(place, kept)


@pytest.fixture
def folder(whole):
    """The four recordings, as they were."""
    shutil.rmtree(whole.place)
    shutil.copytree(whole.kept, whole.place)
    return whole.place / "recordings"


@pytest.fixture
def added(folder):
    """The archive of these four, as it was."""
    return Archive(str(folder.parent / "archive"), run())


@pytest.fixture
def archive(tmp_path):
    return Archive(str(tmp_path / "archive"), run())


@pytest.fixture
def analysed(monkeypatch):
    """The names of the recordings that are analysed, as they are."""
    names, analyse = [], analysing.Analyst._analysed

    def noting(self, known, *others):
        names.append(known.path.name)
        return analyse(self, known, *others)

    monkeypatch.setattr(analysing.Analyst, "_analysed", noting)
    return names


def rows(archive, table="windows", columns="* EXCLUDE (model)"):
    """All rows of a table as plain values."""
    order = "ORDER BY content, start_s" if table != "recordings" else "ORDER BY path"
    return Snapshot(archive.address).arrow(f"SELECT {columns} FROM {table} {order}").to_pylist()


def paths(archive, condition="removed_at IS NULL"):
    asked = f"SELECT path FROM recordings WHERE {condition} ORDER BY path"
    return [Path(path).name for (path,) in Snapshot(archive.address).rows(asked)]


def is_well(archive):
    verified = archive.verify(contents=True)
    return not verified.problems and not verified.notes


# --- only what is new -----------------------------------------------------------------------------------------------


def test_what_is_known_is_not_computed_again(archive, folder, model_file, analysed):
    first = archive.add(folder, model=model_file)
    assert (first.n_recordings, first.n_computed, first.n_windows) == (4, 4, len(rows(archive)))
    assert sorted(analysed) == paths(archive)
    analysed.clear()
    again = archive.add(folder, model=model_file)
    assert (again.n_unchanged, again.n_computed, analysed) == (4, 0, [])
    assert is_well(archive)


def test_a_recording_that_changed_is_computed_again(added, folder, model_file, analysed):
    soundfile.write(folder / "0 clicks.wav", sound("tone", 5, 1.5), RATE)
    assert added.add(folder, model=model_file).n_computed == 1
    assert analysed == ["0 clicks.wav"]
    assert len(paths(added)) == 4
    assert is_well(added)
    [segment] = added.find(path="0 clicks.wav").result.segments
    assert (segment.label, segment.end) == ("tone", 1.5)


def test_what_a_table_said_goes_with_a_recording_and_stays_when_it_is_touched(archive, folder, model_file, tmp_path):
    names = ["0 clicks.wav", "1 noise.wav"]
    lines = [f"{folder / name},site {place},2019-04-03T19:0{place}:00" for place, name in enumerate(names)]
    (tmp_path / "sites.csv").write_text("\n".join(["file,site,recorded_at", *lines]), encoding="utf-8")
    archive.add(folder, model=model_file, metadata=tmp_path / "sites.csv")
    (folder / names[0]).rename(folder / "20200101_000000.wav")
    os.utime(folder / names[1], (1, 1))
    archive.add(folder, model=model_file)
    asked = (
        "SELECT path, site, recorded_at::VARCHAR, clock_source FROM recordings WHERE removed_at IS NULL ORDER BY site"
    )
    known = [(Path(path).name, *others) for path, *others in Snapshot(archive.address).rows(asked)[:2]]
    assert known == [
        ("20200101_000000.wav", "site 0", "2019-04-03 19:00:00+00", "table"),
        ("1 noise.wav", "site 1", "2019-04-03 19:01:00+00", "table"),
    ]


def test_moved_copied_and_touched_recordings_are_not_computed_again(added, folder, model_file, analysed):
    before, segments = rows(added), rows(added, "segments")
    (folder / "0 clicks.wav").rename(folder / "moved.wav")
    shutil.copy(folder / "1 noise.wav", folder / "copy.wav")
    os.utime(folder / "2 tone.wav", (1, 1))
    again = added.add(folder, model=model_file)
    assert (again.n_moved, again.n_copies, again.n_unchanged, again.n_computed) == (1, 1, 3, 0)
    assert analysed == []
    assert paths(added) == ["1 noise.wav", "2 tone.wav", "copy.wav", "mixture.wav", "moved.wav"]
    assert paths(added, "removed_at IS NOT NULL") == ["0 clicks.wav"]
    assert (rows(added), rows(added, "segments")) == (before, segments)
    assert is_well(added)
    assert added.add(folder, model=model_file).n_unchanged == 5


def test_copies_that_are_added_together_have_windows_once(archive, folder, model_file):
    for name in ("copy.wav", "other.wav"):
        shutil.copy(folder / "mixture.wav", folder / name)
    archive.add(folder, model=model_file)
    assert is_well(archive)
    found = archive.find(path=["copy.wav", "mixture.wav"])
    assert len(found.result.segments) == 2 * len(archive.find(path="other.wav").result.segments)


def test_a_recording_that_comes_back_is_found_again(added, folder, model_file, analysed):
    (folder / "mixture.wav").rename(folder.parent / "elsewhere.wav")
    assert added.prune().n_marked == 1
    assert not added.find(path="mixture.wav").result.segments
    (folder.parent / "elsewhere.wav").rename(folder / "mixture.wav")
    added.add(folder, model=model_file)
    assert (analysed, bool(added.find(path="mixture.wav").result.segments)) == ([], True)


def test_two_models_stand_side_by_side(added, folder, model_file, trained, tmp_path):
    from audioclass.classifier.saving import save_model

    other = tmp_path / "other.audioclass"
    save_model(replace(trained.model, name="other"), other)
    before = rows(added, "segments")
    assert added.add(folder, model=other).n_computed == 4
    assert rows(added, "segments", "* EXCLUDE (model)") == sorted(
        [*before, *before], key=lambda row: (row["content"], row["start_s"])
    )
    assert [len(added.find(model=name).result.segments) for name in ("small", "other")] == [len(before)] * 2
    assert [one.n_recordings for one in added.status().models] == [4, 4]
    assert is_well(added)


def test_features_of_a_cache_give_the_same_rows(folder, model_file, tmp_path, monkeypatch):
    cached, plain = (Archive(str(tmp_path / name), run(tmp_path / "cache")) for name in ("cached", "plain"))
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(folder, model=model_file)
    cached.add(folder, model=model_file, keep_features=True)
    monkeypatch.setattr(analysing, "heard_features", None)  # whoever computes, fails
    plain.add(folder, model=model_file)
    assert rows(plain) == rows(cached) == rows(archive)
    known = "path, content, seconds, sample_rate, channels, reason"
    assert rows(plain, "recordings", known) == rows(archive, "recordings", known)


# --- recordings that fail -------------------------------------------------------------------------------------------


@pytest.fixture
def bad(folder):
    """Four bad recordings beside the good ones."""
    (folder / "empty.wav").write_bytes(b"")
    (folder / "text.wav").write_text("no audio")
    whole = (folder / "1 noise.wav").read_bytes()
    (folder / "truncated.wav").write_bytes(whole[: len(whole) // 2])
    broken = sound("tone", 0)
    broken[5000] = np.nan
    soundfile.write(folder / "nan.wav", broken, RATE, subtype="FLOAT")
    return folder


def test_bad_recordings_are_listed_with_a_reason(archive, bad, model_file, analysed):
    added = archive.add(bad, model=model_file)
    names = ["empty.wav", "nan.wav", "text.wav", "truncated.wav"]
    assert sorted(Path(path).name for path in added.failures) == names
    assert all("\n" not in reason and reason.startswith(path) for path, reason in added.failures.items())
    assert paths(archive, "reason IS NOT NULL") == names
    assert archive.find(path="truncated.wav").result.segments[-1].end == pytest.approx(0.5, abs=0.01)
    assert archive.status().n_failed == 4
    analysed.clear()
    again = archive.add(bad, model=model_file)
    assert (again.n_failed_before, again.n_unchanged, analysed, again.failures) == (4, 8, [], {})
    assert is_well(archive)


def test_bad_recordings_are_tried_again_on_demand(archive, bad, model_file, analysed):
    archive.add(bad, model=model_file)
    before = rows(archive), rows(archive, "segments")
    analysed.clear()
    again = archive.add(bad, model=model_file, retry=True)
    assert sorted(analysed) == ["empty.wav", "nan.wav", "text.wav", "truncated.wav"]
    assert len(again.failures) == 4
    assert (rows(archive), rows(archive, "segments")) == before
    assert is_well(archive)


def test_what_failed_for_a_while_is_whole_when_it_is_tried_again(archive, folder, model_file, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(analysing.Analyst, "_windows", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        assert len(archive.add(folder, model=model_file).failures) == 4
    assert not rows(archive)
    assert archive.add(folder, model=model_file).n_failed_before == 4
    assert archive.add(folder, model=model_file, retry=True).n_computed == 4
    assert is_well(archive)
    assert archive.add(folder, model=model_file).n_failed_before == 0
    assert archive.status().n_failed == 0


NAMES = ["two words.wav", 'it\'s "quoted".wav', "été 音 \U0001f600.wav", "new\nline.wav", "$(x) * [1].wav", "%41.wav"]


def test_names_may_be_any_text(archive, tmp_path, model_file, folder):
    for name in NAMES:
        shutil.copy(folder / "0 clicks.wav", tmp_path / name)
    archive.add(*(tmp_path / name for name in NAMES), model=model_file)
    assert set(archive.find().result.files) == {str(tmp_path / name) for name in NAMES}
    assert is_well(archive)
    assert archive.add(*(tmp_path / name for name in NAMES), model=model_file).n_unchanged == len(NAMES)


def test_a_name_that_is_no_text_is_listed_with_a_reason(archive, folder, model_file):
    name = os.fsencode(folder) + b"/caf\xe9.wav"
    shutil.copy(folder / "0 clicks.wav", name)
    added = archive.add(folder, model=model_file)
    [reason] = added.failures.values()
    assert "its name is no text, an archive cannot keep it" in reason
    assert len(paths(archive)) == 4
    assert is_well(archive)
    assert archive.add(folder, model=model_file).n_unchanged == 4


# --- the same results everywhere ------------------------------------------------------------------------------------


def test_rows_do_not_depend_on_the_number_of_jobs(bad, model_file, tmp_path):
    one, two = (Archive(str(tmp_path / str(jobs)), run(jobs=jobs)) for jobs in (1, 2))
    failures = [archive.add(bad, model=model_file).failures for archive in (one, two)]
    assert failures[0] == failures[1]
    assert rows(one) == rows(two)
    assert rows(one, "segments") == rows(two, "segments")
    known = "* EXCLUDE (added_at)"
    assert rows(one, "recordings", known) == rows(two, "recordings", known)


def equal_to_classify(archive, path, model_file, **options):
    expected = classify(path, model_file, run=run(), **options)
    found = archive.find(path=path.name).result
    assert found.segments == expected.segments
    assert np.allclose(found.P, expected.P, atol=1e-5)
    assert (found.novelty is None) == (expected.novelty is None)
    return len(found.segments)


def test_segments_are_those_of_classify(added, folder, model_file):
    assert sum(equal_to_classify(added, path, model_file) for path in sorted(folder.iterdir())) >= 7


def test_segments_made_anew_are_those_of_classify_with_the_same_options(added, folder, model_file):
    before = rows(added, "segments")
    assert added.segment(SegmentChoice()) == len(before)
    assert rows(added, "segments") == before
    added.segment(SegmentChoice("median", 3.0, 0.9))
    options = {"smooth": "median", "min_duration": 3.0, "threshold": 0.9}
    for path in sorted(folder.iterdir()):
        equal_to_classify(added, path, model_file, **options)
    soundfile.write(folder / "later.wav", mixture(("noise", "tone"), 4.0), RATE)
    added.add(folder, model=model_file)
    equal_to_classify(added, folder / "later.wav", model_file, **options)
    assert is_well(added)


def test_other_options_than_those_of_the_archive_are_refused(archive, folder, model_file):
    archive.add(folder, model=model_file, segments=SegmentChoice("none"))
    archive.add(folder, model=model_file, segments=SegmentChoice("none"))
    with pytest.raises(UsageError, match="its segments were made with .*`audioclass index segment` makes all anew"):
        archive.add(folder, model=model_file, segments=SegmentChoice("median"))


# --- several writers, and writers that are killed -------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Thirty tiny recordings."""
    folder = tmp_path_factory.mktemp("many")
    for i in range(30):
        soundfile.write(folder / f"{i:02}.wav", sound(LABELS[i % 3], i, 0.75), RATE)
    return folder


@pytest.fixture(scope="module")
def undisturbed(many, model_file, tmp_path_factory):
    """An archive of them that was made by one process in one go."""
    archive = Archive(str(tmp_path_factory.mktemp("undisturbed") / "archive"), run())
    archive.add(many, model=model_file)
    return archive


def equal_rows(archive, other):
    return all(rows(archive, name) == rows(other, name) for name in ("windows", "segments"))


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_that_is_killed_costs_only_what_was_not_committed(archive, many, model_file, undisturbed, seed):
    rng = random.Random(seed)
    for _ in range(2):
        process = start(add, archive.address, model_file, many)
        time.sleep(rng.uniform(0, 0.75))
        process.kill()
        process.join()
        if (Path(archive.address) / "segments" / "_delta_log").exists():
            assert archive.verify().problems == []
    added = archive.add(many, model=model_file)
    assert added.n_unchanged + added.n_computed == 30
    assert is_well(archive)
    assert equal_rows(archive, undisturbed)
    assert len(paths(archive)) == 30


@pytest.mark.parametrize("n_commits", range(8))
def test_a_writer_that_dies_before_any_commit_leaves_what_the_next_finishes(
    archive, folder, model_file, monkeypatch, whole, n_commits
):
    with monkeypatch.context() as patch:
        left, attempt = [n_commits], Table._attempt

        def dying(self, work):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return attempt(self, work)

        patch.setattr(Table, "_attempt", dying)
        patch.setattr(indexing, "WINDOWS_TOGETHER", 5)
        with pytest.raises(KeyboardInterrupt):
            archive.add(folder, model=model_file)
    assert archive.verify().problems == []
    archive.add(folder, model=model_file)
    assert is_well(archive)
    assert equal_rows(archive, Archive(str(whole.kept / "archive"), run()))
    assert archive.add(folder, model=model_file).n_unchanged == 4


def test_processes_that_add_the_same_at_once_write_it_once(archive, many, model_file, undisturbed):
    files = sorted(many.iterdir())
    end_well([start(add, archive.address, model_file, *some) for some in (files[:20], files[10:], files)])
    assert is_well(archive)
    assert equal_rows(archive, undisturbed)


def test_segments_may_be_made_anew_while_recordings_are_added(archive, many, model_file, undisturbed):
    files = sorted(many.iterdir())
    archive.add(*files[:5], model=model_file)
    end_well([start(add, archive.address, model_file, *files), start(segment, archive.address, 1, 2, 0)])
    assert is_well(archive)
    assert {row["options"] for row in rows(archive, "segments")} == {SegmentChoice("none", 0.0).to_json()}
    assert rows(archive) == rows(undisturbed)
    before = rows(archive, "segments")
    archive.segment(SegmentChoice("none", 0.0))
    assert rows(archive, "segments") == before


def test_an_archive_may_be_compacted_while_recordings_are_added(archive, many, model_file, undisturbed):
    process = start(add, archive.address, model_file, many)
    while process.is_alive():
        if (Path(archive.address) / "segments" / "_delta_log").exists():
            archive_upkeep.compact(archive.address, run(), keep_days=1)
    end_well([process])
    assert is_well(archive)
    assert equal_rows(archive, undisturbed)

"""Archives of labels that overlap: segments as `classify` gives them, made anew, found by every filter, and checked."""

import itertools

import numpy as np
import pytest
import soundfile
from overlaps import RATE, SCENES, scene
from runs import run

from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_pages import write_archive_page, write_found_page
from audioclass.engine.archives import Archive
from audioclass.engine.classifying import classify
from audioclass.engine.models import load_model
from audioclass.errors import UsageError
from audioclass.index.snapshot import Snapshot

pytest.importorskip("deltalake")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Four scenes, one with a silence, and one in which nothing is heard but noise."""
    folder = tmp_path_factory.mktemp("recordings")
    for number, segments in enumerate(SCENES):
        samples = scene(segments, number)
        if number == 1:
            samples[round(2.5 * RATE) : 3 * RATE] = 0
        soundfile.write(folder / f"2024060{number + 1}_120000.wav", samples, RATE)
    soundfile.write(folder / "20240607_120000.wav", scene((), 9), RATE)
    return folder


@pytest.fixture(scope="module")
def archive(recordings, overlap_file, tmp_path_factory):
    """An archive of these; nobody changes it."""
    archive = Archive(str(tmp_path_factory.mktemp("overlaps") / "archive"), run())
    added = archive.add(recordings, model=overlap_file)
    assert (added.n_computed, added.failures) == (5, {})
    return archive


def rows(result):
    return [(file, one.start, one.end, one.label) for file, one in zip(result.files, result.segments, strict=True)]


def expected(recordings, model, **options):
    """What `classify` says of each."""
    results = [classify(path, model, **options) for path in sorted(recordings.glob("*.wav"))]
    P = np.concatenate([result.P for result in results])
    return [row for result in results for row in rows(result)], P


def test_segments_are_those_of_classify_and_overlap(archive, recordings, overlap_file):
    found = archive.find().result
    there, P = expected(recordings, overlap_file)
    assert found.independent
    assert rows(found) == there
    np.testing.assert_allclose(found.P, P, atol=1e-6)
    assert any(a[0] == b[0] and b[1] < a[2] for a, b in itertools.pairwise(there))
    assert "silence" in {label for *_, label in there}
    assert str(recordings / "20240607_120000.wav") not in {file for file, *_ in there}


def test_probabilities_of_windows_are_kept_as_they_are(archive):
    P = np.array(archive.windows().to_arrow()["posteriors"].to_pylist())
    assert np.abs(P.sum(axis=1) - 1).max() > 0.5
    assert ((P >= 0) & (P <= 1)).all()


@pytest.mark.parametrize(
    "options", [{"smooth": "none"}, {"min_duration": 1.5}, {"threshold": 0.9}, {"smooth": "none", "threshold": 1.0}]
)
def test_segments_made_anew_are_those_of_classify_with_the_same_options(recordings, overlap_file, tmp_path, options):
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(recordings, model=overlap_file)
    archive.segment(SegmentChoice(**options))
    there, _ = expected(recordings, overlap_file, **options)
    assert rows(archive.find().result) == there
    assert archive.verify().problems == []
    assert archive.add(recordings, model=overlap_file).n_unchanged == 5


def test_filters_are_those_of_plain_rows(archive):
    every = archive.find().result
    by_label = (dict(zip(every.labels, P, strict=True)) for P in every.P)
    p = {row: of.get(row[-1]) for row, of in zip(rows(every), by_label, strict=True)}
    assert rows(archive.find("tone").result) == [row for row in p if row[-1] == "tone"]
    assert rows(archive.find("silence").result) == [row for row in p if row[-1] == "silence"]
    bound = float(np.median([value for value in p.values() if value is not None]))
    sure = rows(archive.find(min_probability=bound).result)
    assert {row for row, value in p.items() if value is not None and value > bound + 1e-6} <= set(sure)
    assert not any(p[row] is None or p[row] < bound - 1e-6 for row in sure)
    near = [
        row
        for row in p
        if any(
            row != other and other[0] == row[0] and other[-1] == "clicks"
            and other[1] <= row[2] + 0.5 and other[2] >= row[1] - 0.5
            for other in p
        )
    ]  # fmt: skip
    assert rows(archive.find(near="clicks:0.5s").result) == near
    assert len(near) < len(p)


def test_two_labels_of_the_same_times_are_near_one_another_and_both_like_an_example(overlap_file, tmp_path):
    together = (("tone", 0.0, 8.0), ("clicks", 0.0, 8.0))
    soundfile.write(tmp_path / "both.wav", scene(together, 1), RATE)
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(tmp_path / "both.wav", model=overlap_file)
    assert [row[1:] for row in rows(archive.find(near="clicks:0s", label="tone").result)] == [(0.0, 8.0, "tone")]
    found = archive.find(like=tmp_path / "both.wav")
    assert sorted(one.label for one in found.result.segments) == ["clicks", "tone"]
    assert min(found.similarities) > 0.99


def test_what_is_like_an_example_sounds_like_it(archive, recordings):
    found = archive.find(like=f"{recordings / '20240601_120000.wav'}@1.2-2.8", label="tone", limit=3)
    assert found.result.files[0].endswith("20240601_120000.wav")
    assert {one.label for one in found.result.segments} == {"tone"}
    exact = archive.find(like=f"{recordings / '20240601_120000.wav'}@1.2-2.8", label="tone", limit=3, exact=True)
    assert exact.similarities[0] > 0.9


def test_an_archive_is_well_and_has_pages(archive, tmp_path):
    assert archive.verify(contents=True).problems == []
    write_archive_page(Snapshot(archive.address), tmp_path / "archive.html")
    write_found_page(archive.find("tone"), tmp_path / "found.html", "tones")
    assert all("tone" in (tmp_path / name).read_text(encoding="utf-8") for name in ("archive.html", "found.html"))


def test_two_kinds_of_models_stand_side_by_side(recordings, overlap_file, model_file, tmp_path):
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(recordings, model=model_file)
    archive.add(recordings, model=overlap_file)
    names = [load_model(file).name for file in (overlap_file, model_file)]
    assert [archive.find(model=name).result.independent for name in names] == [True, False]
    assert archive.verify().problems == []


@pytest.mark.parametrize(
    ("model", "segments", "match"),
    [
        ("absent.audioclass", None, "no such model file"),
        (None, {"smooth": "smoth"}, "unknown smoother"),
        (None, {"unknown": 0.1}, "is for models of one label at a time"),
        (None, {"threshold": 2.0}, "must be a probability"),
    ],
)
def test_an_addition_that_is_refused_leaves_no_folder(recordings, overlap_file, tmp_path, model, segments, match):
    archive = Archive(str(tmp_path / "archive"), run())
    with pytest.raises(UsageError, match=match):
        archive.add(recordings, model=model or overlap_file, segments=segments)
    assert not (tmp_path / "archive").exists()

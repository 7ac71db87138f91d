"""Windows that are near a sound: those that comparing all of them gives, however the vectors are kept."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from made_archives import MadeRecording, append, make_archive, window_table
from runs import run
from trained import LABELS, RATE, mixture, sound

from audioclass.engine.archives import Archive
from audioclass.engine.finding import Example
from audioclass.errors import AudioclassError, UsageError
from audioclass.index import similar
from audioclass.index.similar import WINDOW, Vectors, vectors_of
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Table, clean_address

N_AXES = 16


def clustered(n, seed=0):
    """Vectors around a few centres."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(-90, 90, (20, N_AXES))
    return np.clip(centres[rng.integers(20, size=n)] + rng.normal(0, 12, (n, N_AXES)), -127, 127).astype(np.int8)


def windows_of(n):
    """Windows whose start is their number."""
    windows = np.zeros(n, WINDOW)
    windows["start_s"], windows["end_s"] = np.arange(n), np.arange(n) + 1
    return windows


def places_of(hits):
    """Of windows of half a second each, which they are."""
    return np.rint(2 * hits.windows["start_s"]).astype(int)


def kept_vectors(folder, the_run):
    snapshot = Snapshot(str(folder))
    return vectors_of(snapshot, snapshot.model("made"), N_AXES, the_run)


def squared(vectors, queries):
    """To the nearest of the queries."""
    differences = vectors[:, None].astype(np.int64) - queries[None].astype(np.int64)
    return (differences**2).sum(axis=2).min(axis=1)


@pytest.mark.parametrize("n_queries", [1, 7])
@pytest.mark.parametrize("count", [1, 10, 500, 10_000])
def test_the_nearest_are_those_of_comparing_all(n_queries, count):
    vectors, queries = clustered(500), clustered(n_queries, seed=1)
    hits = Vectors(vectors, windows_of(500)).nearest(queries, count)
    distances = squared(vectors, queries)
    assert np.array_equal(hits.distances, np.sort(distances)[:count])
    places = hits.windows["start_s"].astype(int)
    assert len(set(places)) == min(count, 500)
    assert np.array_equal(distances[places], hits.distances)


def test_farthest_codes_do_not_overflow():
    vectors = np.array([[127] * 128, [-127] * 128, [0] * 128], np.int8)
    hits = Vectors(vectors, windows_of(3)).nearest(vectors[:1], 3)
    assert hits.distances.tolist() == [0, 128 * 127**2, 128 * 254**2]


def test_no_windows_are_no_hits():
    hits = Vectors(np.empty((0, N_AXES), np.int8), windows_of(0)).nearest(clustered(1), 10)
    assert (len(hits.windows), len(hits.distances)) == (0, 0)


@pytest.fixture
def in_graph(tmp_path, monkeypatch):
    """Vectors in a graph, window i of which starts at i / 2."""
    monkeypatch.setattr(similar, "EXACT_UP_TO", 10)

    def put(vectors):
        folder = make_archive(tmp_path / "archive", [], [], [["a"], ["b"]])
        append(folder, "windows", window_table("a" * 32, vectors))
        return kept_vectors(folder, run(tmp_path / "cache"))

    return put


def test_a_graph_finds_nearly_all_of_the_nearest(in_graph):
    vectors, queries = clustered(3000), clustered(20, seed=2)
    graph, exact = in_graph(vectors), Vectors(vectors, windows_of(3000))
    recalls = []
    for query in queries:
        found, nearest = graph.nearest(query[None], 10), exact.nearest(query[None], 10)
        assert len(set(found.windows["start_s"])) == 10
        assert np.array_equal(found.distances, squared(vectors[places_of(found)], query[None]))
        recalls.append(np.mean(found.distances <= nearest.distances[-1]))
    assert np.mean(recalls) >= 0.9


def test_a_graph_that_is_asked_for_more_than_there_is_makes_nothing_up(in_graph):
    vectors = clustered(60)
    hits = in_graph(vectors).nearest(vectors[:3], 100)
    places = places_of(hits)
    assert len(set(places)) == len(places)
    assert np.array_equal(hits.distances, squared(vectors[places], vectors[:3]))


# --- where vectors are kept -----------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path):
    """An archive with vectors of two recordings."""
    folder = make_archive(tmp_path / "archive", [MadeRecording("/a", "a")], [], [["a"], ["b"]])
    for content in "ab":
        append(folder, "windows", window_table(content.rjust(32, "0"), clustered(50, seed=ord(content))))
    return folder


def hits_of(folder, the_run):
    """The ten nearest to a vector: their distances, and whose windows they are."""
    vectors = kept_vectors(folder, the_run)
    hits = vectors.nearest(clustered(1, seed=9), 10)
    return len(vectors.windows), hits.distances.tolist(), sorted(hits.windows["content"].tolist())


@pytest.mark.parametrize("most", [1_000_000, 10], ids=["exact", "graph"])
def test_what_is_kept_is_renewed_when_the_archive_grows_or_is_compacted(made, tmp_path, monkeypatch, most):
    monkeypatch.setattr(similar, "EXACT_UP_TO", most)
    cached, plain = run(tmp_path / "cache"), run()
    first = hits_of(made, cached)
    assert first[0] == 100
    assert hits_of(made, cached) == first
    append(made, "windows", window_table("c".rjust(32, "0"), np.repeat(clustered(1, seed=9), 50, axis=0)))
    grown = hits_of(made, cached)
    assert grown[:2] == (150, [0.0] * 10)
    Table.named(clean_address(made), "windows").compact(0)
    assert hits_of(made, cached) == grown
    Table.named(clean_address(made), "windows").delete(f"content = '{'c'.rjust(32, '0')}'")
    assert hits_of(made, cached) == first
    monkeypatch.setattr(similar, "EXACT_UP_TO", 1_000_000)
    assert hits_of(made, plain)[1] == pytest.approx(first[1])


def test_what_is_kept_is_read_and_not_made_again(made, tmp_path, monkeypatch):
    cached = run(tmp_path / "cache")
    first = hits_of(made, cached)
    monkeypatch.setattr(similar, "_read", None)  # whoever reads the tables, fails
    assert hits_of(made, cached) == first


@pytest.mark.parametrize("name", ["vectors.npy", "windows.npy", "graph.usearch"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_what_is_kept_and_damaged_is_made_again(made, tmp_path, monkeypatch, damage, name):
    monkeypatch.setattr(similar, "EXACT_UP_TO", 10)
    cached = run(tmp_path / "cache")
    first = hits_of(made, cached)
    (path,) = (tmp_path / "cache").rglob(name)
    content = path.read_bytes()
    path.write_bytes(content[:300] if damage == "cut" else b"")
    if damage == "gone":
        path.unlink()
    assert hits_of(made, cached) == first


def test_a_cache_that_cannot_be_written_costs_only_time(made, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.warns(UserWarning, match="what is computed is not kept"):
        assert hits_of(made, run(tmp_path / "file" / "cache")) == hits_of(made, run())


def test_vectors_of_another_length_are_told(made):
    append(made, "windows", window_table("d".rjust(32, "0"), clustered(3)[:, :5]))
    with pytest.raises(AudioclassError, match=f"vectors of other lengths than {N_AXES}"):
        hits_of(made, run())


# --- sounds that segments are like ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    archive: Archive
    folder: Path


@pytest.fixture(scope="module")
def heard(tmp_path_factory, model_file):
    """An archive of twelve recordings and one of all labels."""
    folder = tmp_path_factory.mktemp("heard")
    for i in range(12):
        soundfile.write(folder / f"2019040{i % 3 + 1}_{10 + i}0000.wav", sound(LABELS[i % 3], i, 1.5), RATE)
    soundfile.write(folder / "mixture.wav", mixture(seconds=2.0), RATE)
    place = tmp_path_factory.mktemp("archive")
    archive = Archive(str(place / "archive"), run(place / "cache"))
    archive.add(folder, model=model_file)
    return Heard(archive, folder)


@pytest.fixture
def uncached(heard):
    """The same, with nothing kept of what was computed."""
    return replace(heard, archive=replace(heard.archive, run=run()))


def nearest_by_hand(heard, name, keep=lambda row: True):
    """Segments by the distance of the nearest window with its middle in them to any window of a recording."""
    rows = heard.archive.windows().to_arrow().to_pylist()
    contents = {Path(row["path"]).name: row["content"] for row in heard.archive.recordings().to_arrow().to_pylist()}
    vectors = np.array([np.frombuffer(row["vector"], np.int8) for row in rows])
    distances = squared(vectors, vectors[[row["content"] == contents[name] for row in rows]])
    found = []
    asked = "SELECT path, start_s, end_s, label, probability, content, local_time FROM occurrences"
    for segment in Snapshot(heard.archive.address).arrow(asked).to_pylist():
        inside = [
            distance
            for row, distance in zip(rows, distances, strict=True)
            if row["content"] == segment["content"]
            and segment["start_s"] <= (row["start_s"] + row["end_s"]) / 2 < segment["end_s"]
        ]
        if inside and keep(segment):
            found.append((min(inside), segment["path"], segment["start_s"]))
    return sorted(found)


def found_like(heard, like, **options):
    found = heard.archive.find(like=like, **options)
    starts = [segment.start for segment in found.result.segments]
    return list(zip(found.similarities, found.result.files, starts, strict=True))


@pytest.mark.parametrize(
    ("options", "keep"),
    [
        ({}, lambda row: True),
        ({"label": "tone"}, lambda row: row["label"] == "tone"),
        ({"path": "mixture.wav"}, lambda row: row["path"].endswith("mixture.wav")),
        ({"since": "2019-04-02", "until": "2019-04-02"}, lambda row: row["local_time"] and row["local_time"].day == 2),
        ({"between": "12:00-18:00"}, lambda row: row["local_time"] and 12 <= row["local_time"].hour < 18),
        ({"max_probability": 0.0}, lambda row: False),
        ({"limit": 3}, lambda row: True),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_segments_like_an_example_are_those_found_by_hand(heard, options, keep):
    name = "20190401_100000.wav"
    expected = nearest_by_hand(heard, name, keep)[: options.get("limit")]
    found = found_like(heard, heard.folder / name, **options)
    assert [row[1:] for row in found] == [row[1:] for row in expected]
    assert found == sorted(found, key=lambda row: -row[0])


def test_the_example_itself_is_the_most_similar(heard):
    for path in sorted(heard.folder.glob("2019*.wav")):
        similarity, file, _ = found_like(heard, path, limit=1)[0]
        assert (similarity, file) == (1.0, str(path))


def test_similar_segments_are_sorted_otherwise_on_demand(heard):
    path = heard.folder / "mixture.wav"
    by_similarity = found_like(heard, path)
    assert found_like(heard, path, sort="-similarity") == sorted(by_similarity, key=lambda row: (row[0], *row[1:]))
    assert sorted(found_like(heard, path, sort="time")) == sorted(by_similarity)


def test_a_stretch_is_what_is_compared(heard):
    mixed = heard.folder / "mixture.wav"  # tone, noise, clicks, tone of two seconds each
    for stretch, label in {"@0-2": "tone", "@2.5-3.5": "noise", "@4.5-5.5": "clicks", "@6-100": "tone"}.items():
        found = heard.archive.find(like=f"{mixed}{stretch}", limit=1)
        assert (found.similarities, found.result.segments[0].label) == ((1.0,), label)


@pytest.mark.parametrize("stretch", ["@2.9-2.91", "@1.5-1.500001", "@7.9-9"])
def test_a_stretch_without_the_middle_of_a_window_is_the_nearest_window(heard, stretch):
    assert found_like(heard, f"{heard.folder / 'mixture.wav'}{stretch}", limit=1)[0][0] == 1.0


def test_a_stretch_outside_of_the_recording_is_told(heard):
    with pytest.raises(UsageError, match=r"mixture\.wav: .*"):
        heard.archive.find(like=f"{heard.folder / 'mixture.wav'}@100-200")


@pytest.mark.parametrize("stretch", ["@2-1", "@1-1"])
def test_a_stretch_that_ends_before_it_starts_is_refused(heard, stretch):
    with pytest.raises(UsageError, match="the stretch ends before it starts"):
        heard.archive.find(like=f"{heard.folder / 'mixture.wav'}{stretch}")


@pytest.mark.parametrize("name", ["a@b.wav", "a@1-2.wav", "me@home@0-1", "@1-2"])
def test_a_name_may_hold_an_at_sign(heard, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    shutil.copy(heard.folder / "20190402_110000.wav", name)
    assert Example.parse(name) == Example(Path(name))
    assert found_like(heard, name, limit=1)[0][0] == 1.0
    assert Example.parse(f"{name}@0.5-1") == Example(Path(name), 0.5, 1.0)
    assert found_like(heard, f"{name}@0.5-1", limit=1)[0][0] == 1.0


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.02])
def test_an_example_shorter_than_a_window_is_an_example_or_told(heard, tmp_path, seconds):
    soundfile.write(tmp_path / "short.wav", sound("tone", 3, seconds), RATE)
    try:
        found = heard.archive.find(like=tmp_path / "short.wav", limit=1)
        assert found.result.segments[0].label == "tone"
    except UsageError as error:
        assert str(error) == f"{tmp_path / 'short.wav'}: no window of the model fits into it"  # noqa: PT017


@pytest.mark.parametrize("content", [b"", b"no audio", None])
def test_an_example_that_cannot_be_read_is_told(heard, tmp_path, content):
    path = tmp_path / "bad.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AudioclassError, match=r"bad\.wav"):
        heard.archive.find(like=path)


def test_results_are_the_same_with_a_cache_and_for_a_copy_of_the_archive(heard, uncached, tmp_path):
    path = heard.folder / "mixture.wav"
    expected = found_like(uncached, path)
    for _ in range(2):
        cached = replace(heard, archive=replace(heard.archive, run=run(tmp_path / "cache")))
        assert found_like(cached, path) == expected
    shutil.copytree(heard.archive.address, tmp_path / "copy")
    assert (
        found_like(replace(heard, archive=Archive(str(tmp_path / "copy"), run(tmp_path / "cache"))), path) == expected
    )


def test_an_example_is_found_where_no_cache_can_be_written(heard, tmp_path):
    (tmp_path / "file").write_text("no folder")
    archive = replace(heard.archive, run=run(tmp_path / "file" / "cache"))
    path = heard.folder / "mixture.wav"
    with pytest.warns(UserWarning, match="what is computed is not kept"):
        assert found_like(replace(heard, archive=archive), path) == found_like(heard, path)


def test_columns_of_a_table_may_have_any_name_beside_an_example(heard, tmp_path, model_file):
    names = ["distance", "hits", "s", "h", "similarity", "o", "windows", "path_0", "content"]
    archive = Archive(str(tmp_path / "archive"), run())
    table = tmp_path / "sites.csv"
    path = heard.folder / "mixture.wav"
    relative = os.path.relpath(path, tmp_path)
    table.write_text(",".join(["file", *names]) + f"\n{relative}" + ",1" * len(names) + "\n")
    archive.add(heard.folder, model=model_file, metadata=table)
    assert found_like(Heard(archive, heard.folder), path) == found_like(heard, path)
    assert archive.find(near="tone:1", path="mixture.wav").result.segments

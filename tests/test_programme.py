"""Programmes with a known truth: what is drawn, how it is laid out, and which sources are refused."""

import importlib
import sys
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from environments import REPOSITORY

RATE = 8000
FOLDER = REPOSITORY / "corpora"


@pytest.fixture(scope="module")
def parts():
    """The scripts' modules; their plain names are gone again afterwards."""
    before, path = {*sys.modules}, sys.path.copy()
    sys.path.insert(0, str(FOLDER / "programme"))
    yield {
        name: importlib.import_module(name)
        for name in ("sources", "schedule", "mixing", "reference", "training_corpus")
    }
    sys.path[:] = path
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(FOLDER)):
            del sys.modules[name]


@pytest.fixture(scope="module")
def materials(parts, tmp_path_factory):
    """Six sources of each label that are noise all the way, two parts each."""
    folder, rng, found = tmp_path_factory.mktemp("sounds"), np.random.default_rng(0), []
    for label in ("speech", "music", "environment"):
        for i in range(12):
            path = folder / f"{label}-{i}.wav"
            soundfile.write(path, 0.1 * rng.standard_normal(8000 * 9), 8000)
            found.append(parts["sources"].Material(str(path), 9.0, label, f"{label}-{i // 2}", str(i % 2)))
    return found


@pytest.fixture(scope="module")
def programme(parts, materials, tmp_path_factory):
    """Every kind, cuts and fades of every length, pauses of every level."""
    pieces = {one.label: ((one.file, 0.0, 9.0),) for one in materials}

    def sound(kind, fade):
        return parts["schedule"].Item(kind, 4.0, fade, -20.0, "a", pieces[kind.split("_")[0]])

    def pause(seconds, fade, level):
        return parts["schedule"].Item("pause", seconds, fade, level)

    both = replace(sound("speech_over_music", 1.0), under="b", under_pieces=pieces["music"], above=6.0)
    items = [sound("speech", 0.0), pause(0.2, 0.0, None), sound("music", 0.0), sound("environment", 2.0)]
    items += [pause(0.6, 0.0, -55.0), sound("speech", 0.0), both, pause(1.0, 0.0, -65.0), sound("music", 0.0)]
    items += [pause(3.0, 2.0, -75.0), sound("environment", 0.1)]
    x = parts["mixing"].mix_programme(items, tmp_path_factory.mktemp("work"), RATE)
    return items, x, parts["reference"].truth_of(items, x, RATE)


def test_the_same_seed_gives_the_same_programme(parts, materials):
    draw = parts["schedule"].draw_programme
    assert draw(materials, 4.0, [0, 1]) == draw(materials, 4.0, [0, 1]) != draw(materials, 4.0, [0, 2])


def test_pauses_of_every_length_come_at_every_level(parts, materials):
    pauses = [item for item in parts["schedule"].draw_programme(materials, 45.0, [0]) if item.kind == "pause"]
    drawn = {
        (item.level, low)
        for item in pauses[:16]
        for low, high in parts["schedule"].LENGTHS
        if low <= item.seconds < high
    }
    assert len(drawn) == 16


def test_the_truth_is_what_is_heard(programme):
    expected = [
        (0.0, 4.0, "speech"),
        (4.0, 4.2, "silence"),
        (4.2, 8.2, "music"),
        (8.2, 12.2, "environment"),  # from the middle of its fade
        (12.2, 12.8, "silence"),
        (12.8, 20.8, "speech"),
        (16.8, 20.8, "music"),  # under the speech
        (20.8, 21.8, "silence"),
        (21.8, 26.8, "music"),  # to where its fade has died away
        (26.8, 28.76, "silence"),
        (28.76, 32.8, "environment"),
    ]
    truth = programme[2]
    assert [label for *_, label in truth] == [label for *_, label in expected]
    assert np.array([row[:2] for row in truth]) == pytest.approx(np.array([row[:2] for row in expected]), abs=0.02)
    hard = [row for row in expected if row[:2] in {(4.0, 4.2), (12.2, 12.8), (20.8, 21.8)}]
    assert {*hard} <= {*truth}


def test_items_lie_at_their_levels(parts, programme):
    items, x, _ = programme
    edges = [edge * RATE // 100 for edge in parts["mixing"].boundaries(items)]
    assert len(x) == edges[-1]
    levels = [10 * np.log10(np.mean(x[end - RATE // 10 : end] ** 2) + 1e-20) for end in edges[1:3]]
    assert levels == pytest.approx([-20.0, -200.0], abs=1)


def test_a_voice_lies_above_its_music(parts, programme, tmp_path):
    both = next(item for item in programme[0] if item.under)
    mixed = parts["mixing"].item_samples(both, tmp_path, 4 * RATE, RATE)
    music = parts["mixing"].join(both.under_pieces, tmp_path, RATE)[: 4 * RATE]
    share = np.dot(mixed, music) ** 2 / np.dot(music, music) / np.dot(mixed, mixed)
    assert share == pytest.approx(1 / (1 + 10**0.6), abs=0.02)


def test_silences_and_sounds_have_their_least_length(parts):
    reference = parts["reference"]
    levels = np.full(200, -20.0)
    levels[10:25] = -80  # too short for a silence
    levels[50:80] = levels[85:120] = -61  # one silence, with a moment of sound in it
    levels[150:200] = -59
    assert np.flatnonzero(reference.silent_steps(levels)).tolist() == list(range(50, 120))


def test_gaps_are_closed_to_a_length(parts):
    x = np.concatenate([np.ones(RATE), np.zeros(RATE), np.ones(RATE)])
    assert len(parts["mixing"].closed_up(x, RATE, 0.3)) == round(2.3 * RATE)


def test_pools_of_clips_share_no_source(parts, materials):
    clips = parts["training_corpus"].draw_clips(materials, 60, seed=0)
    pools = {}
    for clip in clips:
        for source in {clip.item.source, clip.item.under} - {""}:
            pools.setdefault(source, set()).add(clip.pool)
    assert {clip.item.kind for clip in clips} == {"speech", "music", "speech_over_music", "environment"}
    assert all(len(of) == 1 for of in pools.values())


def test_no_source_of_the_table_trained_the_shipped_model(parts):
    sources = parts["sources"].read_sources()
    assert all(
        sources.halves[half][label] for half in ("develop", "test") for label in ("speech", "music", "environment")
    )


TABLE = """
[develop]
speech = []
music = ["{develop}"]
environment = []
[test]
speech = []
music = ["{test}"]
environment = []
[[folder]]
name = "ours"
path = "audio/fsdd"
licence = ""
label = "speech"
column = "group"
values = ["theo"]
part = "group"
[[folder]]
name = "known"
path = "audio/fsdd"
licence = ""
label = "speech"
column = "group"
values = ["theo", "george"]
part = "group"
[[folder]]
name = "esc10"
path = "audio/esc10"
licence = ""
label = "environment"
column = "fold"
values = []
part = "label"
[[package]]
name = "naev-data"
version = "0"
sha256 = ""
licence = ""
attribution = ""
"""


@pytest.mark.parametrize(
    ("develop", "test", "reason"),
    [
        ("ours", "naev-data", "test: the shipped model was trained on naev-data"),
        ("esc10", "ours", "develop: the shipped model was trained on esc10"),
        ("known", "ours", "develop: the shipped model was trained on known"),
        ("ours", "ours", "in both halves: ours"),
        ("ours", "theirs", "test: no package and no folder is named theirs"),
    ],
)
def test_a_table_that_would_flatter_is_refused(parts, tmp_path, develop, test, reason):
    table = tmp_path / "sources.toml"
    table.write_text(TABLE.format(develop=develop, test=test), encoding="utf-8")
    with pytest.raises(SystemExit, match=reason):
        parts["sources"].read_sources(table)

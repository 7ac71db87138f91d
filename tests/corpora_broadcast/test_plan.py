from pathlib import Path

import clips as rendering
import noises
import numpy as np
import packages
import pytest
import soundfile
import treatments
import tunes
from plan import LARGEST_SHARE, Material, plan, shares
from singing import sing

ROOT = Path(__file__).resolve().parents[2] / "corpora"
MATERIALS = [
    Material(f"{label}-{group}-{index}.flac", 3.0 + index, label, group, str(index % 2))
    for label in ("speech", "music", "environment")
    for group in ("one", "two", "three")
    for index in range(4)
]


def test_the_same_seed_gives_the_same_plan_whatever_the_order_of_the_materials():
    assert plan(MATERIALS, seed=3, size=0.02) == plan(MATERIALS[::-1], seed=3, size=0.02)


def test_another_seed_gives_another_plan():
    assert plan(MATERIALS, seed=3, size=0.02) != plan(MATERIALS, seed=4, size=0.02)


def test_names_of_clips_are_unique_and_carry_label_and_group():
    made = plan(MATERIALS, size=0.02)
    assert len({clip.name for clip in made}) == len(made)
    assert all(clip.name.startswith(f"{clip.label}-") for clip in made)


def test_clips_of_a_group_are_cut_from_that_group_and_label_alone():
    origin = {one.file: (one.label, one.group) for one in MATERIALS}
    for clip in plan(MATERIALS, size=0.02):
        assert {origin[file] for file, _, _ in clip.pieces} <= {(clip.label, clip.group)}


def test_pieces_lie_inside_their_sounds():
    seconds = {one.file: one.seconds for one in MATERIALS}
    for clip in plan(MATERIALS, size=0.05):
        assert all(start >= 0 and start + length <= seconds[file] + 0.002 for file, start, length in clip.pieces)


def test_no_source_dominates_a_label():
    many = [Material(f"{i}", 10.0**5 if i == 0 else 60.0, "music", f"source {i}") for i in range(30)]
    given = shares(many, 1000)
    assert given["source 0"] <= 1000 * LARGEST_SHARE * 1.5
    assert min(given.values()) >= 1


def test_a_clip_with_every_treatment_is_within_full_scale(tmp_path):
    rng = np.random.default_rng(0)
    for one in MATERIALS:
        soundfile.write(tmp_path / one.file, rng.uniform(-0.9, 0.9, int(one.seconds * 16000)), 16000)
    made = plan(MATERIALS, size=0.01)
    rendering.write_clips(made, tmp_path, tmp_path / "corpus")
    for clip in made:
        x, rate = soundfile.read(tmp_path / "corpus" / "audio" / rendering.file_name(clip))
        assert rate == 16000
        assert len(x) > 16000
    assert len((tmp_path / "corpus" / "segments.csv").read_text().splitlines()) == len(made) + 1


@pytest.mark.parametrize("kind", noises.KINDS)
def test_noises_are_finite_and_heard(kind):
    x = noises.make_noise(kind, 1.0, np.random.default_rng(1))
    assert np.isfinite(x).all()
    assert np.abs(x).max() == pytest.approx(0.5)


def test_mixing_keeps_the_stated_distance():
    rng = np.random.default_rng(0)
    x, other = rng.standard_normal(16000), rng.standard_normal(16000)
    rest = treatments.mix(x, other, 12.0) - x
    assert treatments.decibels_of(x) - treatments.decibels_of(rest) == pytest.approx(12.0, abs=0.01)


def test_a_sung_voice_has_the_asked_length_and_is_heard():
    t = np.arange(16000) / 16000
    voice = np.sign(np.sin(2 * np.pi * 120 * t)) * np.sin(2 * np.pi * 3 * t) ** 2
    sung = sing(voice, 20000, np.random.default_rng(0))
    assert len(sung) == 20000
    assert np.isfinite(sung).all()
    assert sung.std() > 0


def test_tunes_are_midi_files(tmp_path):
    tunes.write_tune(tmp_path / "tune.mid", np.random.default_rng(0))
    content = (tmp_path / "tune.mid").read_bytes()
    assert content.startswith(b"MThd")
    assert content.endswith(b"\xff\x2f\x00")


@pytest.mark.parametrize("table", ["packages.toml", "unseen.toml"])
def test_every_package_has_a_checksum_a_licence_and_files(table):
    rows = packages.read_packages(ROOT / "broadcast" / table)
    assert all(len(row.sha256) == 64 and row.licence and row.attribution for row in rows)
    assert all(row.speech or row.music or row.environment or row.name == "fluid-soundfont-gm" for row in rows)


def test_no_package_is_both_trained_on_and_called_unseen():
    names = [
        {row.name for row in packages.read_packages(ROOT / "broadcast" / t)} for t in ("packages.toml", "unseen.toml")
    ]
    assert not names[0] & names[1]


def test_a_package_with_another_checksum_is_refused(tmp_path):
    row = packages.Package("some", "1.0", "0" * 64, "MIT", "nobody")
    (tmp_path / "some_1.0_all.deb").write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256 .*, should be 0000"):
        packages.fetch(row, tmp_path)

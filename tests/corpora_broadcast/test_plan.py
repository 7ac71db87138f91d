from pathlib import Path

import clips as rendering
import noises
import numpy as np
import packages
import pytest
import soundfile
import treatments
import tunes
from plan import LARGEST_SHARE, Drawer, Material, plan, shares
from singing import Voice, as_sung, by_periods, hold_vowels, hold_words, lengths_of_syllables, melody, sing, speak

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
        is_sung = any(name == "sung" for name, _ in clip.treatments)
        assert {origin[file] for file, _, _ in clip.pieces} <= {("speech" if is_sung else clip.label, clip.group)}


def test_voices_that_sing_are_singing_whose_source_is_the_voice():
    sung = [clip for clip in plan(MATERIALS, size=0.02) if any(name == "sung" for name, _ in clip.treatments)]
    assert {(clip.label, clip.leaf) for clip in sung} == {("music", "singing")}
    assert {clip.group for clip in sung} == {"one", "two", "three"}


def test_a_clip_holds_sounds_of_one_author_who_is_its_source():
    authors = {f"{i}.ogg": f"author {i % 3}" for i in range(12)}
    many = [Material(file, 1.0, "speech", "package", "", "speech", who) for file, who in authors.items()]
    for clip in plan(many, size=0.1):
        if clip.label != "silence":
            assert {authors[file] for file, _, _ in clip.pieces} == {clip.group}


def test_words_are_clips_from_their_beginning_to_their_end():
    words = [Material(f"{i}.ogg", 0.3 + 0.1 * i, "speech", "letters", "", "speech") for i in range(9)]
    spoken = [Material("tale.ogg", 60.0, "speech", "tales", "", "speech")]
    seconds = {one.file: one.seconds for one in words}
    made = [clip for clip in plan(words + spoken, size=0.1) if "-word-" in clip.name]
    assert made
    assert all(clip.pieces == ((clip.pieces[0][0], 0.0, seconds[clip.pieces[0][0]]),) for clip in made)


def test_recordings_of_data_sets_are_used_as_they_are_and_treated():
    esc = [Material(f"/esc/{i}.flac", 5.0, "environment", "esc-1", "dog", "animal") for i in range(3)]
    whole = [clip for clip in plan(esc, size=1.0) if clip.pieces == ((clip.pieces and clip.pieces[0][0], 0.0, 5.0),)]
    plain = [clip for clip in whole if not clip.treatments]
    assert {clip.pieces[0][0] for clip in plain} == {one.file for one in esc}
    assert {clip.leaf for clip in plain} == {"animal"}


def test_some_clips_are_left_as_they_are_but_for_a_level():
    made = [clip for clip in plan(MATERIALS, size=0.1) if clip.label == "environment" and "short" not in clip.name]
    plain = [clip for clip in made if {name for name, _ in clip.treatments} == {"level"}]
    assert 0.15 < len(plain) / len(made) < 0.45


def test_pieces_lie_inside_their_sounds():
    seconds = {one.file: one.seconds for one in MATERIALS}
    for clip in plan(MATERIALS, size=0.05):
        assert all(start >= 0 and start + length <= seconds[file] + 0.002 for file, start, length in clip.pieces)


def test_no_source_dominates_a_label():
    many = [Material(f"{i}", 10.0**5 if i == 0 else 60.0, "music", f"source {i}") for i in range(30)]
    given = shares(many, 1000)
    assert given["source 0"] <= 1000 * LARGEST_SHARE * 1.5
    assert min(given.values()) >= 1


def test_a_clip_with_every_treatment_is_within_full_scale(tmp_path, monkeypatch):
    monkeypatch.setattr(rendering, "sing", lambda x, n_samples, rng: np.resize(x, n_samples))  # it needs a vocoder
    monkeypatch.setattr(rendering, "speak", lambda x, rng: x)
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
    pytest.importorskip("pyworld", reason="the vocoder is built from source where it is installed")
    t = np.arange(16000) / 16000
    voice = np.sign(np.sin(2 * np.pi * 120 * t)) * np.sin(2 * np.pi * 3 * t) ** 2
    sung = sing(voice, 20000, np.random.default_rng(0))
    assert len(sung) == 20000
    assert np.isfinite(sung).all()
    assert sung.std() > 0


@pytest.mark.parametrize("seed", range(5))
def test_a_melody_stays_within_the_voice_and_counts_its_notes(seed):
    pitch, notes = melody(32000, np.random.default_rng(seed))
    assert len(pitch) == len(notes) == 401
    assert pitch.min() >= 75.0
    assert pitch.max() <= 950.0
    assert notes.min() >= -1
    assert len(np.unique(notes[notes >= 0])) >= 1


def test_singers_stay_near_their_notes_and_differ_in_how_near():
    notes = np.repeat(np.arange(8), 150)
    steps = np.array([0.0, 2, 4, 5, 7, 5, 4, 2])[notes] + 40
    away = [np.abs(as_sung(steps, notes, np.random.default_rng(seed)) - steps).mean() for seed in range(40)]
    assert min(away) < 0.25
    assert 0.6 < max(away) < 2.0


def test_a_melody_has_a_glide_where_a_note_begins_and_stays_where_it_lasts():
    notes = np.repeat([0, 1], 400)
    steps = np.where(notes == 0, 40.0, 47.0)
    sung = np.mean([as_sung(steps, notes, np.random.default_rng(seed)) for seed in range(60)], axis=0)
    assert sung[399] == pytest.approx(40.0, abs=0.5)
    assert sung[-1] == pytest.approx(47.0, abs=0.5)
    assert 40.5 < sung[405] < 46.5


def test_held_vowels_are_vowels_and_words_keep_their_order():
    is_vowel = np.tile([False] * 10 + [True] * 20, 4)
    voice = Voice(np.ones((120, 5)), np.zeros((120, 5)), is_vowel, np.full(120, 150.0), np.zeros(9600))
    notes = np.repeat(np.arange(4), 50)
    assert is_vowel[hold_vowels(voice, notes, np.random.default_rng(0))].all()
    words = hold_words(voice, 60, np.random.default_rng(0))
    assert (np.diff(words) >= 0).all()


@pytest.mark.parametrize("make", [tunes.tune, tunes.phrase, tunes.note], ids=lambda make: make.__name__)
def test_tunes_are_midi_files(make):
    content = make(np.random.default_rng(0))
    assert content.startswith(b"MThd")
    assert content.endswith(b"\xff\x2f\x00")


def test_a_faster_sound_is_higher_and_as_long():
    x = np.sin(2 * np.pi * 500 * np.arange(16000) / 16000)
    faster = treatments.speed(x, 1.25)
    assert len(faster) == len(x)
    assert np.abs(np.fft.rfft(faster[:12800])).argmax() * 16000 / 12800 == pytest.approx(625, abs=2)


def test_a_clipped_sound_has_flat_tops():
    x = treatments.clipped(np.sin(np.linspace(0, 50, 1000)), 0.4)
    assert np.abs(x).max() == pytest.approx(0.4, abs=1e-3)
    assert (np.abs(x) > 0.399).mean() > 0.5


TABLES = ("packages.toml", "unseen.toml", "blind.toml")


@pytest.mark.parametrize("table", TABLES)
def test_every_package_has_a_checksum_a_licence_and_files(table):
    rows = packages.read_packages(ROOT / "broadcast" / table)
    assert all(len(row.sha256) == 64 and row.licence and row.attribution for row in rows)
    given = [row.speech or row.music or row.environment or row.singing or "soundfont" in row.name for row in rows]
    assert all(given)


def test_no_package_is_in_two_of_the_tables():
    names = [row.name for table in TABLES for row in packages.read_packages(ROOT / "broadcast" / table)]
    assert len(set(names)) == len(names)


def test_what_is_sung_in_a_package_is_music():
    row = packages.Package("p", "1", "", "", "", speech=["*.ogg", "!*/Singer/*"], singing=["*/Singer/*"])
    assert (row.label_of("v/Singer/a.ogg"), row.is_sung("v/Singer/a.ogg")) == ("music", True)
    assert (row.label_of("v/Pirate/a.ogg"), row.is_sung("v/Pirate/a.ogg")) == ("speech", False)
    assert row.label_of("v/readme.txt") is None


def test_speakers_of_a_package_are_its_parts():
    row = packages.Package("p", "1", "", "", "", speech=["*.ogg"], music=["*.mp3"], part=r"/(\w+)/", speakers=True)
    assert row.author_of("v/anna/a.ogg") == "p anna"
    assert row.author_of("v/anna/a.mp3") == ""  # nobody speaks in music


def test_a_package_with_another_checksum_is_refused(tmp_path):
    row = packages.Package("some", "1.0", "0" * 64, "MIT", "nobody")
    (tmp_path / "some_1.0_all.deb").write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256 .*, should be 0000"):
        packages.fetch(row, tmp_path)


def test_notes_of_instruments_stand_by_themselves():
    notes = [Material(f"{i}.wav", 6.0, "music", "tonejs-instrument-harp", "", "instrumental") for i in range(3)]
    notes += [Material("played.wav", 1.0, "music", "font", "notes", "instrumental")]
    others = [Material("tune.wav", 9.0, "music", "font", "", "instrumental")]
    alone = [clip for clip in plan(notes + others) if "-note-" in clip.name]
    assert sorted(clip.pieces for clip in alone) == [
        ((one.file, 0.0, min(one.seconds, 4.0)),) for one in sorted(notes, key=lambda one: one.file)
    ]


def test_a_part_with_few_sounds_is_drawn_less_often_than_one_with_many():
    few = [Material("rare.wav", 2.0, "environment", "one", "", "alarm and bell")]
    many = [Material(f"{i}.wav", 2.0, "environment", "one", "", "machine") for i in range(25)]
    rng, drawer = np.random.default_rng(0), Drawer(few + many)
    drawn = [drawer.material("one", rng).file for _ in range(600)]
    assert 50 < drawn.count("rare.wav") < 150


def test_packages_of_one_author_are_one_source(tmp_path):
    path = tmp_path / "sounds" / "some-data" / "music" / "a.ogg"
    path.parent.mkdir(parents=True)
    path.touch()
    package = packages.Package("some-data", "1", "", "GPL", "somebody", music=["*.ogg"], group="somebody")
    assert [one.group for one in packages.unpack(package, tmp_path / "none.deb", tmp_path / "sounds")] == ["somebody"]


@pytest.mark.parametrize("hertz", [100.0, 160.0, 250.0])
def test_periods_of_a_voice_are_laid_as_far_apart_as_the_pitch_says(hertz):
    pulses = np.zeros(16000)
    pulses[:: 16000 // 125] = 1.0
    voice = Voice(np.ones((200, 5)), np.zeros((200, 5)), np.full(200, True), np.full(200, 125.0), pulses)
    frames, notes = np.arange(200), np.zeros(200, dtype=int)
    x = by_periods(voice, frames, np.full(200, hertz), notes, np.random.default_rng(0))[4000:12192]
    spectrum = np.abs(np.fft.rfft(x * np.hanning(len(x))))[: round(1.5 * hertz * 8192 / 16000)]
    assert spectrum[20:].argmax() + 20 == pytest.approx(hertz * 8192 / 16000, abs=2)


def test_notes_begin_with_syllables_and_long_ones_are_several():
    is_vowel = np.array([False] * 20 + ([True] * 40 + [False] * 10) * 3 + [True] * 700)
    lengths = lengths_of_syllables(is_vowel, np.random.default_rng(0))
    assert lengths[:3] == [50, 50, 50]
    assert len(lengths) > 6
    assert sum(lengths) == len(is_vowel) - 20


def test_stated_lengths_are_those_of_the_first_notes():
    _, notes = melody(16000, np.random.default_rng(0), [50, 30, 70])
    assert [int((notes == number).sum()) for number in range(3)] == [50, 30, 70]


@pytest.mark.parametrize("seed", range(4))
def test_spoken_words_that_are_made_anew_are_as_long(seed):
    pytest.importorskip("pyworld", reason="the vocoder is built from source where it is installed")
    t = np.arange(24000) / 16000
    voice = np.sign(np.sin(2 * np.pi * 120 * t)) * np.sin(2 * np.pi * 3 * t) ** 2
    made = speak(voice, np.random.default_rng(seed))
    assert len(made) == len(voice)
    assert made.std() > 0


def test_some_speech_goes_through_what_voices_are_made_to_sing_by():
    made = [clip for clip in plan(MATERIALS, size=0.1) if clip.label == "speech"]
    spoken = [clip for clip in made if clip.treatments[0][0] == "spoken"]
    assert 0.2 < len(spoken) / len(made) < 0.4

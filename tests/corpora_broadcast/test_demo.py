import csv
import io
from pathlib import Path

import numpy as np
import pytest
import soundfile
from leaves import TAXONOMY

import audioclass
from audioclass.engine.features import extract
from audioclass.engine.models import load_model

DEMO = Path(__file__).resolve().parents[2] / "corpora" / "demo"


@pytest.fixture
def rows():
    with (DEMO / "demo.csv").open(newline="", encoding="utf-8") as stream:
        return [(row["file"], float(row["start"]), float(row["end"]), row["label"]) for row in csv.DictReader(stream)]


def test_reference_labels_cover_the_recording_without_gaps(rows):
    found = soundfile.info(DEMO / "demo.flac")
    ends = [0.0, *(end for _, _, end, _ in rows)]
    assert [start for _, start, _, _ in rows] == ends[:-1]
    assert ends[-1] == pytest.approx(found.frames / found.samplerate)
    assert (found.samplerate, found.channels) == (16000, 1)


def test_every_label_of_the_model_is_heard(rows):
    assert {label for _, _, _, label in rows} == {"speech", "music", "environment", "silence"}


def test_the_recording_is_small_enough_to_ship():
    assert (DEMO / "demo.flac").stat().st_size < 1.5e6


def test_the_shipped_model_tells_every_part(rows):
    model = load_model("broadcast").at_depth()
    features = extract(DEMO / "demo.flac", model.recipe)
    estimated = [model.labels[i] for i in model.posteriors_of(features.X).argmax(axis=1)]
    for _, start, end, label in rows:
        inside = [
            found
            for found, window in zip(estimated, features.segments, strict=True)
            if start + 0.1 <= window.start and window.end <= end - 0.1
        ]
        assert set(inside) == {label}


@pytest.mark.parametrize("name", ["broadcast", "overlap"])
def test_shipped_models_are_small_and_have_cards(name):
    folder = Path(audioclass.__file__).parent / "models"
    assert (folder / f"{name}.audioclass").stat().st_size < 10e6
    assert "What it does not know" in (folder / f"{name}.md").read_text(encoding="utf-8")


def test_the_shipped_model_tells_four_labels_and_ten_leaves():
    model = load_model("broadcast")
    assert sorted(model.at_depth().labels) == ["environment", "music", "silence", "speech"]
    leaves = {"speech", "silence", "singing", "instrumental", *TAXONOMY["environment"]}
    assert set(model.at_depth(2).labels) == set(model.labels) == leaves


def test_speech_over_music_has_two_probabilities(sounds):
    stream = io.BytesIO()
    soundfile.write(stream, scaled(scaled(sounds["speech"], 3) + scaled(sounds["music"], 0), -20), 16000, format="WAV")
    stream.seek(0)
    result = audioclass.classify(stream, "overlap", windows=True, silence=None)
    assert result.independent
    P = dict(zip(result.labels, result.P.mean(axis=0), strict=True))
    assert P["speech"] > 0.5
    assert P["music"] > 0.5


def labels_heard(samples, rate, decibels):
    """The labels that the model gives to a sound at a level under full scale."""
    stream = io.BytesIO()
    soundfile.write(stream, scaled(samples, decibels), rate, format="WAV", subtype="PCM_16")
    stream.seek(0)
    return {segment.label for segment in audioclass.classify(stream, silence=None).segments}


def scaled(samples, decibels):
    return samples / np.sqrt(np.mean(samples**2)) * 10 ** (decibels / 20)


@pytest.fixture
def sounds(rows):
    """Six seconds of each label, and white noise; their sample rate is 16 kHz."""
    samples, rate = soundfile.read(DEMO / "demo.flac")
    starts = {label: int((start + 0.5) * rate) for _, start, end, label in rows if end - start >= 7}
    parts = {label: samples[start : start + 6 * rate] for label, start in starts.items()}
    return parts | {"noise": np.random.default_rng(0).standard_normal(6 * rate)}


@pytest.mark.parametrize(
    ("sound", "decibels", "label"),
    [("speech", -80, "speech"), ("music", -80, "music"), ("noise", -60, "silence"), ("noise", -35, "environment")],
)
def test_silence_is_steady_noise_that_is_faint(sound, decibels, label, sounds):
    assert labels_heard(sounds[sound], 16000, decibels) == {label}


@pytest.mark.parametrize(("louder", "label"), [(15, "speech"), (-5, "music")])
def test_speech_over_music_is_called_speech_where_the_voice_is_louder(louder, label, sounds):
    mixed = scaled(sounds["speech"], louder) + scaled(sounds["music"], 0)
    assert labels_heard(mixed, 16000, -20) == {label}

import csv
from pathlib import Path

import pytest
import soundfile

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
    model = load_model("broadcast")
    features = extract(DEMO / "demo.flac", model.recipe)
    estimated = [model.labels[i] for i in model.posteriors_of(features.X).argmax(axis=1)]
    for _, start, end, label in rows:
        inside = [
            found
            for found, window in zip(estimated, features.segments, strict=True)
            if start + 0.1 <= window.start and window.end <= end - 0.1
        ]
        assert set(inside) == {label}


def test_the_shipped_model_is_small_and_has_its_card():
    folder = Path(audioclass.__file__).parent / "models"
    assert (folder / "broadcast.audioclass").stat().st_size < 10e6
    assert "What it does not know" in (folder / "broadcast.md").read_text(encoding="utf-8")

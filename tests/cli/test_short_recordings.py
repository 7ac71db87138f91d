"""Recordings that are shorter than a window, as `audioclass classify` tells of them."""

import io
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from trained import RATE, sound

import audioclass
from audioclass.audio.blocks import read_blocks
from audioclass.classifier.durations import flatten_short
from audioclass.cli import run
from audioclass.engine.batches import Outcome
from audioclass.engine.short_recordings import short_recordings_note
from audioclass.extraction.extract import extract_features


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two recordings of a tenth of a second, and one of two seconds; the model's window is half a second."""
    folder = tmp_path_factory.mktemp("short")
    for name, seconds in (("a", 0.1), ("b", 0.1), ("long", 2.0)):
        soundfile.write(folder / f"{name}.wav", sound("noise", 7, seconds), RATE, subtype="PCM_16")
    return folder


def told(capsys, model_file, *paths):
    assert run(["classify", *map(str, paths), "-m", str(model_file)]) == 0
    return [line for line in capsys.readouterr().err.splitlines() if "less sure" in line]


def test_one_that_is_too_short_is_said_to_be(folder, model_file, capsys):
    [line] = told(capsys, model_file, folder / "a.wav")
    assert line.endswith("a.wav: 0.10 s is shorter than the model's window of 0.5 s: its probabilities are less sure")
    assert told(capsys, model_file, folder / "long.wav") == []


def test_of_many_they_are_counted(folder, model_file, capsys):
    assert told(capsys, model_file, folder) == [
        "2 recordings are shorter than the model's window of 0.5 s: their probabilities are less sure"
    ]
    assert told(capsys, model_file, folder / "a.wav", folder / "long.wav") == [
        "1 recording is shorter than the model's window of 0.5 s: its probabilities are less sure"
    ]


def test_its_posteriors_are_flattened_and_the_same_from_file_pipe_and_stream(folder, model_file):
    model = audioclass.load_model(model_file)
    [features] = extract_features(read_blocks(folder / "a.wav", RATE), model.recipe)
    plain = model.posteriors_of(features.X)
    expected = flatten_short(plain, features.segments, model.usual_duration)
    assert expected.max() < plain.max()
    assert audioclass.classify(folder / "a.wav", model, smooth="none").P.tobytes() == expected.tobytes()
    content = (folder / "a.wav").read_bytes()
    assert audioclass.classify(io.BytesIO(content), model, smooth="none").P.tobytes() == expected.tobytes()
    [live] = audioclass.follow(io.BytesIO(content), model, smooth="none")
    assert live.posteriors.tobytes() == expected[0].tobytes()


def test_a_model_of_short_recordings_calls_shorter_ones_short(folder, model_file):
    model = audioclass.load_model(model_file)
    rows = replace(model.recordings, times=np.tile([0.0, 0.2], (len(model.recordings.times), 1)))
    outcomes = [Outcome(folder / "a.wav", seconds=seconds) for seconds in (0.1, 0.3, 0.0)]
    assert short_recordings_note(outcomes, replace(model, recordings=rows)) == (
        "1 recording is shorter than the 0.2 s of most training windows: its probabilities are less sure"
    )
    assert short_recordings_note(outcomes, replace(model, recordings=None, about={})) == ""

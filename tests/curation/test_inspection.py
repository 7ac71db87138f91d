import itertools
import os

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from signals import noise, tone

from audioclass.curation.inspection import (
    full_scale_signs,
    inspect_recording,
    inspect_recordings,
    measure_recordings,
    n_flat_tops,
    recordings_of,
)
from audioclass.data import Clip, Corpus
from audioclass.run import executor_for


def write(path, samples, **options):
    soundfile.write(path, samples, 16000, **options)
    return path


def test_a_recording_is_described(tmp_path):
    stereo = np.stack([tone(100, 0.5), tone(200, 0.5, level=0.25)], axis=1)
    found = inspect_recording(write(tmp_path / "a.wav", stereo))
    assert (found.seconds, found.sample_rate, found.channels, found.flat, found.reason) == (0.5, 16000, 2, 0.0, "")
    assert found.peak == pytest.approx(0.5, abs=1e-3)
    assert not found.is_silent
    assert not found.is_clipped


def test_the_same_samples_have_the_same_content_in_every_format(tmp_path):
    samples = (noise(3.0) * 32767).astype(np.int16)
    files = [write(tmp_path / name, samples) for name in ("a.wav", "b.flac", "c.aiff")]
    assert len({inspect_recording(file).content for file in files}) == 1
    other = write(tmp_path / "d.wav", samples[:-1])
    assert inspect_recording(other).content != inspect_recording(files[0]).content


def test_silence_and_dither_are_silent(tmp_path):
    dither = np.random.default_rng(0).integers(-1, 2, 8000) / 32768
    assert inspect_recording(write(tmp_path / "a.wav", dither)).is_silent
    assert not inspect_recording(write(tmp_path / "b.wav", dither * 5)).is_silent


def test_flat_tops_are_clipping_and_a_full_scale_peak_is_not(tmp_path):
    loud = np.clip(tone(100, 1.0, level=1.5), -1, 1)
    assert inspect_recording(write(tmp_path / "a.wav", loud)).is_clipped
    assert not inspect_recording(write(tmp_path / "b.wav", tone(1000, 1.0, level=0.9999))).is_clipped


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_flat_tops_do_not_depend_on_how_the_recording_was_cut(samples, cuts):
    signs = full_scale_signs(np.array(samples).reshape(-1, 1))
    padded = np.concatenate([np.zeros((2, 1), np.int8), signs])
    edges = [0, *sorted(min(cut, len(signs)) for cut in cuts), len(signs)]
    parts = [n_flat_tops(padded[start : end + 2]) for start, end in itertools.pairwise(edges)]
    runs = [len(list(run)) for sign, run in itertools.groupby(samples) if sign]
    assert sum(parts) == n_flat_tops(padded) == sum(max(run - 2, 0) for run in runs)


def test_what_cannot_be_read_has_a_reason(tmp_path):
    (tmp_path / "text.wav").write_text("a letter")
    os.mkfifo(tmp_path / "pipe.wav")
    files = [tmp_path / name for name in ("text.wav", "pipe.wav", "gone.wav")]
    assert [one.reason.removeprefix(f"{tmp_path}/") for one in inspect_recordings(files, executor_for(1))] == [
        "text.wav: the file is text, not audio",
        "pipe.wav: not a regular file",
        "gone.wav: no such file",
    ]
    assert all(one.reason for one in measure_recordings(files, executor_for(1)))


def test_processes_do_not_change_what_is_found(tmp_path):
    files = [write(tmp_path / f"{i}.wav", noise(0.2, seed=i)) for i in range(3)]
    by_path = {one.path: one for one in inspect_recordings(files, executor_for(2))}
    assert [by_path[file] for file in files] == list(inspect_recordings(files, executor_for(1)))


def test_lengths_are_those_of_the_whole_reading(tmp_path):
    files = [write(tmp_path / name, noise(0.7)) for name in ("a.wav", "b.ogg")]
    measured = {one.path: one.seconds for one in measure_recordings(files, executor_for(2))}
    assert measured == {one.path: one.seconds for one in inspect_recordings(files, executor_for(1))}


def test_progress_is_told_inside_a_recording(tmp_path):
    told = []
    inspect_recording(write(tmp_path / "a.wav", noise(20.0)), lambda *at: told.append(at))
    assert told[-1] == ("a.wav", 20.0, 20.0)
    assert len(told) > 1


def test_every_recording_is_inspected_once(tmp_path):
    clips = [Clip(tmp_path / name, label) for name, label in (("b", "x"), ("a", "x"), ("b", "y"))]
    assert recordings_of(Corpus(tuple(clips))) == [tmp_path / "b", tmp_path / "a"]

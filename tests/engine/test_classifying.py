"""A wav goes in, segments come out: the same from a file, from blocks of any size, from a pipe."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from trained import RATE, mixture

import audioclass
from audioclass.audio.blocks import read_blocks
from audioclass.data import Block
from audioclass.engine.classifying import hear
from audioclass.engine.listening import Reading, listen
from audioclass.errors import AudioFileError, UsageError


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "mélange.wav"
    soundfile.write(path, mixture(), RATE, subtype="FLOAT")
    return path


@pytest.fixture(scope="module")
def model(model_file):
    return audioclass.load_model(model_file)


def test_labels_are_right_and_segments_touch(recording, model):
    result = audioclass.classify(recording, model)
    assert [segment.label for segment in result.segments] == ["tone", "noise", "clicks", "tone"]
    assert result.segments[0].start == 0
    assert result.segments[-1].end == pytest.approx(12.0)
    ends, starts = [s.end for s in result.segments[:-1]], [s.start for s in result.segments[1:]]
    assert ends == starts
    assert ends == pytest.approx([3, 6, 9], abs=0.3)
    assert np.abs(result.P.sum(axis=1) - 1).max() < 1e-9


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_blocks_of_any_size_give_the_same_to_the_bit(recording, model, seed):
    whole = hear(recording, model, Reading(windows=True)).result
    samples = next(iter(read_blocks(recording, RATE, block_length=10**7))).samples
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(samples), 6))
    edges = [0, *cuts[np.diff(cuts, prepend=0) > 0], len(samples)]
    blocks = [Block(samples[a:b], RATE, int(a)) for a, b in zip(edges, edges[1:], strict=False)]
    rows = list(listen(blocks, model, Reading(windows=True)))
    assert [row.segment for row in rows] == list(whole.segments)
    assert np.array_equal([row.posteriors for row in rows], whole.P)


def test_a_stream_in_memory_and_a_path_are_one(recording, model):
    stream = hear(io.BytesIO(recording.read_bytes()), model).result
    path = hear(recording, model).result
    assert stream.segments == path.segments
    assert np.array_equal(stream.P, path.P)


@pytest.mark.parametrize("smooth", ["none", "moving_average", "median", "hmm"])
def test_what_is_listened_to_live_is_what_a_file_gives(recording, model, smooth):
    reading = Reading(smooth, min_duration=0.5, threshold=0.4)
    live = list(listen(read_blocks(recording, RATE, block_length=1000), model, reading))
    file = hear(recording, model, reading).result
    assert [one.segment for one in live] == list(file.segments)
    assert np.array_equal([one.posteriors for one in live], file.P)


def test_the_number_of_threads_does_not_matter(recording, model_file, tmp_path):
    script = (
        "import sys, audioclass, numpy as np; np.save(sys.argv[3], audioclass.classify(*sys.argv[1:3], windows=True).P)"
    )
    found = []
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.npy"
        settings_of = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", script, recording, model_file, out], check=True, env=settings_of)
        found.append(np.load(out))
    assert np.array_equal(*found)


def test_what_is_too_short_goes_to_its_neighbours(recording, model):
    result = audioclass.classify(recording, model, min_duration=100)
    assert len(result.segments) == 1


def test_below_the_threshold_it_is_unknown(recording, model):
    result = audioclass.classify(recording, model, threshold=1.0)
    assert {segment.label for segment in result.segments} == {"unknown"}


def test_a_recording_shorter_than_a_window_is_one_segment(tmp_path, model):
    soundfile.write(tmp_path / "short.wav", mixture()[:800], RATE)
    assert len(audioclass.classify(tmp_path / "short.wav", model).segments) == 1


def test_bad_audio_is_one_line(tmp_path, model):
    (tmp_path / "bad.wav").write_text("no audio")
    with pytest.raises(AudioFileError, match=r"bad\.wav"):
        audioclass.classify(tmp_path / "bad.wav", model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": 2}, "threshold=2 must be a probability"),
        ({"min_duration": -1}, "min_duration=-1 must be a time"),
        ({"smooth": "hmmm"}, "unknown smoother 'hmmm'; did you mean 'hmm'"),
    ],
)
def test_wrong_options_are_one_line(recording, model, changes, message):
    with pytest.raises(UsageError, match=message):
        audioclass.classify(recording, model, **changes)

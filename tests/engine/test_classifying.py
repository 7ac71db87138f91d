"""A wav goes in, segments come out: the same from a file, from blocks of any size, from a pipe."""

import io
import sys
from itertools import pairwise

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import segmentation
from threadpoolctl import threadpool_limits
from trained import RATE, mixture

import audioclass
from audioclass.audio.blocks import read_blocks
from audioclass.data import Block
from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import loaded
from audioclass.engine.streaming import classify_stream
from audioclass.errors import AudioFileError, UsageError


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "mélange.wav"
    soundfile.write(path, mixture(), RATE, subtype="FLOAT")
    return path


@pytest.fixture(scope="module")
def model(model_file):
    return audioclass.load_model(model_file)


@pytest.fixture(scope="module")
def whole(recording, model):
    """Every window of the recording, from its file."""
    return classify_recording(recording, model, segmentation(windows=True)).result


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
@settings(max_examples=20)
def test_blocks_of_any_size_give_the_same_to_the_bit(recording, model, whole, seed):
    samples = next(iter(read_blocks(recording, RATE, block_length=10**7))).samples
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(samples), 6))
    edges = [0, *cuts[np.diff(cuts, prepend=0) > 0], len(samples)]
    blocks = [Block(samples[a:b], RATE, int(a)) for a, b in pairwise(edges)]
    rows = list(classify_stream(blocks, model, segmentation(windows=True)))
    assert [row.segment for row in rows] == list(whole.segments)
    assert np.array_equal([row.posteriors for row in rows], whole.P)


def test_a_stream_in_memory_and_a_path_are_one(recording, model):
    stream = classify_recording(io.BytesIO(recording.read_bytes()), model, segmentation()).result
    path = classify_recording(recording, model, segmentation()).result
    assert stream.segments == path.segments
    assert np.array_equal(stream.P, path.P)


@pytest.mark.parametrize("threads", [1, 4])
def test_the_number_of_threads_does_not_matter(recording, model, threads):
    usual = classify_recording(recording, model, segmentation(windows=True)).result
    with threadpool_limits(threads):
        assert np.array_equal(classify_recording(recording, model, segmentation(windows=True)).result.P, usual.P)


def test_windows_and_outline_are_kept_for_a_page_alone(recording, model):
    plain, heard = (
        classify_recording(recording, model, segmentation()),
        classify_recording(recording, model, segmentation(), for_page=True),
    )
    assert plain.windows is plain.envelope is None
    raw = classify_recording(recording, model, segmentation("none", windows=True)).result
    assert np.array_equal(heard.windows.P, raw.P)
    assert heard.envelope.seconds == heard.seconds == plain.seconds == pytest.approx(12.0)


def test_progress_runs_to_the_end(recording, model):
    seen = []
    classify_recording(recording, model, segmentation(), lambda _, seconds, total: seen.append((seconds, total)))
    assert seen[-1] == (12.0, 12.0)
    assert seen == sorted(seen)


def test_a_data_frame_holds_the_table(recording, model):
    pytest.importorskip("pandas")
    result = audioclass.classify(recording, model)
    frame = result.to_pandas()
    names = [f"posterior_{label}" for label in result.labels]
    assert list(frame.columns) == ["file", "start", "end", "label", *names]
    assert np.array_equal(frame[names].to_numpy(), result.P)
    assert frame.label.tolist() == ["tone", "noise", "clicks", "tone"]
    assert frame.start.tolist() == [segment.start for segment in result.segments]


def test_without_pandas_a_data_frame_is_one_line(recording, model, monkeypatch):
    result = audioclass.classify(recording, model)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="a data frame needs pandas: pip install pandas"):
        result.to_pandas()


def test_a_model_is_read_once(recording, model_file):
    assert loaded(model_file) is loaded(str(model_file))
    assert audioclass.classify(recording, model_file).labels == ("clicks", "noise", "tone")


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

"""Whole file, any size of read, and any pipe: the same features to the bit, for 200 random cuts each."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe as load_recipe
from signals import noise, tone

from audioclass.audio import sndfile
from audioclass.audio.blocks import read_blocks
from audioclass.data import Features
from audioclass.extraction.extract import extract_features

RECIPE = load_recipe("broadcast")
STEREO = np.stack([noise(2.7, 11025), tone(330, 2.7, 11025)], axis=1)


class Pipe(io.RawIOBase):
    """Bytes that come in chunks of the given sizes, over and over."""

    def __init__(self, content, sizes):
        self._content, self._sizes, self._turn = io.BytesIO(content), sizes, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        self._turn += 1
        chunk = self._content.read(min(self._sizes[self._turn % len(self._sizes)], len(buffer)))
        buffer[: len(chunk)] = chunk
        return len(chunk)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("invariance") / "stereo.wav"
    soundfile.write(path, STEREO, 11025)
    return path


@pytest.fixture(scope="module")
def expected(recording):
    return features(recording)


def features(source, recipe=RECIPE):
    chunks = extract_features(read_blocks(source, recipe.framing.sample_rate), recipe)
    return Features.joined(chunks, recipe.columns, recipe.groups)


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 40000))
def test_any_size_of_read_gives_the_same_bits(recording, expected, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sndfile, "LONGEST_BLOCK", max(size, 50))
        made = features(recording)
    assert np.array_equal(made.X, expected.X)
    assert made.segments == expected.segments


@settings(max_examples=200, deadline=None)
@given(sizes=st.lists(st.integers(1, 30000), min_size=1, max_size=6))
def test_any_pipe_gives_the_same_bits(recording, expected, sizes):
    made = features(Pipe(recording.read_bytes(), [max(size, 100) for size in sizes]))
    assert np.array_equal(made.X, expected.X)
    assert made.segments == expected.segments


@pytest.mark.parametrize("size", [999, 30011, 10**6])
def test_windows_that_librosa_sees_are_the_same_for_any_pipe(tmp_path, size):
    """18 s: two windows from one block of frames and the context of the next, one from the end."""
    samples = tone(220, 18.0, 22050) * np.tile(np.linspace(1, 0, 11025), 36) + noise(18.0, 22050, 0.01)
    soundfile.write(tmp_path / "long.wav", samples, 22050)
    recipe = load_recipe("music")
    expected = features(tmp_path / "long.wav", recipe)
    piped = features(Pipe((tmp_path / "long.wav").read_bytes(), [size]), recipe)
    assert len(expected.X) == 3
    assert np.isfinite(expected.X).all()
    assert np.array_equal(piped.X, expected.X)

import numpy as np
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from signals import noise

from audioclass.audio.blocks import read_blocks
from audioclass.audio.silence import Trimmed

SOUND = noise(0.01, 8000)


def trimmed(samples, sizes=(), longest=10**6):
    edges = np.minimum(np.cumsum([0, *sizes, len(samples)]), len(samples))
    chunks = [samples[a:b] for a, b in zip(edges, edges[1:], strict=False)]  # noqa: RUF007
    made = Trimmed(chunks, longest)
    return np.concatenate([*made, np.empty(0, np.float32)]), made.leading


def padded(before, between, after):
    parts = [np.zeros(before), SOUND, np.zeros(between), SOUND, np.zeros(after)]
    return np.concatenate(parts).astype(np.float32)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.lists(st.integers(0, 60), max_size=9))
def test_silence_at_the_ends_is_left_out_however_samples_come(before, between, after, sizes):
    samples, leading = trimmed(padded(before, between, after), sizes)
    assert np.array_equal(samples, padded(0, between, 0))
    assert leading == before


@given(st.lists(st.integers(0, 60), max_size=9))
def test_no_more_than_the_longest_is_left_out_at_the_end(sizes):
    samples, _ = trimmed(padded(0, 0, 50), sizes, longest=20)
    assert len(samples) == len(padded(0, 0, 30))


def test_a_step_of_dither_is_silence():
    dither = np.full(10, 1 / 32768, np.float32)
    assert np.array_equal(trimmed(np.concatenate([dither, SOUND, -dither]))[0], SOUND)


def test_all_silence_is_one_sample():
    samples, leading = trimmed(np.zeros(500, np.float32), [100, 7])
    assert (samples.tolist(), leading) == ([0.0], 0)


def test_blocks_start_where_the_sound_does(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.concatenate([np.zeros(4000), noise(0.5, 8000), np.zeros(800)]), 8000)
    blocks = list(read_blocks(tmp_path / "a.wav", 16000, trim=True))
    assert blocks[0].start == 8000
    assert sum(len(block.samples) for block in blocks) == 8000

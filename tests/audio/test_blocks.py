import io
import os
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import noise, tone

from audioclass.audio.blocks import cut_blocks, longest_wait, read_blocks, regroup
from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError

STEREO = np.stack([noise(3.2, 44100, seed=1), noise(3.2, 44100, seed=2)], axis=1)
CUTS = st.lists(st.integers(0, len(STEREO)), max_size=12).map(sorted)


def joined(arrays):
    return np.concatenate(list(arrays))


def convert(arrays, in_rate, out_rate):
    """Mono samples of what a decoder gives in these arrays, at another rate."""
    decoder = SimpleNamespace(sample_rate=in_rate, blocks=lambda: arrays)
    return (block.samples[:, 0] for block in cut_blocks(decoder, out_rate))


def samples_of(blocks):
    return joined(block.samples for block in blocks)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("audio") / "noise.wav"
    soundfile.write(path, STEREO, 44100, subtype="PCM_16")
    return path


@given(CUTS)
@settings(max_examples=200, deadline=None)
def test_cuts_do_not_change_a_bit(cuts):
    whole = joined(convert([STEREO], 44100, 16000))
    np.testing.assert_array_equal(joined(convert(np.split(STEREO, cuts), 44100, 16000)), whole)


@given(CUTS, st.integers(20, 100_000))
@settings(max_examples=200, deadline=None)
def test_regrouping_keeps_every_sample_in_its_place(cuts, length):
    groups = list(regroup(np.split(STEREO, cuts), length))
    assert [len(group) for group in groups[:-1]] == [length] * (len(groups) - 1)
    assert 0 < len(groups[-1]) <= length
    np.testing.assert_array_equal(joined(groups), STEREO)


@given(st.lists(st.integers(1, 9000), max_size=12))
@settings(max_examples=200, deadline=None)
def test_a_pipe_gives_the_bits_of_the_file(recording, sizes):
    reader, writer = os.pipe()
    thread = threading.Thread(target=write_in_pieces, args=(recording.read_bytes(), sizes, writer))
    thread.start()
    with os.fdopen(reader, "rb", buffering=0) as stream:
        piped = list(read_blocks(stream, 16000, block_length=5000))
    thread.join()
    filed = list(read_blocks(recording, 16000, block_length=5000))
    assert [block.start for block in piped] == [block.start for block in filed]
    np.testing.assert_array_equal(samples_of(piped), samples_of(filed))


def write_in_pieces(data, sizes, writer):
    """Chunks of the given sizes, then the rest at once."""
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        for size in sizes:
            pipe.write(data[:size])
            data = data[size:]
        pipe.write(data)


@pytest.mark.parametrize("block_length", [1000, 4096, 1 << 20])
def test_the_length_of_blocks_does_not_change_a_bit(recording, block_length):
    blocks = list(read_blocks(recording, 22050, block_length=block_length))
    assert {len(block.samples) for block in blocks[:-1]} <= {block_length}
    assert [block.start for block in blocks] == list(range(0, len(samples_of(blocks)), block_length))
    np.testing.assert_array_equal(samples_of(blocks), samples_of(read_blocks(recording, 22050)))


@pytest.mark.parametrize("in_rate", [8000, 22050, 44100, 96000, 192000])
@pytest.mark.parametrize("out_rate", [8000, 16000, 44100])
@pytest.mark.parametrize("n_samples", [1, 2, 99, 65536, 140_001])
def test_soxr_gives_the_same_for_the_whole_signal(in_rate, out_rate, n_samples):
    signal = noise(1, n_samples)
    converted = joined(convert([signal[:, np.newaxis]], in_rate, out_rate))
    whole = soxr.resample(signal, in_rate, out_rate, quality="HQ")
    np.testing.assert_array_equal(converted, whole if len(whole) else signal[:1])
    assert abs(len(converted) - n_samples * out_rate / in_rate) <= max(0.5, 1 - n_samples * out_rate / in_rate)


def test_a_tone_stays_where_it_was():
    converted = joined(convert([tone(440, 2, 48000)[:, np.newaxis]], 48000, 16000))
    np.testing.assert_allclose(converted[500:-500], tone(440, 2, 16000)[500:-500], atol=1e-4)


def test_channels_are_averaged():
    eight = np.stack([noise(0.1, seed=seed) for seed in range(8)], axis=1)
    np.testing.assert_allclose(joined(convert([eight], 16000, 16000)), eight.mean(axis=1), atol=1e-7)


def test_the_mean_of_the_loudest_samples_is_finite():
    loudest = np.full((3, 2), np.finfo(np.float32).max)
    assert np.isfinite(joined(convert([loudest], 16000, 16000))).all()


def test_one_channel_can_be_taken(recording):
    second = soundfile.read(recording, dtype="float32")[0][:, 1]
    np.testing.assert_array_equal(samples_of(read_blocks(recording, 44100, channel=1))[:, 0], second)


@pytest.mark.parametrize("channel", [2, -1])
def test_a_channel_that_is_not_there_is_reported(recording, channel):
    with pytest.raises(AudioFileError, match=rf"noise.wav: no channel {channel}, must be from 0 to 1"):
        list(read_blocks(recording, 16000, channel=channel))


def test_a_length_of_nothing_is_refused():
    with pytest.raises(ValueError, match="length=0 must be positive"):
        list(regroup([STEREO], 0))


def test_no_arrays_give_no_samples():
    assert sum(map(len, convert([], 44100, 16000))) == 0


@pytest.mark.parametrize("sample_rate", [8000, 16000, 192000])
@pytest.mark.parametrize("in_rate", [8000, 192000])
def test_one_sample_gives_one_block_at_least_one_sample_long(tmp_path, in_rate, sample_rate):
    soundfile.write(tmp_path / "one.wav", [0.5], in_rate)
    [block] = read_blocks(tmp_path / "one.wav", sample_rate)
    assert len(block.samples) == max(1, sample_rate // in_rate)


def test_blocks_are_mono_float32_at_the_wanted_rate_and_frozen(recording):
    block = next(read_blocks(recording, 16000))
    assert (block.sample_rate, block.start, block.samples.shape) == (16000, 0, (51200, 1))
    assert block.samples.dtype == np.float32
    assert not block.samples.flags.writeable


def test_progress_is_known_at_every_block(recording):
    with open_audio(recording) as audio:
        positions = [audio.position for _ in cut_blocks(audio, 44100, block_length=20_000)]
    assert positions == sorted(positions)
    assert positions[-1] == audio.declared == len(STEREO)


def test_good_blocks_come_before_the_error(tmp_path, recording):
    (tmp_path / "cut.wav").write_bytes(recording.read_bytes()[:300_000])
    blocks = read_blocks(tmp_path / "cut.wav", 44100, block_length=10_000)
    assert [next(blocks).start for _ in range(7)] == list(range(0, 70_000, 10_000))
    with pytest.raises(AudioFileError, match=r"cut.wav: ends after 1.70 s of the 3.20 s it declares"):
        next(blocks)


class Endless(io.RawIOBase):
    """A WAV header, then hours of silence at 8 bits."""

    def __init__(self, seconds):
        header = io.BytesIO()
        soundfile.write(header, [], 8000, format="WAV", subtype="PCM_U8")
        self.head, self.left = header.getvalue(), 8000 * seconds

    def read(self, n):
        if self.head:
            given, self.head = self.head[:n], self.head[n:]
            return given
        n = min(n, self.left)
        self.left -= n
        return b"\x80" * n


def test_ten_hours_take_no_more_memory_than_a_minute():
    tracemalloc.start()
    n_samples = sum(len(block.samples) for block in read_blocks(Endless(36_000), 8000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_samples == 36_000 * 8000
    assert peak < 8_000_000


@pytest.mark.parametrize("in_rate", [8000, 11025, 16000, 44100, 192000])
@pytest.mark.parametrize("trim", [False, True])
def test_no_sample_is_held_back_for_longer_than_stated(in_rate, trim):
    levels = np.repeat([0.5, 0.0, 0.5], [12 * in_rate, 11 * in_rate, 2 * in_rate]).astype(np.float32)[:, None]
    taken = 0

    def coming():
        nonlocal taken
        for taken in range(100, len(levels) + 1, 100):
            yield levels[taken - 100 : taken]

    decoder = SimpleNamespace(sample_rate=in_rate, channels=1, blocks=coming)
    blocks = cut_blocks(decoder, 16000, block_length=4096, trim=trim)
    longest = max((taken - 100) / in_rate - block.start / 16000 for block in blocks)
    stated = longest_wait(in_rate, 16000, block_length=4096, trim=trim)
    assert 0.5 * stated < longest <= stated

import io
import struct

import numpy as np
import pytest
import soundfile
from signals import noise

from audioclass.audio.source import Source
from audioclass.audio.streams import Unreadable, plain_sound, sample_bytes

PLAIN = ("PCM_U8", "PCM_S8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE")
CONTAINERS = ("WAV", "WAVEX", "RF64", "W64", "AU")
CASES = [(c, s) for c in CONTAINERS for s in PLAIN if soundfile.check_format(c, s)]
STEREO = np.stack([noise(0.5, seed=1, level=0.4), noise(0.5, seed=2)], axis=1)


def encoded(container="WAV", subtype="PCM_16", samples=STEREO) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 16000, format=container, subtype=subtype)
    return buffer.getvalue()


def with_data_size(wav: bytes, size: int) -> bytes:
    at = wav.index(b"data") + 4
    return wav[:at] + struct.pack("<I", size) + wav[at + 4 :]


def with_chunk(wav: bytes, name: bytes, content: bytes, before: bytes) -> bytes:
    at = wav.index(before)
    return wav[:at] + name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2) + wav[at:]


def judged(data: bytes) -> np.ndarray:
    return soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)[0]


def streamed(data: bytes) -> np.ndarray:
    return np.concatenate(list(plain_sound(Source(io.BytesIO(data))).arrays))


@pytest.mark.parametrize(("container", "subtype"), CASES)
def test_bits_are_those_of_soundfile(container, subtype):
    data = encoded(container, subtype)
    sound = plain_sound(Source(io.BytesIO(data)))
    assert (sound.sample_rate, sound.channels, sound.declared) == (16000, 2, len(STEREO))
    np.testing.assert_array_equal(np.concatenate(list(sound.arrays)), judged(data))


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32"])
def test_the_whole_range_of_whole_numbers_agrees(subtype):
    edges = np.array([[-1.0], [1.0], [0.0], [2.0**-31], [-(2.0**-15)]])
    data = encoded(subtype=subtype, samples=np.concatenate([edges, np.linspace(-1, 1, 999)[:, np.newaxis]]))
    np.testing.assert_array_equal(streamed(data), judged(data))


def test_samples_of_sixteen_bits_by_hand():
    header = encoded(samples=np.zeros((3, 1)))[:-6]
    samples = streamed(header + struct.pack("<3h", -32768, 16384, 1))
    assert samples.ravel().tolist() == [-1.0, 0.5, 2.0**-15]


@pytest.mark.parametrize("size", [0x7FFFF000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], ids=hex)
def test_a_placeholder_for_the_length_lasts_until_the_end(size):
    data = with_data_size(encoded(), size)
    assert plain_sound(Source(io.BytesIO(data))).declared is None
    np.testing.assert_array_equal(streamed(data), judged(data))


@pytest.mark.parametrize("whole", [0, 8, 36, 0xFFFFFFFF], ids=hex)
def test_a_length_of_nothing_in_an_unfinished_file_lasts_until_the_end(whole):
    data = with_data_size(encoded(), 0)
    np.testing.assert_array_equal(streamed(data[:4] + struct.pack("<I", whole) + data[8:]), judged(encoded()))


def test_a_length_of_nothing_before_other_chunks_is_nothing():
    data = encoded(samples=np.zeros((0, 2))) + b"LIST" + struct.pack("<I", 8) + b"INFOabcd"
    assert list(plain_sound(Source(io.BytesIO(data[:4] + struct.pack("<I", len(data) - 8) + data[8:]))).arrays) == []


@pytest.mark.parametrize("before", [b"fmt ", b"data"])
@pytest.mark.parametrize("length", [3, 300_000])
def test_unknown_chunks_are_skipped(before, length):
    data = with_chunk(encoded(), b"junk", bytes(length), before)
    np.testing.assert_array_equal(streamed(data), judged(data))


def test_a_chunk_after_the_samples_is_read_but_not_decoded():
    stream = io.BytesIO(encoded() + b"LIST" + struct.pack("<I", 8) + b"INFOabcd")
    arrays = list(plain_sound(Source(stream)).arrays)
    assert sum(map(len, arrays)) == len(STEREO)
    assert stream.read() == b""


@pytest.mark.parametrize("data", [encoded("WAV", "ULAW"), encoded("WAV", "IMA_ADPCM"), encoded("AU", "ALAW"),
                                  encoded("AIFF"), encoded("FLAC"), b"RIFF", b"", b"GIF89a"],
                         ids=["ulaw", "adpcm", "alaw", "aiff", "flac", "riff alone", "nothing", "picture"])  # fmt: skip
def test_other_formats_are_left_as_they_came(data):
    source = Source(io.BytesIO(data))
    assert plain_sound(source) is None
    assert source.take(len(data) + 1) == data


def test_a_format_that_never_comes_is_not_waited_for_in_memory():
    source = Source(io.BytesIO(b"RIFF\xff\xff\xff\xffWAVEjunk\xff\xff\xff\x7f" + bytes(5_000_000)))
    assert plain_sound(source) is None
    assert source.offset == 0


def test_a_header_without_samples_is_reported():
    data = encoded()
    with pytest.raises(Unreadable, match="ends before its first sample"):
        plain_sound(Source(io.BytesIO(data[: data.index(b"data")])))


def test_samples_that_do_not_fill_a_frame_are_left_out():
    assert len(streamed(with_data_size(encoded()[:-3], 0xFFFFFFFF))) == len(STEREO) - 1


def test_a_double_beyond_float32_becomes_infinite():
    assert streamed(encoded(subtype="DOUBLE", samples=np.array([[1e300], [0.5]])))[0, 0] == np.inf


@pytest.mark.parametrize("container", [*CONTAINERS, "AIFF"])
def test_the_header_states_the_bytes_of_the_samples(container):
    data = encoded(container)
    offset, size = sample_bytes(Source(io.BytesIO(data)))
    assert offset + size == len(data)


def test_a_flac_file_states_no_bytes():
    assert sample_bytes(Source(io.BytesIO(encoded("FLAC")))) is None

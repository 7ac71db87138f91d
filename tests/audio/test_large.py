"""Sizes that 32 bits cannot state, chunks that do not fit in memory, and lengths that are a guess."""

import struct
import tracemalloc

import numpy as np
import pytest
import soundfile
from signals import noise

from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError

RATE = 8000
SAMPLES = np.arange(1, 4001, dtype="<i2")
BEYOND = 3 << 30  # bytes of a hole in a file, which take no room on a disk


def decoded(path):
    with open_audio(path) as audio:
        return np.concatenate(list(audio.blocks()))[:, 0]


def chunk(name, content, size=None):
    return name + struct.pack("<I", len(content) if size is None else size) + content


def write_wav(path, *, size=None, hole=0):
    """16 bits in a WAV whose samples state that size, behind a chunk that is a hole."""
    head = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16))
    with path.open("wb") as file:
        file.write(b"RIFF\xff\xff\xff\xffWAVE" + head)
        if hole:
            file.write(b"JUNK" + struct.pack("<I", hole))
            file.seek(hole, 1)
        file.write(chunk(b"data", SAMPLES.tobytes(), size))
    return path


@pytest.mark.parametrize("size", [0, 0x7FFFFFFF, 0x7FFFF000, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFF000])
def test_a_size_that_is_a_placeholder_lasts_until_the_end(tmp_path, size):
    assert np.array_equal(decoded(write_wav(tmp_path / "a.wav", size=size)), SAMPLES / np.float32(1 << 15))


@pytest.mark.parametrize("size", [0xFFFFFFFF, 100_000], ids=["placeholder", "without the bits above 32"])
def test_a_wav_beyond_four_gigabytes_is_read_to_its_end(tmp_path, size):
    path = write_wav(tmp_path / "a.wav", size=size)
    n_bytes = (1 << 32) + 100_000
    with path.open("r+b") as file:
        file.truncate(44 + n_bytes)  # a hole again: it is opened here, reading it takes seconds
    with open_audio(path) as audio:
        assert audio.declared in (None, n_bytes // 2)
        assert np.array_equal(next(audio.blocks())[:4000, 0], SAMPLES / np.float32(1 << 15))


def test_a_chunk_behind_the_samples_is_not_heard(tmp_path):
    path = write_wav(tmp_path / "a.wav")
    path.write_bytes(path.read_bytes() + chunk(b"LIST", bytes(50_000)))
    assert len(decoded(path)) == len(SAMPLES)


@pytest.mark.parametrize("suffix", [".wav", ".aiff"])
def test_a_chunk_before_the_samples_takes_no_memory(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    if suffix == ".wav":
        write_wav(path, hole=BEYOND)
    else:
        with path.open("wb") as file:
            file.write(b"FORM\xff\xff\xff\xf0AIFFAPPL" + struct.pack(">I", BEYOND))
            file.seek(BEYOND, 1)
            file.write(b"SSND" + struct.pack(">III", 8008, 0, 0) + SAMPLES.tobytes())
    tracemalloc.start()
    try:
        length = len(decoded(path))
    except AudioFileError:  # an AIFF without its COMM
        length = 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length == (len(SAMPLES) if suffix == ".wav" else 0)
    assert peak < 10_000_000


def write_mpeg_wav(path, seconds, *, cut=0):
    """MP3 in a WAV, without the frame that states its length."""
    soundfile.write(path.with_suffix(".mp3"), noise(seconds, 22050), 22050, format="MP3")
    content = path.with_suffix(".mp3").read_bytes()
    content = content[content.index(content[:2], 100) :]
    form = struct.pack("<HHIIHHHHIHHH", 0x55, 1, 22050, 8000, 1, 0, 12, 1, 2, 417, 1, 1393)
    body = b"WAVE" + chunk(b"fmt ", form) + chunk(b"data", content)
    path.write_bytes((b"RIFF" + struct.pack("<I", len(body)) + body)[: -cut or None])
    return path


@pytest.mark.parametrize("seconds", [0.9, 3.0, 6.0])
def test_mp3_in_a_wav_is_read_to_the_end_of_its_frames(tmp_path, seconds):
    n_samples = len(decoded(write_mpeg_wav(tmp_path / "a.wav", seconds)))
    assert seconds * 22050 <= n_samples <= seconds * 22050 + 3 * 1152


def test_mp3_in_a_wav_that_was_cut_is_noticed(tmp_path):
    with pytest.raises(AudioFileError, match=r"a.wav: damaged after \S+ s: holds \d+ bytes of the \d+ it declares"):
        decoded(write_mpeg_wav(tmp_path / "a.wav", 3.0, cut=2000))

import io

import numpy as np
import pytest
import soundfile
from signals import noise

from audioclass.audio.decode import open_audio
from audioclass.audio.raw import ENCODINGS, RawFormat
from audioclass.errors import AudioFileError, UsageError

SUBTYPES = {"u8": "PCM_U8", "s16": "PCM_16", "s24": "PCM_24", "s32": "PCM_32", "f32": "FLOAT", "f64": "DOUBLE",
            "mulaw": "ULAW", "alaw": "ALAW"}  # fmt: skip
STEREO = np.stack([noise(0.2, seed=1, level=0.4), noise(0.2, seed=2)], axis=1)


def as_libsndfile(encoding):
    """The arguments with which libsndfile writes and reads the same raw samples."""
    name, order = (encoding[:-2], encoding[-2:]) if encoding[-2:] in ("le", "be") else (encoding, "le")
    endian = {"le": "LITTLE", "be": "BIG"}[order]
    return {"samplerate": 16000, "format": "RAW", "subtype": SUBTYPES[name], "endian": endian}


def raw_bytes(encoding, samples=STEREO):
    content = io.BytesIO()
    soundfile.write(content, samples, **as_libsndfile(encoding))
    return content.getvalue()


class Trickle(io.RawIOBase):
    """A pipe that gives an odd number of bytes at a time."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def read(self, n_bytes=-1):
        """What came since."""
        return self._content.read(min(n_bytes, 1237))


def decoded(source, encoding, channels=2):
    with open_audio(source, raw=RawFormat(16000, encoding, channels)) as audio:
        assert (audio.sample_rate, audio.channels) == (16000, channels)
        return np.concatenate(list(audio.blocks()))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bits_are_those_of_libsndfile_from_a_file_and_a_pipe(tmp_path, encoding):
    content, path = raw_bytes(encoding), tmp_path / "samples.raw"
    path.write_bytes(content)
    judged, _ = soundfile.read(io.BytesIO(content), channels=2, dtype="float32", **as_libsndfile(encoding))
    np.testing.assert_array_equal(decoded(path, encoding), judged)
    np.testing.assert_array_equal(decoded(Trickle(content), encoding), judged)


@pytest.mark.parametrize("encoding", ["mulaw", "alaw", "u8"])
def test_every_byte_is_the_sample_that_libsndfile_takes_it_for(encoding):
    content = bytes(range(256))
    judged, _ = soundfile.read(io.BytesIO(content), channels=1, dtype="float32", **as_libsndfile(encoding))
    np.testing.assert_array_equal(decoded(io.BytesIO(content), encoding, 1).ravel(), judged)


def test_a_part_of_a_sample_at_the_end_is_reported_as_damage():
    content = raw_bytes("s16le")[:-1]
    reason = "damaged after 0.20 s: ends with 3 of the 4 bytes of a sample"
    with open_audio(io.BytesIO(content), strict=False, raw=RawFormat(16000, "s16le", 2)) as audio:
        assert sum(map(len, audio.blocks())) == len(STEREO) - 1
    assert audio.cut.reason == reason
    with pytest.raises(AudioFileError, match=reason):
        decoded(io.BytesIO(content), "s16le")


@pytest.mark.parametrize("content", [b"", b"\0"])
def test_less_than_one_sample_is_an_error(content):
    with pytest.raises(AudioFileError, match="holds no samples|ends with 1 of the 4 bytes"):
        decoded(io.BytesIO(content), "s16le")


@pytest.mark.parametrize("container", ["WAV", "RF64", "AIFF", "AU", "W64", "FLAC", "OGG", "CAF"])
def test_what_has_a_header_is_not_raw(container):
    content = io.BytesIO()
    soundfile.write(content, STEREO, 16000, format=container)
    with pytest.raises(UsageError, match="the stream: has the header of .*, which states rate and encoding"):
        open_audio(io.BytesIO(content.getvalue()), raw=RawFormat(16000, "s16le"))


def test_raw_samples_that_are_not_stated_are_told_how_to_state_them(tmp_path):
    content = raw_bytes("s16le")
    with pytest.raises(AudioFileError, match="if these are raw samples, state their rate and encoding"):
        open_audio(io.BytesIO(content))
    (tmp_path / "a.PCM").write_bytes(content)
    with pytest.raises(AudioFileError, match="no header says what it holds; .*--rate 16000 --encoding s16le"):
        open_audio(tmp_path / "a.PCM")


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ((None, "s16le", None), "the rate must be stated too"),
        ((16000, None, None), "the encoding must be stated too"),
        ((None, None, 2), "the rate and the encoding must be stated too"),
        ((16000, "s16", None), "unknown encoding 's16'; did you mean 's16"),
        ((4000, "s16le", None), "sample rate 4000 Hz, must be from 8000"),
        ((16000, "s16le", 0), "0 channels, must be from 1"),
        ((16000, "s16le", 33), "33 channels, must be from 1 to 32"),
    ],
)
def test_what_is_stated_must_be_whole_and_known(stated, message):
    with pytest.raises(UsageError, match=message):
        RawFormat.stated(*stated)


def test_nothing_stated_is_no_raw_format():
    assert RawFormat.stated(None, None, None) is None

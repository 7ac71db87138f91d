import io
import re

import numpy as np
import pytest
import soundfile
from signals import noise, tone

from audioclass.audio.blocks import read_blocks
from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError

FORMATS = {"WAV": "PCM_16", "FLAC": "PCM_24", "OGG": "VORBIS", "MP3": "MPEG_LAYER_III", "AIFF": "PCM_16",
           "AU": "ULAW", "CAF": "ALAC_16", "W64": "FLOAT", "RF64": "PCM_16", "NIST": "PCM_16"}  # fmt: skip
STEREO = np.stack([noise(4, 48000, seed=1), noise(4, 48000, seed=2)], axis=1)


def decoded(path):
    with open_audio(path) as audio:
        return np.concatenate(list(audio.blocks()))


def write(path, samples=STEREO, **options):
    soundfile.write(path, samples, 48000, **options)
    return path


@pytest.fixture
def variable_mp3(tmp_path):
    """Noise, which takes many bits, then a long tone, which takes few: the first frames mislead about the length.

    Before them stands an ID3 tag; the tag that states the length is blotted out.
    """
    samples = np.concatenate([noise(1, 48000), tone(440, 9, 48000)])
    path = write(tmp_path / "untagged.mp3", samples, bitrate_mode="VARIABLE", compression_level=0.5)
    frames = path.read_bytes().replace(b"Xing", bytes(4), 1).replace(b"Info", bytes(4), 1)
    path.write_bytes(b"ID3\x03\x00\x00" + bytes([0, 1, 2, 3]) + bytes(128 * 128 + 2 * 128 + 3) + frames)
    return path


@pytest.mark.parametrize("container", FORMATS)
def test_samples_are_those_of_soundfile(tmp_path, container):
    path = write(tmp_path / "a", format=container, subtype=FORMATS[container])
    np.testing.assert_array_equal(decoded(path), soundfile.read(path, dtype="float32", always_2d=True)[0])


def test_opus_is_read(tmp_path):
    assert len(decoded(write(tmp_path / "a.opus", format="OGG", subtype="OPUS"))) == len(STEREO)


@pytest.mark.parametrize("container", FORMATS)
def test_a_pipe_gives_the_samples_of_the_file(tmp_path, container):
    path = write(tmp_path / "a", format=container, subtype=FORMATS[container])
    with path.open("rb") as stream:
        piped = np.concatenate([block.samples for block in read_blocks(stream, 16000)])
    np.testing.assert_array_equal(piped, np.concatenate([block.samples for block in read_blocks(path, 16000)]))


@pytest.mark.parametrize("container", ["WAV", "RF64", "W64", "AIFF", "AU", "FLAC", "MP3"])
def test_a_file_that_was_cut_is_reported_with_both_durations(tmp_path, container):
    path = write(tmp_path / "cut", format=container, subtype=FORMATS[container])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioFileError, match=r"cut: (ends|damaged) after [12]\.\d\d s of the 4\.00 s it declares"):
        decoded(path)


def test_a_compressed_wav_that_was_cut_is_reported(tmp_path):
    path = write(tmp_path / "cut.wav", subtype="IMA_ADPCM")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioFileError, match=r"cut.wav: ends after 2\.\d\d s of the 4\.\d\d s it declares"):
        decoded(path)


def test_a_header_that_contradicts_its_file_is_reported(tmp_path):
    path = write(tmp_path / "cut.caf")
    path.write_bytes(path.read_bytes()[:100_000])
    with pytest.raises(AudioFileError, match="cut.caf: libsndfile says: .*malformed"):
        decoded(path)


def test_a_few_bytes_less_than_declared_are_accepted(tmp_path):
    path = write(tmp_path / "a.wav")
    path.write_bytes(path.read_bytes()[:-40])
    assert len(decoded(path)) == len(STEREO) - 10


def test_an_unfinished_wav_is_read_to_its_end(tmp_path):
    path = write(tmp_path / "a.wav")
    whole, data = decoded(path), path.read_bytes()
    path.write_bytes(data[:4] + bytes(4) + data[8:40] + bytes(4) + data[44:])
    np.testing.assert_array_equal(decoded(path), whole)


def test_a_flac_that_states_no_length_is_read_to_its_end(tmp_path):
    path = write(tmp_path / "a.flac")
    whole, data = decoded(path), bytearray(path.read_bytes())
    data[21] &= 0xF0
    data[22:26] = bytes(4)
    path.write_bytes(data)
    with open_audio(path) as audio:
        assert audio.declared is None
        np.testing.assert_array_equal(np.concatenate(list(audio.blocks())), whole)


@pytest.mark.parametrize("container", ["FLAC", "MP3"])
def test_damage_in_the_middle_is_reported_with_its_place(tmp_path, container):
    path = write(tmp_path / "hurt", format=container)
    whole, data, middle = decoded(path), path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(data[:middle] + np.random.default_rng(0).bytes(5000) + data[middle + 5000 :])
    reason = r"damaged after 1\.9\d s of the 4\.00 s it declares: libsndfile says: "
    with open_audio(path) as audio, pytest.raises(AudioFileError, match=f"hurt: {reason}"):
        list(audio.blocks())
    with open_audio(path, strict=False) as audio:
        samples = np.concatenate(list(audio.blocks()))
    assert re.match(reason, audio.cut.reason)
    assert audio.cut.seconds == len(samples) / audio.sample_rate == pytest.approx(1.95, abs=0.05)
    np.testing.assert_array_equal(samples[:-2304], whole[: len(samples) - 2304])


def test_an_mp3_that_states_no_length_is_read_to_its_end(variable_mp3):
    with open_audio(variable_mp3) as audio:
        assert audio.declared is None
        assert 10.0 <= sum(map(len, audio.blocks())) / 48000 < 10.1


def test_an_mp3_that_states_no_length_comes_through_a_pipe_as_well(variable_mp3):
    data = variable_mp3.read_bytes()
    variable_mp3.write_bytes(data[data.index(b"\xff\xfb") :])
    with variable_mp3.open("rb") as stream:
        piped = decoded(stream)
    np.testing.assert_array_equal(piped, decoded(variable_mp3))


def test_an_mp3_that_states_no_length_may_end_within_a_frame(variable_mp3):
    whole = decoded(variable_mp3)
    variable_mp3.write_bytes(variable_mp3.read_bytes()[:-100])
    cut = decoded(variable_mp3)
    assert len(whole) - 3 * 1152 < len(cut) < len(whole)
    np.testing.assert_array_equal(cut, whole[: len(cut)])


def test_damage_in_an_mp3_that_states_no_length_is_reported(variable_mp3):
    data, middle = variable_mp3.read_bytes(), variable_mp3.stat().st_size // 3
    variable_mp3.write_bytes(data[:middle] + np.random.default_rng(0).bytes(5000) + data[middle + 5000 :])
    with pytest.raises(AudioFileError, match=r"untagged.mp3: damaged after \d\.\d\d s: libsndfile says"):
        decoded(variable_mp3)


def test_what_only_begins_like_an_mp3_is_reported():
    with pytest.raises(AudioFileError, match="the stream: libsndfile says: "):
        open_audio(io.BytesIO(b"\xff\xfb" + bytes(10_000)))


def test_an_mp3_can_be_left_early(variable_mp3):
    with open_audio(variable_mp3) as audio:
        assert len(next(audio.blocks())) == 1152


def test_an_ogg_file_that_ends_within_a_page_is_cut(tmp_path):
    path = write(tmp_path / "a.ogg", format="OGG")
    whole, data = decoded(path), path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(AudioFileError, match=r"a.ogg: damaged after \S+ s.*: ends within a page of Ogg"):
        decoded(path)
    path.write_bytes(data + b"TAG" + bytes(125))
    np.testing.assert_array_equal(decoded(path), whole)

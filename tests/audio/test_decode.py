import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import noise, tone

from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError


def decoded(source):
    with open_audio(source) as audio:
        return np.concatenate(list(audio.blocks()))


def write(path, samples, sample_rate=16000, **options):
    soundfile.write(path, samples, sample_rate, **options)
    return path


def test_blocks_are_bounded_float32(tmp_path):
    path = write(tmp_path / "a.wav", noise(20)[:, np.newaxis].repeat(2, axis=1))
    with open_audio(path) as audio:
        blocks = list(audio.blocks())
    assert (audio.sample_rate, audio.channels, audio.declared, audio.position) == (16000, 2, 320_000, 320_000)
    assert {block.dtype for block in blocks} == {np.dtype(np.float32)}
    assert max(map(len, blocks)) == 65536


@pytest.mark.parametrize("sample_rate", [8000, 192000])
def test_the_outermost_sample_rates_are_read(tmp_path, sample_rate):
    assert len(decoded(write(tmp_path / "a.wav", noise(0.1), sample_rate))) == 1600


@pytest.mark.parametrize("sample_rate", [7999, 192001])
@pytest.mark.parametrize("opened", [Path, open], ids=["file", "pipe"])
def test_sample_rates_beyond_are_refused(tmp_path, sample_rate, opened):
    path = write(tmp_path / "a.wav", noise(0.1), sample_rate)
    with pytest.raises(AudioFileError, match=f": sample rate {sample_rate} Hz, must be from 8000 to 192000 Hz"):
        open_audio(path if opened is Path else io.BytesIO(path.read_bytes()))


def test_thirty_two_channels_are_read(tmp_path):
    assert decoded(write(tmp_path / "a.wav", np.zeros((10, 32)))).shape == (10, 32)


def test_more_channels_are_refused(tmp_path):
    with pytest.raises(AudioFileError, match=r"a.wav: 33 channels, must be from 1 to 32"):
        open_audio(write(tmp_path / "a.wav", np.zeros((10, 33))))


@pytest.mark.parametrize("name", ["a.wav", "a.aiff", "a.au", "a.w64", "a.caf"])
def test_no_samples_are_reported(tmp_path, name):
    path = write(tmp_path / name, [])
    with pytest.raises(AudioFileError, match=f"{name}: holds no samples"):
        decoded(path)
    with pytest.raises(AudioFileError, match="the stream: holds no samples"):
        decoded(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.ogg"])
def test_one_sample_is_one_block(tmp_path, name):
    with open_audio(write(tmp_path / name, [0.5])) as audio:
        assert [len(block) for block in audio.blocks()] == [1]


@pytest.mark.parametrize("value", [1e10, -1e19, 3e38])
def test_samples_that_no_integers_hold_are_refused(tmp_path, value):
    samples = np.zeros((80_000, 2), np.float32)
    samples[70_000, 1] = value
    path = write(tmp_path / "a.wav", samples, subtype="FLOAT")
    with pytest.raises(AudioFileError, match=r"a.wav: sample 70000 is -?\S+, must be within ±4.29e\+09"):
        decoded(path)


def test_samples_of_the_range_of_integers_are_kept(tmp_path):
    samples = np.array([-(2.0**31), 2.0**31, 40_000.0], np.float32)
    assert decoded(write(tmp_path / "a.wav", samples, subtype="FLOAT"))[:, 0].tolist() == samples.tolist()


@pytest.mark.parametrize(("value", "what"), [(np.nan, "not a number"), (np.inf, "not finite"), (-np.inf, "not finite")])
@pytest.mark.parametrize("channel", [0, 1])
def test_what_is_not_a_number_is_reported_with_its_place(tmp_path, value, what, channel):
    samples = np.zeros((100_000, 2))
    samples[70_000, channel] = value
    path = write(tmp_path / "a.wav", samples, subtype="FLOAT")
    with pytest.raises(AudioFileError, match=rf"a.wav: sample 70000 is {what}$"):
        decoded(path)


def test_samples_beyond_one_are_kept(tmp_path):
    assert decoded(write(tmp_path / "a.wav", [3.5, -7.25], subtype="FLOAT")).ravel().tolist() == [3.5, -7.25]


def test_a_stream_that_was_cut_is_reported_with_both_durations(tmp_path):
    data = write(tmp_path / "a.wav", noise(5)).read_bytes()
    with pytest.raises(AudioFileError, match=r"the stream: ends after 1.20 s of the 5.00 s it declares"):
        decoded(io.BytesIO(data[: 44 + 2 * 19200]))


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(AudioFileError, match=r"gone.wav: no such file or directory"):
        open_audio(tmp_path / "gone.wav")


def test_a_directory_is_reported(tmp_path):
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(AudioFileError, match=r"folder.wav: is a directory, must be a file"):
        open_audio(tmp_path / "folder.wav")


def test_a_file_that_may_not_be_read_is_reported(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path / "secret.wav", [0.5])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(AudioFileError, match=r"secret.wav: permission denied"):
        open_audio(path)


def test_a_named_pipe_is_reported_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(AudioFileError, match=r"pipe.wav: is a pipe, must be a file or '-' for standard input"):
        open_audio(tmp_path / "pipe.wav")


def test_a_device_is_reported():
    with pytest.raises(AudioFileError, match="/dev/zero: is a device, must be a file"):
        open_audio("/dev/zero")


@pytest.mark.parametrize("opened", [Path, io.BytesIO], ids=["file", "pipe"])
def test_nothing_at_all_is_reported(tmp_path, opened):
    (tmp_path / "a.wav").touch()
    with pytest.raises(AudioFileError, match="(a.wav|the stream): the file is empty"):
        open_audio(tmp_path / "a.wav" if opened is Path else io.BytesIO())


@pytest.mark.parametrize("text", ["Grüße\n" * 100, "#EXTM3U\nhttp://localhost/a.ts\n", "ffconcat version 1.0"])
@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.m4a", "a.raw", "a"])
def test_text_is_called_text(tmp_path, text, name):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(AudioFileError, match=f"{name}: the file is text, not audio"):
        open_audio(tmp_path / name)
    with pytest.raises(AudioFileError, match="the stream: the file is text, not audio"):
        open_audio(io.BytesIO(text.encode()))


def test_no_format_at_all_is_one_line(tmp_path):
    (tmp_path / "a.wav").write_bytes(np.random.default_rng(0).bytes(10_000))
    with pytest.raises(AudioFileError, match=r"/a.wav: .*\Z"):
        open_audio(tmp_path / "a.wav")


@pytest.mark.parametrize(
    "name", ["-", "-rf.wav", "two words.wav", "größe 声.wav", "line\nbreak.wav", "\udcff.wav", "a.raw"]
)
def test_odd_names_are_read(tmp_path, name):
    write(tmp_path / "plain.wav", [0.5, 0.25]).rename(tmp_path / name)
    assert decoded(tmp_path / name).ravel().tolist() == [0.5, 0.25]


@pytest.mark.parametrize("name", ["line\nbreak.wav", "\udcff.wav"])
def test_odd_names_are_shown_on_one_line_that_can_be_printed(tmp_path, name):
    with pytest.raises(AudioFileError) as caught:
        open_audio(tmp_path / name)
    assert str(caught.value).isprintable()


SUMMARY = (
    "from audioclass.audio.decode import open_audio; a = open_audio('-'); print(sum(map(len, a.blocks())), a.name)"
)


@pytest.mark.parametrize("container", ["WAV", "FLAC", "MP3"])
def test_standard_input_is_read(tmp_path, container):
    path = write(tmp_path / "a", tone(440, 1), format=container)
    done = subprocess.run([sys.executable, "-c", SUMMARY], input=path.read_bytes(), capture_output=True, check=True)
    assert done.stdout == b"16000 standard input\n"


def test_closed_standard_input_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(AudioFileError, match="standard input: is closed"):
        open_audio("-")


def test_live_audio_comes_before_its_pipe_is_closed(tmp_path):
    data = write(tmp_path / "a.wav", noise(1)).read_bytes()
    reader, writer = os.pipe()
    os.write(writer, data[:20_044])
    with os.fdopen(reader, "rb", buffering=0) as stream, open_audio(stream) as audio:
        arrays = audio.blocks()
        n_live = sum(len(next(arrays)) for _ in range(2))
        os.close(writer)
    assert n_live == 10_000

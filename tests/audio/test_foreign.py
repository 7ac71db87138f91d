import os
import shutil
import subprocess
import sys

import av
import numpy as np
import pytest
import soundfile
from signals import tone

from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="the program ffmpeg is not installed")
EITHER = [pytest.param("ffmpeg", marks=needs_ffmpeg), "PyAV"]


@pytest.fixture
def without_ffmpeg(monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)


@pytest.fixture(params=EITHER)
def decoder(request, monkeypatch):
    """Each decoder in turn; ffmpeg comes first where both are there."""
    if request.param == "PyAV":
        monkeypatch.setenv("PATH", os.devnull)
    return request.param


def write(path, codec="aac", seconds=3.0, **options):
    """A tone of 440 Hz in two channels at 44.1 kHz."""
    samples = np.repeat(tone(440, seconds, 44100)[np.newaxis], 2, axis=0)
    with av.open(path, "w", options=options) as container:
        track = container.add_stream(codec, rate=44100, layout="stereo")
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        frame.sample_rate, frame.pts = 44100, 0
        for packet in (*track.encode(frame), *track.encode(None)):
            container.mux(packet)
    return path


def write_silent_film(path):
    with av.open(path, "w") as container:
        track = container.add_stream("mpeg4", rate=25)
        track.width = track.height = 64
        for packet in (*track.encode(av.VideoFrame(64, 64, "yuv420p")), *track.encode(None)):
            container.mux(packet)
    return path


def decoded(source):
    with open_audio(source) as audio:
        return np.concatenate(list(audio.blocks()))


def test_the_tone_comes_back(tmp_path, decoder):
    samples = decoded(write(tmp_path / "tone.m4a"))
    assert samples.dtype == np.float32
    assert samples.shape[1] == 2
    np.testing.assert_allclose(samples[4096:120_000, 0], tone(440, 3, 44100)[4096:120_000], atol=0.01)


def test_the_length_is_declared(tmp_path, decoder):
    with open_audio(write(tmp_path / "tone.m4a")) as audio:
        assert (audio.sample_rate, audio.channels) == (44100, 2)
        assert audio.declared == pytest.approx(3 * 44100, abs=4096)
        assert sum(map(len, audio.blocks())) == pytest.approx(3 * 44100, abs=4096)


@pytest.mark.parametrize("suffix", ["aac", "ts"])
def test_a_length_that_is_only_guessed_is_not_declared(tmp_path, decoder, suffix):
    with open_audio(write(tmp_path / f"tone.{suffix}")) as audio:
        assert audio.declared is None


@needs_ffmpeg
@pytest.mark.parametrize("suffix", ["m4a", "aac", "ts"])
def test_both_decoders_agree(tmp_path, suffix, monkeypatch):
    path = write(tmp_path / f"tone.{suffix}")
    by_ffmpeg = decoded(path)
    monkeypatch.setenv("PATH", os.devnull)
    np.testing.assert_allclose(by_ffmpeg, decoded(path), atol=1e-5)


@pytest.mark.parametrize("suffix", ["m4a", "aac", "mkv"])
def test_a_pipe_gives_the_samples_of_the_file(tmp_path, decoder, suffix):
    path = write(tmp_path / f"tone.{suffix}")
    with path.open("rb") as stream:
        np.testing.assert_array_equal(decoded(stream), decoded(path))


def test_neither_decoder_is_one_line_that_names_the_fix(tmp_path, without_ffmpeg, monkeypatch):
    path = write(tmp_path / "talk.m4a")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(AudioFileError, match=r"talk.m4a: this format needs ffmpeg \(or pip install 'audioclass\[vid"):
        open_audio(path)


def test_a_film_without_sound_is_reported(tmp_path, decoder):
    with pytest.raises(AudioFileError, match="film.mp4: holds no audio track"):
        open_audio(write_silent_film(tmp_path / "film.mp4"))


def test_a_codec_that_nobody_knows_is_reported(tmp_path, decoder):
    path = tmp_path / "strange.caf"
    soundfile.write(path, tone(440, 1), 16000)
    path.write_bytes(path.read_bytes().replace(b"lpcm", b"zzzz", 1))
    with pytest.raises(AudioFileError, match=rf"strange.caf: {decoder} says: "):
        open_audio(path)


def test_tags_in_another_encoding_do_no_harm(tmp_path, decoder):
    path = write(tmp_path / "tone.m4a")
    path.write_bytes(path.read_bytes().replace(b"isom", b"is\xff\xfe", 1))
    assert len(decoded(path)) > 0


@pytest.mark.parametrize("options", [{"movflags": "faststart"}, {}], ids=["index first", "index last"])
def test_an_m4a_that_was_cut_is_reported(tmp_path, decoder, options):
    path = write(tmp_path / "cut.m4a", seconds=6, **options)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioFileError, match=r"cut.m4a: (damaged after .* of the 6\.\d\d s|\w+ says: Invalid data)"):
        decoded(path)


def test_a_matroska_that_was_cut_is_reported(tmp_path, decoder):
    path = write(tmp_path / "cut.mkv", seconds=6)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(
        AudioFileError, match=r"cut.mkv: (ends|damaged) after [23]\.\d\d s of the 6\.\d\d s it declares"
    ):
        decoded(path)


def test_damage_in_the_middle_is_reported_with_its_place(tmp_path, decoder):
    path = write(tmp_path / "hurt.aac")
    data, middle = path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(data[:middle] + np.random.default_rng(0).bytes(600) + data[middle + 600 :])
    with pytest.raises(AudioFileError, match=rf"hurt.aac: damaged after \d\.\d\d s: {decoder} says: "):
        decoded(path)


@pytest.mark.parametrize("name", ["-i.m4a", "two words.m4a", "100%d:é.m4a", "line\nbreak.m4a", "\udcff.m4a"])
def test_odd_names_are_read(tmp_path, decoder, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "plain.m4a").rename(name)
    assert len(decoded(name)) > 0


@needs_ffmpeg
def test_ffmpeg_is_gone_when_a_recording_is_left_early(tmp_path, monkeypatch):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    with open_audio(write(tmp_path / "long.m4a", seconds=60)) as audio:
        next(audio.blocks())
    assert [process.args[0] for process in started] == ["ffprobe", "ffmpeg"]
    assert all(process.returncode is not None for process in started)

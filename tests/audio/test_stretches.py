import itertools

import numpy as np
import pytest
import signals
import soundfile

from audioclass.audio.decode import open_audio
from audioclass.audio.stretches import cut_stretch, read_stretch
from audioclass.errors import AudioFileError

RATE = 8000


def sound(channels: int = 1, level: float = 0.2, seconds: float = 2.0) -> np.ndarray:
    """Noise of its own on each channel, with the largest and the smallest sample of a format in it."""
    samples = np.column_stack([signals.noise(seconds, RATE, level, seed=channel) for channel in range(channels)])
    samples = np.clip(samples, -1, 1 - 2**-15).astype(np.float64)
    samples[RATE : RATE + 2, 0] = -1, 1 - 2**-15
    return samples


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize(
    ("suffix", "subtype"),
    [
        (".wav", "PCM_U8"), (".wav", "PCM_16"), (".wav", "PCM_24"), (".wav", "PCM_32"), (".wav", "FLOAT"),
        (".wav", "DOUBLE"), (".wav", "ULAW"), (".flac", "PCM_16"), (".flac", "PCM_24"), (".aiff", "PCM_S8"),
        (".w64", "PCM_16"), (".au", "PCM_16"), (".caf", "PCM_24"),
    ],
)  # fmt: skip
def test_a_clip_holds_exactly_the_samples_of_the_stretch(tmp_path, suffix, subtype, channels):
    recording = tmp_path / f"all{suffix}"
    soundfile.write(recording, sound(channels), RATE, subtype=subtype)
    clip = cut_stretch(recording, 0.9, 1.50004, tmp_path / "clip")
    stored, _ = soundfile.read(recording, always_2d=True)
    samples, sample_rate = soundfile.read(clip, always_2d=True)
    assert sample_rate == RATE
    np.testing.assert_array_equal(samples, stored[7200:12000])
    assert clip.suffix == (".flac" if subtype in ("PCM_S8", "PCM_U8", "PCM_16", "PCM_24") else ".wav")


@pytest.mark.parametrize("channels", [1, 2])
def test_floats_beyond_full_scale_are_kept(tmp_path, channels):
    recording = tmp_path / "loud.wav"
    soundfile.write(recording, 3 * sound(channels), RATE, subtype="FLOAT")
    clip = cut_stretch(recording, 0.5, 1.5, tmp_path / "clip")
    samples, _ = soundfile.read(clip, always_2d=True)
    assert clip.suffix == ".wav"
    assert np.abs(samples).max() > 1
    np.testing.assert_array_equal(samples, soundfile.read(recording, always_2d=True)[0][4000:12000])


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("suffix", [".mp3", ".ogg"])
def test_what_cannot_be_sought_in_is_cut_from_what_is_decoded_from_the_start(tmp_path, suffix, channels):
    recording = tmp_path / f"all{suffix}"
    soundfile.write(recording, sound(channels, level=0.05), RATE)
    with open_audio(recording) as audio:
        decoded = np.concatenate(list(audio.blocks()))
    clip = cut_stretch(recording, 0.25, 0.75, tmp_path / "clip")
    samples, _ = soundfile.read(clip, always_2d=True)
    assert samples.shape == (4000, channels)
    np.testing.assert_allclose(samples, decoded[2000:6000], atol=2**-15)


def test_stretches_that_touch_are_the_whole(tmp_path):
    recording = tmp_path / "all.wav"
    soundfile.write(recording, sound(), RATE)
    times = [0.0, 0.3333, 0.33335, 1.0, 2.0]
    parts = [read_stretch(recording, start, end)[0] for start, end in itertools.pairwise(times)]
    np.testing.assert_array_equal(np.concatenate(parts), soundfile.read(recording, dtype="float32", always_2d=True)[0])


@pytest.mark.parametrize("suffix", [".wav", ".ogg"])
def test_a_stretch_beyond_the_end_stops_there(tmp_path, suffix):
    recording = tmp_path / f"all{suffix}"
    soundfile.write(recording, sound(), RATE)
    assert len(read_stretch(recording, 1.5, 9.0)[0]) == 4000
    assert len(read_stretch(recording, 8.0, 9.0)[0]) == 0


def test_a_clip_that_is_there_is_not_overwritten(tmp_path):
    recording = tmp_path / "all.wav"
    soundfile.write(recording, sound(), RATE)
    clip = cut_stretch(recording, 0.0, 1.0, tmp_path / "clip")
    before = clip.read_bytes()
    with pytest.raises(AudioFileError, match=r"clip\.flac: is there already"):
        cut_stretch(recording, 1.0, 2.0, tmp_path / "clip")
    assert clip.read_bytes() == before


def test_a_place_may_have_dots_in_its_name(tmp_path):
    recording = tmp_path / "all.wav"
    soundfile.write(recording, sound(), RATE)
    assert cut_stretch(recording, 0.0, 1.0, tmp_path / "a_0.00-1.00").name == "a_0.00-1.00.flac"

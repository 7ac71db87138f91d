import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.mel import LogMel
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)


@pytest.mark.parametrize(
    ("framing", "bands", "lowest"),
    [
        pytest.param(FRAMING, 40, 40.0, id="16kHz"),
        pytest.param(Framing(22050, 2048, 512), 64, 0.0, id="22kHz"),
        pytest.param(Framing(44100, 2048, 512), 26, 300.0, id="44kHz"),
    ],
)
def test_librosa_agrees(framing, bands, lowest):
    spectra = CachedSpectra(noise(0.3, framing.sample_rate), framing)
    power = librosa.feature.melspectrogram(S=spectra.power.T, sr=framing.sample_rate, n_mels=bands, fmin=lowest)
    judge = librosa.power_to_db(power, ref=1.0, amin=1e-10, top_db=None).T
    np.testing.assert_allclose(LogMel(bands, lowest).frames(spectra), judge, atol=1e-3)


def test_silence_lies_at_the_floor():
    assert LogMel().frames(CachedSpectra(np.zeros(2000), FRAMING)) == pytest.approx(-100, abs=1e-4)


def test_gain_lifts_every_band_by_its_decibels():
    plain, louder = (LogMel().frames(CachedSpectra(gain * noise(0.2), FRAMING)) for gain in (1, 10))
    np.testing.assert_allclose(louder - plain, 20, atol=1e-2)


@pytest.mark.parametrize("frequency", [300, 1000, 4000])
def test_a_tone_is_loudest_in_the_band_around_it(frequency):
    framing = Framing(16000, 2048, 512)
    centres = librosa.mel_frequencies(40 + 2, fmin=40, fmax=8000)[1:-1]
    loudest = LogMel(bands=40).frames(CachedSpectra(tone(frequency, 0.3), framing)).argmax(axis=1)
    assert set(loudest) == {np.abs(librosa.hz_to_mel(centres) - librosa.hz_to_mel(frequency)).argmin()}


def test_there_is_a_column_for_each_band():
    assert LogMel(bands=3).columns(FRAMING) == ["mel_0", "mel_1", "mel_2"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param({"bands": 0}, "log_mel: bands=0 must be at least 1 and at most 512", id="no-band"),
        pytest.param({"lowest": -1.0}, r"log_mel: lowest=-1\.0 must be at least 0", id="negative-frequency"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LogMel(**parameters)


def test_a_lowest_frequency_above_the_highest_is_refused():
    with pytest.raises(ValueError, match="lowest=9000 Hz must be below half the sample rate, 8000 Hz"):
        LogMel(lowest=9000.0).frames(CachedSpectra(noise(0.1), FRAMING))

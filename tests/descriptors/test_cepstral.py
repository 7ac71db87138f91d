import librosa
import numpy as np
import pytest
import scipy.fft
from signals import noise

from audioclass.data import Framing
from audioclass.descriptors.cepstral import Mfcc
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)
NOISE = CachedSpectra(noise(0.3), FRAMING)


@pytest.mark.parametrize(("coefficients", "bands"), [(20, 40), (13, 26), (64, 64), (1, 40)])
def test_librosa_agrees_on_the_same_bands(coefficients, bands):
    levels = NOISE.log_mel(bands, 40.0)
    judge = librosa.feature.mfcc(S=levels.T, n_mfcc=coefficients, dct_type=2, norm="ortho").T
    np.testing.assert_allclose(Mfcc(coefficients, bands).frames(NOISE), judge, atol=1e-3)


def test_librosa_agrees_from_the_power_on():
    mel = librosa.feature.melspectrogram(S=NOISE.power.T, sr=16000, n_mels=40, fmin=40)
    levels = librosa.power_to_db(mel, ref=1.0, amin=1e-10, top_db=None)
    np.testing.assert_allclose(Mfcc().frames(NOISE), librosa.feature.mfcc(S=levels, n_mfcc=20).T, atol=1e-3)


def test_the_cosines_are_those_of_the_formula():
    bands, coefficients = np.arange(40), np.arange(20)
    cosines = np.cos(np.pi * np.outer(bands + 0.5, coefficients) / 40)
    orthonormal = cosines / np.sqrt((cosines**2).sum(axis=0))
    np.testing.assert_allclose(Mfcc().frames(NOISE), NOISE.log_mel(40, 40.0) @ orthonormal, atol=1e-3)


def test_all_coefficients_give_the_bands_back():
    cepstrum = Mfcc(coefficients=40, bands=40).frames(NOISE)
    np.testing.assert_allclose(scipy.fft.idct(cepstrum, norm="ortho"), NOISE.log_mel(40, 40.0), atol=1e-3)


def test_gain_moves_the_0th_coefficient_alone():
    louder = Mfcc().frames(CachedSpectra(10 * noise(0.3), FRAMING))
    change = louder - Mfcc().frames(NOISE)
    np.testing.assert_allclose(change[:, 0], 20 * np.sqrt(40), atol=0.01)
    np.testing.assert_allclose(change[:, 1:], 0, atol=0.01)


def test_silence_has_a_level_and_no_shape():
    cepstrum = Mfcc().frames(CachedSpectra(np.zeros(2000), FRAMING))
    np.testing.assert_allclose(cepstrum[:, 0], -100 * np.sqrt(40), rtol=1e-5)
    np.testing.assert_allclose(cepstrum[:, 1:], 0, atol=1e-3)


def test_there_is_a_column_for_each_coefficient():
    assert Mfcc(coefficients=3).columns(FRAMING) == ["mfcc_0", "mfcc_1", "mfcc_2"]


def test_there_are_at_most_as_many_coefficients_as_bands():
    with pytest.raises(ValueError, match="mfcc: coefficients=41 must be at most bands=40"):
        Mfcc(coefficients=41, bands=40)

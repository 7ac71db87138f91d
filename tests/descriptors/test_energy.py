import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.energy import Level, Loudness, a_weighting
from audioclass.descriptors.spectra import CachedSpectra, hann

FRAMING = Framing(16000, 512, 160)


def level(samples: np.ndarray, framing: Framing = FRAMING) -> np.ndarray:
    return Level().frames(CachedSpectra(samples, framing))[:, 0]


def loudness(samples: np.ndarray, framing: Framing = FRAMING) -> np.ndarray:
    return Loudness().frames(CachedSpectra(samples, framing))[:, 0]


@pytest.mark.parametrize("length", [512, 501], ids=["even", "odd"])
def test_librosa_agrees_on_the_level(length):
    spectra = CachedSpectra(noise(0.3), Framing(16000, length, 160))
    rms = librosa.feature.rms(S=spectra.magnitude.T, frame_length=length)[0]
    judge = 20 * np.log10(rms) - 10 * np.log10(np.mean(hann(length) ** 2))
    np.testing.assert_allclose(Level().frames(spectra)[:, 0], judge, atol=1e-4)


@pytest.mark.parametrize("length", [512, 501], ids=["even", "odd"])
def test_level_is_the_weighted_mean_square_of_the_frame(length):
    spectra = CachedSpectra(noise(0.3), Framing(16000, length, 160))
    squares = np.hanning(length + 1)[:-1] ** 2
    judge = 10 * np.log10((spectra.frames.astype(float) ** 2 @ squares) / squares.sum())
    np.testing.assert_allclose(Level().frames(spectra)[:, 0], judge, atol=1e-4)


@pytest.mark.parametrize("frequency", [250, 1000, 3333, 7000])
def test_a_sine_of_amplitude_one_half_has_a_level_of_minus_nine_decibels(frequency):
    assert level(tone(frequency, 0.2)) == pytest.approx(10 * np.log10(0.5**2 / 2), abs=0.01)


def test_a_full_scale_square_has_a_level_of_zero():
    square = np.sign(tone(100, 0.2) + 1e-3)
    assert level(square) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("descriptor", [Level(), Loudness()], ids=lambda component: component.name)
@pytest.mark.parametrize("gain", [0.1, 0.5, 2.0])
def test_gain_moves_the_level_by_its_decibels(descriptor, gain):
    plain, louder = (descriptor.frames(CachedSpectra(factor * noise(0.2), FRAMING)) for factor in (1, gain))
    np.testing.assert_allclose(louder - plain, 20 * np.log10(gain), atol=1e-3)


@pytest.mark.parametrize("descriptor", [Level(), Loudness()], ids=lambda component: component.name)
def test_silence_lies_at_the_floor(descriptor):
    assert descriptor.frames(CachedSpectra(np.zeros(2000), FRAMING)) == pytest.approx(-100, abs=1e-4)


def test_librosa_agrees_on_the_a_curve():
    hertz = np.geomspace(10, 20000, 200)
    judge = librosa.A_weighting(hertz, min_db=None)
    np.testing.assert_allclose(10 * np.log10(a_weighting(hertz)), judge, atol=1e-3)


def test_the_a_curve_is_the_table_of_the_standard():
    hertz = 1000 * 10 ** (0.3 * np.arange(-5, 4))
    table = [-39.4, -26.2, -16.1, -8.6, -3.2, 0, 1.2, 1.0, -1.1]  # IEC 61672, 31.5 Hz to 8 kHz by octaves
    np.testing.assert_allclose(10 * np.log10(a_weighting(hertz)), table, atol=0.06)


@pytest.mark.parametrize("frequency", [250, 500, 1000, 2500, 6000])
def test_a_tone_is_as_loud_as_the_a_curve_says(frequency):
    samples = tone(frequency, 0.2)
    assert loudness(samples) - level(samples) == pytest.approx(librosa.A_weighting(frequency), abs=0.1)


def test_librosa_agrees_on_the_loudness_of_noise():
    spectra = CachedSpectra(noise(0.3), FRAMING)
    gain = librosa.db_to_power(librosa.A_weighting(spectra.frequencies[1:], min_db=None))
    weighted = np.sqrt(spectra.power[:, 1:] * gain)
    rms = librosa.feature.rms(S=np.pad(weighted, ((0, 0), (1, 0))).T, frame_length=512)[0]
    judge = 20 * np.log10(rms) - 10 * np.log10(np.mean(hann(512) ** 2))
    np.testing.assert_allclose(Loudness().frames(spectra)[:, 0], judge, atol=1e-3)


def test_the_ear_does_not_hear_a_constant():
    constant = np.full(2000, 0.5)
    assert level(constant) == pytest.approx(20 * np.log10(0.5), abs=1e-3)
    assert (loudness(constant) < level(constant) - 40).all()

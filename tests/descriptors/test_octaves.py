import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.octaves import Octaves
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)
EDGES = (0, 250, 500, 1000, 2000, 4000, 8000)


def levels(spectra: CachedSpectra) -> np.ndarray:
    return Octaves().frames(spectra)[:, :6]


def test_mean_power_of_each_band_worked_by_hand(spectra_with):
    power = np.repeat([1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0], [8, 8, 16, 32, 64, 129])
    octaves = Octaves().frames(spectra_with([power]))
    assert octaves[0] == pytest.approx([-50, -40, -30, -20, -10, 0, 10, 10, 10, 10, 10], abs=1e-3)


def test_ratios_are_differences_of_neighbouring_bands():
    octaves = Octaves().frames(CachedSpectra(noise(0.3), FRAMING))
    np.testing.assert_array_equal(octaves[:, 6:], np.diff(octaves[:, :6], axis=1))


def test_white_noise_is_equally_strong_in_all_bands():
    power = 10 ** (levels(CachedSpectra(noise(20), FRAMING)) / 10)
    expected = 0.1**2 * (np.hanning(513)[:-1] ** 2).sum()
    np.testing.assert_allclose(10 * np.log10(power.mean(axis=0) / expected), 0, atol=0.3)


@pytest.mark.parametrize("band", range(6))
def test_a_tone_is_in_its_own_band(band):
    frequency = (EDGES[band] + EDGES[band + 1]) / 2
    assert set(levels(CachedSpectra(tone(frequency, 0.2), FRAMING)).argmax(axis=1)) == {band}


def test_gain_lifts_the_levels_and_leaves_the_ratios():
    plain, louder = (Octaves().frames(CachedSpectra(gain * noise(0.2), FRAMING)) for gain in (1, 10))
    np.testing.assert_allclose(louder - plain, [[20] * 6 + [0] * 5] * len(plain), atol=1e-3)


def test_silence_lies_at_the_floor_with_ratios_of_zero():
    silence = Octaves().frames(CachedSpectra(np.zeros(2000), FRAMING))
    np.testing.assert_allclose(silence, [[-100] * 6 + [0] * 5] * len(silence), atol=1e-4)


def test_there_is_one_ratio_fewer_than_bands():
    names = [f"octave_{i}" for i in range(6)] + [f"octave_ratio_{i}" for i in range(1, 6)]
    assert Octaves().columns(FRAMING) == names

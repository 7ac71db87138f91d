import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.amplitudes import Amplitudes
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)


def amplitudes(samples, framing=FRAMING, **parameters):
    return Amplitudes(**parameters).frames(CachedSpectra(np.asarray(samples, np.float32), framing))


def test_values_worked_out_by_hand():
    # Squares 1, 1, 0.25, 0: their mean is 9/16, that of their squares 33/64.
    [row] = amplitudes([1, -1, 0.5, 0], Framing(16000, 4, 4))
    assert row == pytest.approx(np.log([4 / 3, 1 / 2, 1 / 2, (33 / 64) / (9 / 16) ** 2]), abs=1e-6)


def test_a_tone_has_the_peak_factor_and_kurtosis_of_a_sine():
    rows = amplitudes(tone(440.0, 0.5, 16000))
    assert rows[:, 0] == pytest.approx(np.full(len(rows), np.log(2) / 2), abs=0.03)
    assert rows[:, 3] == pytest.approx(np.full(len(rows), np.log(1.5)), abs=0.05)


def test_level_does_not_matter():
    samples = noise(0.3)
    np.testing.assert_allclose(amplitudes(samples), amplitudes(0.125 * samples), atol=1e-6)


def test_clipping_lowers_the_peak_and_gathers_samples_at_it():
    samples = noise(0.3)
    soft, hard = amplitudes(samples), amplitudes(np.clip(10 * samples, -np.abs(samples).max(), np.abs(samples).max()))
    assert (hard[:, 0] < soft[:, 0]).all()
    assert (hard[:, 1] > soft[:, 1]).all()


def test_silence_is_zero():
    assert not amplitudes(np.zeros(2000)).any()


def test_only_the_middle_of_a_frame_is_looked_at():
    samples = np.concatenate([[9.0], [1, -1, 0.5, 0], [9.0]])
    assert amplitudes(samples, Framing(16000, 6, 6), most=4) == pytest.approx(
        amplitudes(samples[1:5], Framing(16000, 4, 4))
    )


def test_no_frame_gives_no_row():
    assert amplitudes(np.zeros(10)).shape == (0, 4)

import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.embeddings.pcen import Pcen

RATE = 22050


def test_a_stationary_gain_is_suppressed():
    samples = noise(4.0, RATE)
    soft, loud = (Pcen().embed(level * samples, RATE) for level in (0.1, 1.0))
    np.testing.assert_allclose(loud, soft, rtol=0.05)  # 20 dB apart


def test_the_mean_of_a_steady_tone_worked_out_by_hand():
    pcen = Pcen(bands=1, lowest=0.0, sample_rate=16000, gain=1.0, time_constant=0.06)  # E / E = 1 but for the start
    mean, _ = pcen.embed(tone(1000, 6.0, 16000), 16000)
    assert mean == pytest.approx((1 + 2) ** 0.5 - 2**0.5, abs=0.01)


def test_values_are_those_of_librosa():
    samples = noise(2.0, RATE) * np.linspace(0, 1, 2 * RATE, dtype=np.float32)
    mel = librosa.feature.melspectrogram(y=samples, sr=RATE, power=1, n_mels=64, fmin=40.0)
    expected = librosa.pcen(mel * 2**31, sr=RATE)
    vector = Pcen().embed(samples, RATE)
    np.testing.assert_allclose(vector, np.concatenate([expected.mean(axis=1), expected.std(axis=1)]), rtol=1e-4)


def test_a_lowest_band_above_half_the_sample_rate_is_refused():
    with pytest.raises(ValueError, match="pcen: lowest=9000 must be below 4000, half the sample rate"):
        Pcen(sample_rate=8000, lowest=9000.0)

import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.embeddings.pitch import Pyin

RATE = 16000


def values(samples: np.ndarray) -> dict[str, float]:
    return dict(zip(Pyin().columns(), Pyin().embed(samples, RATE), strict=True))


@pytest.mark.parametrize("pitch", [110, 220, 440])
def test_the_pitch_of_a_tone(pitch):
    heard = values(tone(pitch, 1.5, RATE) + tone(2 * pitch, 1.5, RATE, 0.2))
    assert 2 ** heard["pyin_pitch_median"] == pytest.approx(pitch, rel=0.01)
    assert heard["pyin_voiced"] > 0.9
    assert heard["pyin_pitch_deviation"] < 0.05


def test_a_leap_of_an_octave_is_half_an_octave_of_spread():
    leap = values(np.concatenate([tone(220, 1.0, RATE), tone(440, 1.0, RATE)]))
    assert leap["pyin_pitch_deviation"] == pytest.approx(0.5, abs=0.05)
    assert 0 < leap["pyin_pitch_change"] < 0.1


def test_values_are_those_of_librosa():
    samples = tone(220, 1.0, RATE) + noise(1.0, RATE, 0.05)
    lowest, highest = Pyin().lowest, Pyin().highest
    pitch, voiced, probability = librosa.pyin(samples, fmin=lowest, fmax=highest, sr=RATE, frame_length=1024)
    heard = values(samples)
    assert heard["pyin_pitch_median"] == pytest.approx(np.median(np.log2(pitch[voiced])), abs=1e-5)
    assert heard["pyin_probability"] == pytest.approx(probability.mean(), abs=1e-5)


def test_silence_is_not_voiced():
    silent = values(np.zeros(RATE, np.float32))
    assert silent["pyin_voiced"] == silent["pyin_pitch_deviation"] == silent["pyin_pitch_change"] == 0
    assert 2 ** silent["pyin_pitch_median"] == pytest.approx(Pyin().lowest)


def test_pitches_that_make_no_range_are_refused():
    with pytest.raises(ValueError, match="pyin: lowest=500 must be below highest=400"):
        Pyin(lowest=500.0, highest=400.0)
    with pytest.raises(ValueError, match="pyin: highest=5000 must be at most 4000, half the sample rate"):
        Pyin(sample_rate=8000, highest=5000.0)

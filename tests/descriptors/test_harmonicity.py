import librosa
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.harmonicity import Harmonicity
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 1024, 256)


def strength_and_pitch(samples: np.ndarray, framing: Framing = FRAMING, **limits: float):
    """Strength, and pitch in hertz."""
    strength, pitch = Harmonicity(**limits).frames(CachedSpectra(samples, framing)).T
    return strength, 2**pitch


def voice(pitch: float, sample_rate: int = 16000, harmonics: int = 8, seed: int = 0) -> np.ndarray:
    """Harmonics that fall by 6 dB an octave, with phases of their own."""
    rng = np.random.default_rng(seed)
    t = np.arange(sample_rate // 4) / sample_rate
    phases = rng.uniform(0, 2 * np.pi, harmonics)
    return sum(0.2 / h * np.sin(2 * np.pi * pitch * h * t + phases[h - 1]) for h in range(1, harmonics + 1))


@pytest.mark.parametrize("sample_rate", [16000, 44100])
@pytest.mark.parametrize("harmonics", [1, 8])
@pytest.mark.parametrize("pitch", [82.0, 110.0, 155.0, 250.0, 440.0, 590.0])
def test_pitch_is_found_within_one_percent(pitch, harmonics, sample_rate):
    framing = Framing(sample_rate, 1024 * round(sample_rate / 16000), 256)
    _, found = strength_and_pitch(voice(pitch, sample_rate, harmonics), framing)
    assert found == pytest.approx(pitch, rel=0.01)


@settings(deadline=None)
@given(st.floats(82, 590), st.integers(1, 8), st.integers(0, 99))
def test_multiples_of_the_period_are_not_taken_for_it(pitch, harmonics, seed):
    _, found = strength_and_pitch(voice(pitch, harmonics=harmonics, seed=seed))
    assert found == pytest.approx(pitch, rel=0.01)


def test_a_missing_fundamental_is_heard():
    samples = tone(400, 0.3) + tone(600, 0.3) + tone(800, 0.3)
    _, found = strength_and_pitch(samples)
    assert found == pytest.approx(200, rel=0.01)


def test_librosa_agrees_on_the_pitch_of_a_voice():
    samples = voice(150.0)
    judge = librosa.yin(samples, fmin=80, fmax=600, sr=16000, frame_length=1024, hop_length=256, center=False)
    _, found = strength_and_pitch(samples)
    np.testing.assert_allclose(found[: len(judge)], judge[: len(found)], rtol=0.01)


def test_strength_is_one_for_what_is_periodic_and_low_for_noise():
    assert strength_and_pitch(voice(150.0))[0] == pytest.approx(1, abs=0.03)
    assert (strength_and_pitch(noise(0.5))[0] < 0.35).all()


def test_strength_falls_as_noise_rises():
    strengths = [strength_and_pitch(voice(150.0) + noise(0.25, level=level))[0].mean() for level in (0, 0.1, 0.3, 1)]
    assert (np.diff(strengths) < 0).all()


def test_strength_of_a_voice_in_noise_is_its_part_of_the_power():
    # White noise correlates with itself at lag 0 alone: r(T)/r(0) = voice / (voice + noise), here below 4 kHz.
    samples, hiss = voice(160.0), noise(0.25, level=0.1)
    part = np.mean(samples**2) / (np.mean(samples**2) + np.mean(hiss**2) / 2)
    assert strength_and_pitch(samples + hiss)[0].mean() == pytest.approx(part, abs=0.05)


def test_gain_changes_neither():
    plain, louder = (strength_and_pitch(gain * voice(150.0)) for gain in (0.1, 10))
    np.testing.assert_allclose(plain, louder, rtol=1e-3)


@settings(deadline=None)
@given(st.integers(0, 99))
def test_pitch_stays_within_its_limits(seed):
    _, found = strength_and_pitch(noise(0.2, seed=seed), lowest=100.0, highest=400.0)
    assert ((found > 98) & (found < 410)).all()  # half a lag beyond, at most


def test_silence_has_no_strength():
    strength, pitch = strength_and_pitch(np.zeros(4000))
    assert not strength.any()
    assert np.isfinite(pitch).all()


def test_the_lowest_pitch_is_below_the_highest():
    with pytest.raises(ValueError, match="harmonicity: lowest=600 must be below highest=600"):
        Harmonicity(lowest=600.0, highest=600.0)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"lowest": 0.0}, r"harmonicity: lowest=0\.0 must be positive"),
        ({"highest": 5000.0}, r"harmonicity: highest=5000\.0 must be .*at most 4000"),
    ],
)
def test_limits_out_of_range_are_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        Harmonicity(**limits)

"""A tone is strongest at its own semitone, in any octave and at any level."""

import numpy as np
import pytest
from signals import tone

from audioclass.data import Framing
from audioclass.descriptors.semitones import Semitones, pitch_hertz, semitone_matrix
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(22050, 4096, 441)


def levels(samples: np.ndarray) -> np.ndarray:
    return Semitones().frames(CachedSpectra(samples.astype(np.float32), FRAMING))


@pytest.mark.parametrize("pitch", [48, 57, 60, 61, 69, 83, 95])
def test_a_tone_is_strongest_at_its_semitone(pitch: int):
    assert set(levels(tone(float(pitch_hertz(pitch)), 0.4, 22050)).argmax(axis=1) + 36) == {pitch}


def test_concert_pitch():
    assert pitch_hertz(69) == 440
    assert pitch_hertz(60) == pytest.approx(261.6256, abs=1e-4)


def test_half_the_amplitude_is_six_decibels_lower():
    loud = tone(440, 0.4, 22050)
    peak = levels(loud)[:, 69 - 36]
    np.testing.assert_allclose(peak - levels(loud / 2)[:, 69 - 36], 6.0206, atol=1e-3)


def test_white_power_is_the_same_at_every_semitone():
    np.testing.assert_allclose(semitone_matrix(FRAMING, 36, 60).sum(axis=0), 1, atol=1e-5)


def test_a_recording_played_faster_sounds_higher():
    spectra = CachedSpectra(tone(440, 0.4, 22050).astype(np.float32), FRAMING)
    faster = Semitones().frames(spectra.at_speed(2 ** (3 / 12)))
    assert set(faster.argmax(axis=1) + 36) == {72}


def test_semitones_beyond_the_sample_rate_are_one_line():
    with pytest.raises(ValueError, match="semitone 95 lies beyond half the sample rate, 1500 Hz"):
        semitone_matrix(Framing(3000, 512, 256), 36, 60)

import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.flat_tops import FlatTops
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(44100, 2048, 441)


def flat_tops(samples, framing=FRAMING, **parameters):
    return FlatTops(**parameters).frames(CachedSpectra(np.asarray(samples, np.float32), framing))


def test_values_worked_out_by_hand():
    # The second and third of four tops have both neighbours, of the rippled three the middle one; two are too few.
    [row] = flat_tops([1, 1, 1, 1, 0, -0.995, -1, -0.995, 0, 1], Framing(16000, 10, 10))
    assert row == pytest.approx([0.2, 0.3])


def test_noise_and_tones_have_next_to_none():
    assert flat_tops(noise(0.3, 44100)).mean() < 1e-4
    assert flat_tops(tone(440.0, 0.3, 44100))[:, 0].max() < 0.01


@pytest.mark.parametrize("gain", [2, 4, 30])
def test_a_tone_that_is_clipped_lies_flat_as_long_as_it_is_above_the_limit(gain):
    rows = flat_tops(np.clip(gain * tone(440.0, 0.3, 44100) / np.abs(tone(440.0, 0.3, 44100)).max(), -1, 1))
    share = 1 - 2 * np.arcsin(1 / gain) / np.pi
    assert rows[:, 0].mean() == pytest.approx(share, abs=0.06)  # the ends of a top have one neighbour


def test_level_does_not_matter():
    samples = np.clip(3 * noise(0.3, 44100), -0.5, 0.5)
    assert np.array_equal(flat_tops(samples), flat_tops(0.125 * samples))


def test_silence_has_none():
    assert not flat_tops(np.zeros(5000)).any()


def test_only_the_middle_of_a_frame_is_looked_at():
    samples = np.concatenate([[9.0], [1, 1, 1, 0], [9.0]])
    assert flat_tops(samples, Framing(16000, 6, 6), most=4) == pytest.approx(np.full((1, 2), 0.25))


def test_no_frame_gives_no_row():
    assert flat_tops(np.zeros(10)).shape == (0, 2)

import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.descriptors.temporal import ZeroCrossings

FRAMING = Framing(16000, 512, 160)


def crossings(samples: np.ndarray, framing: Framing = FRAMING) -> np.ndarray:
    return ZeroCrossings().frames(CachedSpectra(np.asarray(samples), framing))[:, 0]


@pytest.mark.parametrize(
    "framing", [FRAMING, Framing(16000, 160, 160), Framing(16000, 100, 250)], ids=["overlap", "touch", "gaps"]
)
def test_librosa_agrees(framing):
    samples = noise(0.3)
    spectra = CachedSpectra(samples, framing)
    counts = librosa.zero_crossings(spectra.frames, pad=False, axis=1).sum(axis=1)
    np.testing.assert_allclose(crossings(samples, framing), counts / (framing.frame_length - 1), rtol=1e-6)


@pytest.mark.parametrize(
    ("samples", "count"),
    [
        pytest.param([1, 2, 3, 4, 5], 0, id="one-sign"),
        pytest.param([1, -1, 1, -1, 1], 4, id="every-sample"),
        pytest.param([1, 1, -1, -1, 1], 2, id="there-and-back"),
        pytest.param([1, 0, 1, 0, -1], 1, id="zero-is-positive"),
        pytest.param([0, 0, 0, 0, 0], 0, id="silence"),
        pytest.param([0.0, -0.0, 0.0, -0.0, 0.0], 0, id="zero-with-a-minus-sign-is-zero"),
    ],
)
def test_crossings_counted_by_hand(samples, count):
    assert crossings(samples, Framing(16000, 5, 5)) == pytest.approx([count / 4])


@pytest.mark.parametrize("frequency", [500, 1000, 3000, 7000])
def test_a_tone_crosses_zero_twice_a_period(frequency):
    assert crossings(tone(frequency, 0.2)) == pytest.approx(2 * frequency / 16000, abs=2 / 511)


def test_neither_gain_nor_polarity_matters():
    samples = noise(0.2)
    np.testing.assert_array_equal(crossings(0.01 * samples), crossings(samples))
    np.testing.assert_array_equal(crossings(-samples), crossings(samples))


def test_frames_of_one_sample_have_no_crossings():
    assert crossings([1.0, -1.0, 1.0], Framing(16000, 1, 1)).tolist() == [0, 0, 0]

import librosa
import numpy as np
import pytest
from signals import clicks, noise, tone

from audioclass.data import Framing
from audioclass.descriptors.separation import Hpss
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.extraction.frames import spectra_blocks

FRAMING = Framing(22050, 2048, 512)


def shares(samples: np.ndarray, hpss: Hpss) -> np.ndarray:
    return hpss.frames(CachedSpectra(samples, FRAMING))


@pytest.mark.parametrize("hpss", [Hpss(), Hpss(bands=64, bins_around=7)], ids=["bins", "bands"])
def test_a_tone_is_harmonic_and_clicks_are_percussive(hpss):
    harmonic, _ = shares(tone(440, 3.0, 22050), hpss).T
    assert harmonic.min() > 0.9
    values = shares(clicks(3.0, 0.5, 22050), hpss)
    sounding = values.sum(axis=1) > 0
    assert sounding.any()
    assert values[sounding, 1].min() > 0.9


def test_shares_are_those_of_the_parts_that_librosa_separates():
    samples = tone(440, 2.0, 22050) + clicks(2.0, 0.3, 22050) + noise(2.0, 22050, 0.01)
    magnitude = CachedSpectra(samples, FRAMING).magnitude.T
    parts = librosa.decompose.hpss(magnitude, kernel_size=(31, 17), margin=3.0)
    expected = [(part * magnitude).sum(axis=0) / (magnitude**2).sum(axis=0) for part in parts]
    np.testing.assert_allclose(shares(samples, Hpss(bins_around=8, margin=3.0)), np.transpose(expected), atol=1e-5)


def test_shares_sum_to_at_most_one_and_to_one_without_a_margin():
    samples = noise(2.0, 22050)
    assert shares(samples, Hpss(margin=1.0)).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (shares(samples, Hpss()).sum(axis=1) < 1).all()


@pytest.mark.parametrize("hpss", [Hpss(), Hpss(frames_around=3, bins_around=7)], ids=["31-frames", "7-frames"])
@pytest.mark.parametrize("n_together", [1, 37, 100])
def test_blocks_give_what_the_whole_gives(hpss, n_together):
    samples = noise(3.0, 22050) + tone(300, 3.0, 22050)
    whole, blocks = (
        [hpss.frames(spectra)[rows] for spectra, rows in spectra_blocks([samples], FRAMING, hpss.context, n)]
        for n in (1000, n_together)
    )
    assert len(whole) == 1 < len(blocks)
    np.testing.assert_array_equal(np.concatenate(blocks), whole[0])


def test_silence_is_neither():
    assert not shares(np.zeros(9000), Hpss()).any()

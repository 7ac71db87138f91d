from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.contrast import Contrast
from audioclass.descriptors.filters import to_mel
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 1024, 512)


def contrast_of(levels: list[list[float]]) -> list[float]:
    """The contrast of one frame, given the levels of its bands, region by region."""
    row = np.array(levels, np.float32).reshape(1, -1)
    return Contrast(bands=row.size).frames(SimpleNamespace(log_mel=lambda bands, lowest: row))[0].tolist()


def test_peaks_and_valleys_worked_by_hand():
    assert contrast_of([[1, 2, 3, 4, 5, 6, 7, 8]]) == [6]
    assert contrast_of([[5] * 8, [-80, 0, 0, 0, 0, 0, 0, 20], [9, 0, 0, 0, 0, 0, 0, 9]]) == [0, 50, 9]


def test_scipy_agrees_on_the_two_means():
    spectra = CachedSpectra(noise(0.3), FRAMING)
    regions = spectra.log_mel(64, 40.0).astype(float).reshape(-1, 8, 8)
    # What is left of eight values when six are trimmed from one end are the two of the other end.
    peaks, valleys = (scipy.stats.trim1(regions, 6 / 8, tail=tail, axis=2).mean(axis=2) for tail in ("left", "right"))
    np.testing.assert_allclose(Contrast().frames(spectra), peaks - valleys, atol=1e-3)


def test_the_order_within_a_region_does_not_matter():
    rng = np.random.default_rng(0)
    region = rng.normal(size=8)
    assert contrast_of([rng.permutation(region)]) == contrast_of([region])


def test_contrast_is_never_negative_and_gain_leaves_it():
    plain, louder = (Contrast().frames(CachedSpectra(gain * noise(0.3), FRAMING)) for gain in (1, 10))
    assert (plain >= 0).all()
    np.testing.assert_allclose(louder, plain, atol=1e-2)


@pytest.mark.parametrize("frequency", [700, 2000, 5000])
def test_a_tone_in_noise_stands_out_in_its_own_region(frequency):
    samples = noise(0.3, level=0.001) + tone(frequency, 0.3)
    region = int(8 * (to_mel(frequency) - to_mel(40)) / (to_mel(8000) - to_mel(40)))
    contrast = Contrast().frames(CachedSpectra(samples, FRAMING)).mean(axis=0)
    assert contrast.argmax() == region
    assert contrast[region] > 30


def test_silence_has_no_contrast():
    assert not Contrast().frames(CachedSpectra(np.zeros(4000), FRAMING)).any()


def test_there_is_a_column_for_each_region():
    assert Contrast(bands=24).columns(FRAMING) == ["contrast_0", "contrast_1", "contrast_2"]


def test_bands_are_a_multiple_of_eight():
    with pytest.raises(ValueError, match="contrast: bands=60 must be a multiple of 8"):
        Contrast(bands=60)

import numpy as np
import pytest
import scipy.signal
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.spectra import Spectra

FRAMING = Framing(16000, 512, 160)


def test_only_whole_frames_count():
    assert Spectra(np.zeros(511), FRAMING).frames.shape == (0, 512)
    assert Spectra(np.zeros(512), FRAMING).frames.shape == (1, 512)
    assert Spectra(np.zeros(512 + 160), FRAMING).frames.shape == (2, 512)


def test_scipy_agrees():
    samples = noise(0.2)
    spectra = Spectra(samples, FRAMING)
    window = scipy.signal.windows.hann(512, sym=False)
    judge = scipy.signal.ShortTimeFFT(window, 160, 16000).stft(samples, p0=2)
    first = judge[:, : len(spectra.frames)].T  # its second slice is centred on sample 320: ours starts at 64
    shifted = Spectra(samples[320 - 256 :], FRAMING)
    np.testing.assert_allclose(np.abs(first[: len(shifted.frames)]), shifted.magnitude[: len(first)], atol=1e-4)


def test_a_tone_peaks_at_its_frequency():
    spectra = Spectra(tone(1000, 0.1), FRAMING)
    assert spectra.frequencies[spectra.power.argmax(axis=1)] == pytest.approx(1000, abs=16)


def test_views_are_computed_once_in_single_precision():
    spectra = Spectra(noise(0.1), FRAMING)
    assert spectra.power is spectra.power
    assert {spectra.frames.dtype, spectra.power.dtype, spectra.magnitude.dtype} == {np.dtype(np.float32)}
    assert spectra.spectrum.dtype == np.complex64


def test_samples_must_be_mono():
    with pytest.raises(ValueError, match="must be mono"):
        Spectra(np.zeros((100, 2)), FRAMING)

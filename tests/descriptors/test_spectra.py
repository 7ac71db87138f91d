import librosa
import numpy as np
import pytest
import scipy.signal
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.amplitudes import Amplitudes
from audioclass.descriptors.spectra import CachedSpectra, decibels
from audioclass.descriptors.spectral import Flux

FRAMING = Framing(16000, 512, 160)


def test_only_whole_frames_count():
    assert CachedSpectra(np.zeros(511), FRAMING).frames.shape == (0, 512)
    assert CachedSpectra(np.zeros(512), FRAMING).frames.shape == (1, 512)
    assert CachedSpectra(np.zeros(512 + 160), FRAMING).frames.shape == (2, 512)


def test_scipy_agrees():
    samples = noise(0.2)
    spectra = CachedSpectra(samples, FRAMING)
    window = scipy.signal.windows.hann(512, sym=False)
    judge = scipy.signal.ShortTimeFFT(window, 160, 16000).stft(samples, p0=2)
    first = judge[:, : len(spectra.frames)].T  # its second slice is centred on sample 320: ours starts at 64
    shifted = CachedSpectra(samples[320 - 256 :], FRAMING)
    np.testing.assert_allclose(np.abs(first[: len(shifted.frames)]), shifted.magnitude[: len(first)], atol=1e-4)


def test_a_tone_peaks_at_its_frequency():
    spectra = CachedSpectra(tone(1000, 0.1), FRAMING)
    assert spectra.frequencies[spectra.power.argmax(axis=1)] == pytest.approx(1000, abs=16)


def test_views_are_computed_once_in_single_precision():
    spectra = CachedSpectra(noise(0.1), FRAMING)
    assert spectra.power is spectra.power
    assert {spectra.frames.dtype, spectra.power.dtype, spectra.magnitude.dtype} == {np.dtype(np.float32)}
    assert spectra.spectrum.dtype == np.complex64


def test_the_power_is_the_same_to_the_bit_whether_the_spectrum_is_kept_or_not():
    kept, not_kept = (CachedSpectra(noise(1.0), FRAMING) for _ in range(2))
    assert kept.spectrum.shape == (97, 257)
    np.testing.assert_array_equal(kept.power, not_kept.power)
    assert "spectrum" not in vars(not_kept)
    assert CachedSpectra(np.zeros(100), FRAMING).power.shape == (0, 257)


def test_samples_must_be_mono():
    with pytest.raises(ValueError, match="must be mono"):
        CachedSpectra(np.zeros((100, 2)), FRAMING)


def test_the_power_is_the_squared_magnitude():
    spectra = CachedSpectra(noise(0.1), FRAMING)
    np.testing.assert_allclose(spectra.power, np.abs(spectra.spectrum.astype(complex)) ** 2, rtol=1e-5)
    np.testing.assert_allclose(spectra.magnitude, np.abs(spectra.spectrum), rtol=1e-5)


def test_log_power_is_the_natural_logarithm_with_a_floor():
    loud, silent = (CachedSpectra(samples, FRAMING).log_power for samples in (noise(0.1), np.zeros(1000)))
    np.testing.assert_allclose(loud, np.log(CachedSpectra(noise(0.1), FRAMING).power + 1e-10), atol=1e-5)
    assert silent == pytest.approx(np.log(1e-10), rel=1e-6)


def test_the_power_cumulates_to_its_total():
    spectra = CachedSpectra(noise(0.1), FRAMING)
    np.testing.assert_allclose(spectra.cumulated, np.cumsum(spectra.power, axis=1, dtype=float), rtol=1e-5)
    np.testing.assert_allclose(spectra.total_power, spectra.cumulated[:, -1:], rtol=1e-5)
    assert (np.diff(spectra.cumulated, axis=1) >= 0).all()


@pytest.mark.parametrize("bands", [1, 26, 64, 100])
def test_librosa_agrees_on_mel_bands(bands):
    spectra = CachedSpectra(noise(0.1), Framing(16000, 4096, 160))
    judge = librosa.feature.melspectrogram(S=spectra.power.T, sr=16000, n_mels=bands, fmin=40).T
    np.testing.assert_allclose(spectra.mel(bands, 40.0), judge, rtol=1e-5)


def test_log_mel_is_mel_in_decibels_with_a_floor():
    spectra = CachedSpectra(noise(0.1), FRAMING)
    np.testing.assert_allclose(spectra.log_mel(40, 40.0), 10 * np.log10(spectra.mel(40, 40.0)), atol=1e-3)
    assert CachedSpectra(np.zeros(1000), FRAMING).log_mel(40, 40.0) == pytest.approx(-100, abs=1e-4)


def test_banded_views_are_kept_by_their_parameters():
    spectra = CachedSpectra(noise(0.1), FRAMING)
    assert spectra.log_mel(40, 40.0) is spectra.log_mel(40, 40.0)
    assert spectra.log_mel(40, 40.0) is not spectra.log_mel(40, 300.0)
    assert spectra.mel(40, 40.0) is not spectra.log_mel(40, 40.0)


def test_decibels_leave_what_they_are_given():
    power = np.array([0.0, 1e-10, 1.0, 100.0], np.float32)
    np.testing.assert_allclose(decibels(power), [-100, -96.99, 0, 20], atol=0.01)
    assert power.tolist() == pytest.approx([0, 1e-10, 1, 100])


def test_chroma_is_the_power_of_the_pitch_classes():
    spectra = CachedSpectra(tone(440, 0.3), Framing(16000, 4096, 160))
    line = spectra.power[:, 110:117].sum(axis=1)  # the main lobe; its outer bins lie a little beside the A
    np.testing.assert_allclose(spectra.chroma[:, 9], line, rtol=0.05)
    assert spectra.chroma.shape == (len(line), 12)


def test_scipy_agrees_on_the_autocorrelation():
    framing = Framing(8000, 512, 512)  # below 4 kHz there is all of it, with a lag for each sample
    spectra = CachedSpectra(noise(0.2, 8000) + tone(300, 0.2, 8000), framing)
    window = scipy.signal.windows.hann(512, sym=False)
    bias = scipy.signal.correlate(window, window)[511:576]
    judge = [scipy.signal.correlate(frame, frame)[511:576] / bias for frame in spectra.frames * window]
    # Ours is circular: at lag 64 of 512 the far ends of the window meet with a thousandth of its power.
    np.testing.assert_allclose(spectra.autocorrelation[:, :65], [r / r[0] for r in judge], atol=5e-3)


@pytest.mark.parametrize(
    "framing", [FRAMING, Framing(22050, 1024, 512), Framing(44100, 2048, 512)], ids=["16kHz", "22kHz", "44kHz"]
)
def test_the_autocorrelation_of_a_tone_is_a_cosine(framing):
    spectra = CachedSpectra(tone(440, 0.3, framing.sample_rate), framing)
    lags = np.arange(spectra.autocorrelation.shape[1] // 2)
    cosine = np.cos(2 * np.pi * 440 * lags / spectra.lag_rate)
    np.testing.assert_allclose(spectra.autocorrelation[0, lags], cosine, atol=0.05)


@pytest.mark.parametrize(
    "framing", [FRAMING, Framing(48000, 2048, 512), Framing(8000, 256, 80)], ids=["16kHz", "48kHz", "8kHz"]
)
def test_lags_are_those_of_the_part_below_four_kilohertz(framing):
    spectra = CachedSpectra(noise(0.3, framing.sample_rate), framing)
    n_lags = spectra.autocorrelation.shape[1]
    assert 8000 <= spectra.lag_rate <= 16000
    assert n_lags / spectra.lag_rate == pytest.approx(framing.frame_length / framing.sample_rate / 2)


def test_silence_correlates_with_nothing():
    assert not CachedSpectra(np.zeros(1000), FRAMING).autocorrelation.any()


@pytest.mark.parametrize(
    "view", ["power", "magnitude", "log_power", "total_power", "cumulated", "chroma", "autocorrelation"]
)
def test_every_view_has_a_row_for_each_frame_in_single_precision(view):
    for n_frames in (0, 1, 5):
        spectra = CachedSpectra(noise(0.1)[: 352 + 160 * n_frames], FRAMING)
        assert len(getattr(spectra, view)) == spectra.n_frames == n_frames
        assert getattr(spectra, view).dtype == np.float32


def test_power_is_summed_up_bin_by_bin():
    for n_frames in (0, 1, 4, 5):
        spectra = CachedSpectra(noise(0.1)[: 352 + 160 * n_frames], FRAMING)
        assert np.array_equal(spectra.cumulated, np.cumsum(spectra.power, axis=1))


def test_versions_share_what_is_known_of_the_recording():
    spectra = CachedSpectra(noise(0.1), FRAMING, slowest=0.9)
    slow = spectra.at_speed(0.9)
    assert spectra.recorded is slow.recorded is spectra
    for view, empty in (("power", 0), ("magnitude", 0), ("log_power", np.log(np.float32(1e-10)))):
        recorded, played = getattr(spectra, view), getattr(slow, view)
        assert np.shares_memory(recorded, played)
        assert played.shape[1] == slow.framing.n_bins > spectra.framing.n_bins
        assert (played[:, spectra.framing.n_bins :] == empty).all()
    assert np.array_equal(slow.power, CachedSpectra(noise(0.1), FRAMING).at_speed(0.9).power)
    assert slow.values_of(Amplitudes()) is spectra.values_of(Amplitudes())
    assert slow.values_of(Flux()) is spectra.values_of(Flux())

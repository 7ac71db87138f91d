import librosa
import numpy as np
import pytest
import scipy.linalg
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import clicks, noise, tone

from audioclass.data import Framing
from audioclass.descriptors.prediction import LineSpectralFrequencies, levinson, line_spectrum
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)
SOUNDS = pytest.mark.parametrize(
    "samples",
    [noise(0.2), tone(440, 0.2), tone(440, 0.2) + noise(0.2, level=0.01), clicks(0.2, 0.005), np.full(3200, 0.5)],
    ids=["noise", "tone", "tone-in-noise", "clicks", "constant"],
)
ORDERS = st.sampled_from([2, 4, 10, 12, 32])


def lags_of(order: int, seed: int) -> np.ndarray:
    """Autocorrelations, positive definite, of five frames of coloured noise."""
    frames = np.random.default_rng(seed).normal(size=(5, 200)).cumsum(axis=1)
    return np.array([np.correlate(x, x, "full")[199 : 200 + order] for x in frames]) * (1 + 1e-6 * np.eye(1, order + 1))


def upper_angles(polynomial: np.ndarray) -> np.ndarray:
    """Angles strictly between 0 and π of the roots, by numpy."""
    angles = np.angle(np.roots(polynomial))
    return np.sort(angles[(angles > 1e-6) & (angles < np.pi - 1e-6)])


def sum_and_difference(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P and Q of one prediction polynomial: A(z) ± z^-(p+1) A(1/z)."""
    there, back = np.append(A, 0), np.append(A, 0)[::-1]
    return there + back, there - back


def resonance(radius: float, angle: float) -> np.ndarray:
    """The polynomial with two poles at this radius and this angle."""
    return np.array([[1, -2 * radius * np.cos(angle), radius**2]])


@settings(deadline=None)
@given(ORDERS, st.integers(0, 99))
def test_scipy_agrees_on_the_prediction(order, seed):
    lags = lags_of(order, seed)
    judge = [np.append(1, scipy.linalg.solve_toeplitz(row[:-1], -row[1:])) for row in lags]
    np.testing.assert_allclose(levinson(lags), judge, rtol=1e-5, atol=1e-5)


@settings(deadline=None)
@given(ORDERS, st.integers(0, 99))
def test_predictors_are_stable(order, seed):
    for A in levinson(lags_of(order, seed)):
        assert (np.abs(np.roots(A)) < 1).all()


def test_librosa_agrees_on_the_signs():
    true = np.array([1, -1.5, 0.9, -0.2, 0.1])
    samples = scipy.signal.lfilter([1], true, noise(2.0)).astype(float)
    lags = np.correlate(samples, samples[:-4], "valid")[None, :]
    np.testing.assert_allclose(levinson(lags)[0], librosa.lpc(samples, order=4), atol=0.01)
    np.testing.assert_allclose(levinson(lags)[0], true, atol=0.03)


@settings(deadline=None)
@given(ORDERS, st.integers(0, 99))
def test_numpy_agrees_on_the_roots_and_they_take_turns(order, seed):
    predictors = levinson(lags_of(order, seed))
    for A, lines in zip(predictors, line_spectrum(predictors), strict=True):
        P, Q = sum_and_difference(A)
        np.testing.assert_allclose(lines[0::2], upper_angles(P), atol=1e-5)
        np.testing.assert_allclose(lines[1::2], upper_angles(Q), atol=1e-5)


@settings(deadline=None)
@given(st.floats(0.1, 0.99), st.floats(0.1, 3.0))
def test_the_two_lines_of_a_resonance_worked_by_hand(radius, angle):
    around = radius * np.cos(angle) + np.array([1, -1]) * (1 - radius**2) / 2
    np.testing.assert_allclose(line_spectrum(resonance(radius, angle)), [np.arccos(around)], atol=1e-9)


def test_without_prediction_the_lines_are_equally_spaced():
    np.testing.assert_allclose(line_spectrum(np.eye(1, 13)), [np.pi * np.arange(1, 13) / 13], rtol=1e-9)


@SOUNDS
@pytest.mark.parametrize("order", [2, 12, 32])
def test_lines_rise_between_zero_and_nyquist(samples, order):
    lines = LineSpectralFrequencies(order).frames(CachedSpectra(samples, FRAMING))
    bounded = np.pad(lines, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    assert (np.diff(bounded, axis=1) > 0).all()


def test_scipy_and_numpy_agree_on_the_whole_way():
    spectra = CachedSpectra(noise(0.1, level=0.005) + tone(700, 0.1), FRAMING)
    ours = LineSpectralFrequencies(10).frames(spectra)
    for row, frame in zip(ours, spectra.frames * np.hanning(513)[:-1], strict=True):
        lags = np.correlate(frame, frame, "full")[511:522]
        lags[0] *= 1 + 1e-4  # white noise 40 dB below the frame
        A = np.append(1, scipy.linalg.solve_toeplitz(lags[:-1], -lags[1:]))
        judge = np.sort(np.concatenate([upper_angles(polynomial) for polynomial in sum_and_difference(A)]))
        np.testing.assert_allclose(row, judge / np.pi, atol=1e-4)


@pytest.mark.parametrize("frequency", [500, 1500, 3000, 6500])
def test_a_resonance_lies_between_two_close_lines(frequency):
    samples = scipy.signal.lfilter([1], resonance(0.98, np.pi * frequency / 8000)[0], noise(0.3))
    hertz = 8000 * LineSpectralFrequencies(8).frames(CachedSpectra(samples, FRAMING)).astype(float).mean(axis=0)
    closest = np.diff(hertz).argmin()
    assert hertz[closest] < frequency < hertz[closest + 1]


def test_gain_changes_nothing():
    plain, louder = (LineSpectralFrequencies().frames(CachedSpectra(gain * noise(0.2), FRAMING)) for gain in (0.1, 10))
    np.testing.assert_allclose(plain, louder, atol=1e-5)


def test_silence_has_equally_spaced_lines():
    lines = LineSpectralFrequencies(4).frames(CachedSpectra(np.zeros(1000), FRAMING))
    np.testing.assert_allclose(lines, [[0.2, 0.4, 0.6, 0.8]] * len(lines), atol=1e-6)


def test_an_odd_order_is_refused():
    with pytest.raises(ValueError, match="line_spectral_frequencies: order=11 must be even"):
        LineSpectralFrequencies(order=11)


def test_an_order_as_long_as_the_frame_is_refused():
    with pytest.raises(ValueError, match="line_spectral_frequencies: order=12 must be below the frame's 12 samples"):
        LineSpectralFrequencies(12).frames(CachedSpectra(noise(0.1), Framing(16000, 12, 12)))

import numpy as np
import pytest
import scipy.fft
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from librosa.feature import delta

from audioclass.pooling import tracks

WINDOWS = np.random.default_rng(0).gamma(2.0, 1.0, (3, 50, 4)).astype(np.float32)


def test_librosa_agrees_on_derivatives():
    expected = delta(WINDOWS, width=5, order=1, axis=1, mode="nearest")
    np.testing.assert_allclose(tracks.derivative(WINDOWS), expected, atol=1e-5)


def test_derivative_of_a_line_is_its_slope_inside():
    line = np.arange(20, dtype=np.float32)[None, :, None] * 3
    np.testing.assert_allclose(tracks.derivative(line)[0, 2:-2, 0], 3)
    assert tracks.derivative(line[:, :1]).tolist() == [[[0.0]]]


def test_level_free_is_below_the_loudest_and_above_the_depth():
    levels = tracks.level_free(WINDOWS * 100, 50.0)
    assert levels.max(axis=(1, 2)).tolist() == [0, 0, 0]
    assert levels.min() >= -50
    np.testing.assert_allclose(tracks.level_free(WINDOWS * 100 + 30, 50.0), levels, atol=1e-4)
    assert tracks.level_free(WINDOWS, 0.0) is WINDOWS


def test_scipy_agrees_on_moments():
    mean, deviation, skewness, kurtosis = tracks.moments(WINDOWS, 4)
    np.testing.assert_allclose(mean, WINDOWS.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(deviation, WINDOWS.std(axis=1), rtol=1e-4)
    np.testing.assert_allclose(skewness, scipy.stats.skew(WINDOWS, axis=1), rtol=1e-3)
    expected = np.log1p(scipy.stats.kurtosis(WINDOWS, axis=1, fisher=False))
    np.testing.assert_allclose(kurtosis, expected, rtol=1e-3)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5), st.integers(1, 30))
def test_numpy_agrees_on_percentiles(percents, n_frames):
    expected = np.percentile(WINDOWS[:, :n_frames], percents, axis=1)
    np.testing.assert_allclose(np.array(tracks.percentiles(WINDOWS[:, :n_frames], percents)), expected, rtol=1e-4)


def test_scipy_agrees_on_cepstra():
    expected = scipy.fft.dct(WINDOWS.astype(float), norm="ortho", axis=2)[:, :, :2]
    np.testing.assert_allclose(tracks.cepstra(WINDOWS, 2), expected, atol=1e-5)


@pytest.mark.parametrize(("bands", "expected"), [(2, [[0.5, 2.5]]), (4, [[0, 1, 2, 3]]), (9, [[0, 1, 2, 3]])])
def test_neighbouring_bands_are_merged_to_their_mean(bands, expected):
    columns = np.arange(4, dtype=np.float32)[None, None]
    assert tracks.merge_bands(columns, bands)[0].tolist() == expected


def test_bands_that_do_not_divide_are_merged_too():
    merged = tracks.merge_bands(np.arange(5, dtype=np.float32)[None, None], 2)
    assert merged.shape == (1, 1, 2)
    assert merged[0, 0].tolist() == [0.5, 3.0]


def test_names_say_where_columns_come_from():
    assert tracks.numbered(["mel_0", "mel_1"], 3) == ["mel_0", "mel_1", "mel_2"]
    assert tracks.suffixed(["a", "b"], ["x", "y"]) == ["a_x", "b_x", "a_y", "b_y"]

import numpy as np
import pytest
import scipy.fft
import scipy.ndimage
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from librosa.feature import delta

from audioclass.pooling import tracks

WINDOWS = np.random.default_rng(0).gamma(2.0, 1.0, (3, 50, 4)).astype(np.float32)
LEVELS = np.random.default_rng(3).normal(-30, 8, (2, 41, 24)).astype(np.float32)


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


@pytest.mark.parametrize("bands", [12, 8, 3, 2, 5])
def test_merged_bands_are_sums_over_their_edges_to_the_bit(bands):
    edges = np.linspace(0, 24, bands + 1).round().astype(int)
    expected = np.add.reduceat(LEVELS, edges[:-1], axis=2) / np.diff(edges).astype(np.float32)
    assert np.array_equal(tracks.merge_bands(LEVELS, bands), expected)
    assert tracks.merge_bands(LEVELS, 24 + bands) is LEVELS


@pytest.mark.parametrize(("reach", "axis"), [(1, 1), (4, 2), (7, 1), (8, 1), (60, 1)])
def test_scipy_agrees_on_moving_means(reach, axis):
    expected = scipy.ndimage.uniform_filter1d(LEVELS.astype(float), 2 * reach + 1, axis=axis, mode="nearest")
    np.testing.assert_allclose(tracks.moving_mean(LEVELS, reach, axis), expected, atol=1e-4)


def test_levels_are_those_of_the_mean_power_below_the_loudest_frame():
    windows = np.array([[[0, 0], [0, -100], [-10, -10]]], np.float32)
    np.testing.assert_allclose(tracks.levels(windows, 60.0)[0], [0, -3.0103, -10], atol=1e-4)
    np.testing.assert_allclose(tracks.levels(windows + 40, 0.0)[0], [0, -3.0103, -10], atol=1e-4)


def test_views_are_computed_once_while_they_are_shared():
    with tracks.sharing():
        first = tracks.cepstra(tracks.level_free(LEVELS, 50.0), 5)
        assert tracks.cepstra(tracks.level_free(LEVELS, 50.0), 5) is first
        assert tracks.level_free(LEVELS, 40.0) is not tracks.level_free(LEVELS, 50.0)
        assert tracks.level_free(LEVELS, 0.0) is LEVELS
        with pytest.raises(ValueError, match="read-only"):
            first += 1
    assert LEVELS.flags.writeable
    alone = tracks.cepstra(tracks.level_free(LEVELS, 50.0), 5)
    assert alone is not first
    assert np.array_equal(alone, first)


def test_windows_that_are_gone_are_not_mistaken_for_others():
    with tracks.sharing():
        means = [float(tracks.level_free(np.full((1, 1, 1), level, np.float32), 0.0)[0, 0, 0]) for level in range(50)]
    assert means == list(range(50))

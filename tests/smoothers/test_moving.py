import numpy as np
import pytest
from scipy.ndimage import median_filter, uniform_filter1d
from smoothers.streams import random_posteriors, streamed, whole

from audioclass.smoothers.moving import Median, MovingAverage
from audioclass.smoothers.none import NoSmoothing


@pytest.mark.parametrize("width", [1, 3, 4, 7])
def test_scipy_agrees_where_the_width_fits(width):
    P = random_posteriors(30)
    inside = slice(width, 30 - width)
    means = uniform_filter1d(P, width, axis=0)
    np.testing.assert_allclose(whole(MovingAverage(width), P)[inside], means[inside], atol=1e-12)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_scipy_agrees_on_medians(width):
    P = random_posteriors(30)
    medians = median_filter(P, size=(width, 1))
    medians /= medians.sum(axis=1, keepdims=True)
    inside = slice(width, 30 - width)
    np.testing.assert_allclose(whole(Median(width), P)[inside], medians[inside], atol=1e-12)


def test_mean_by_hand():
    P = np.array([[1.0, 0], [0, 1], [0, 1]])
    np.testing.assert_allclose(whole(MovingAverage(3), P), [[1 / 2, 1 / 2], [1 / 3, 2 / 3], [0, 1]])


def test_median_drops_what_is_short_and_keeps_borders():
    certain = np.eye(2)[[0, 0, 1, 0, 0, 0, 1, 1, 1, 1]]
    np.testing.assert_array_equal(whole(Median(3), certain), np.eye(2)[[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]])


def test_where_every_median_is_zero_the_mean_stands_in():
    certain = np.eye(3)[[0, 1, 2]]
    np.testing.assert_allclose(whole(Median(3), certain)[1], [1 / 3, 1 / 3, 1 / 3])


def test_no_smoothing_leaves_rows_alone():
    P = random_posteriors(5)
    np.testing.assert_array_equal(streamed(NoSmoothing(), P, [2])[0], P)


@pytest.mark.parametrize("cls", [MovingAverage, Median])
def test_width_must_be_positive(cls):
    with pytest.raises(ValueError, match="width=0 must be at least 1"):
        cls(width=0)

import numpy as np
import pytest

from audioclass.pooling.statistics import Statistics

WINDOWS = np.random.default_rng(0).normal(0, 2, (2, 30, 3)).astype(np.float32)


def pooled(windows=WINDOWS, **parameters):
    pooling = Statistics(**parameters)
    names = pooling.columns([f"c{i}" for i in range(windows.shape[2])])
    return dict(zip(names, pooling.pool(windows, 100.0).T, strict=True))


def test_each_statistic_is_what_its_name_says():
    values = pooled(values=("mean", "maximum", "minimum", "slope", "change"), percentiles=(50,))
    np.testing.assert_allclose(values["c1_mean"], WINDOWS[:, :, 1].mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(values["c1_maximum"], WINDOWS[:, :, 1].max(axis=1))
    np.testing.assert_allclose(values["c1_minimum"], WINDOWS[:, :, 1].min(axis=1))
    np.testing.assert_allclose(values["c1_p50"], np.median(WINDOWS[:, :, 1], axis=1), atol=1e-6)
    np.testing.assert_allclose(values["c1_change"], np.abs(np.diff(WINDOWS[:, :, 1])).mean(axis=1), atol=1e-6)


def test_slope_is_that_of_the_regression_line_over_the_window():
    values = pooled(values=("slope",))
    expected = [np.polyfit(np.linspace(0, 1, 30), window[:, 2], 1)[0] for window in WINDOWS]
    np.testing.assert_allclose(values["c2_slope"], expected, rtol=1e-4)


def test_statistics_of_a_derivative_are_named_after_it():
    line = np.arange(30, dtype=np.float32)[None, :, None] * 2
    assert pooled(line, values=("maximum",), derivative=1)["c0_d1_maximum"] == pytest.approx(2)
    assert list(pooled(line, values=("mean",), derivative=2)) == ["c0_d2_mean"]


def test_an_unknown_statistic_gets_a_suggestion():
    with pytest.raises(ValueError, match="unknown values 'meen'; did you mean 'mean'"):
        Statistics(values=("meen",))


def test_no_statistics_are_no_columns():
    assert Statistics(values=()).pool(WINDOWS, 100.0).shape == (2, 0)

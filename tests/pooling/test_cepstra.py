import numpy as np
import pytest
import scipy.linalg

from audioclass.pooling.cepstra import (
    CepstralCovariance,
    CepstralSlices,
    CepstralStatistics,
    LaggedCovariance,
    TemporalShape,
)
from audioclass.pooling.tracks import cepstra

MEL = np.random.default_rng(0).normal(-20, 6, (2, 80, 16)).astype(np.float32)


def test_scipy_agrees_on_the_matrix_logarithm():
    pooling = CepstralCovariance(coefficients=5, depth=0.0)
    i, j = np.triu_indices(5)
    logarithm = np.zeros((5, 5))
    logarithm[i, j] = logarithm[j, i] = pooling.pool(MEL, 100.0)[0][:15] / np.where(i == j, 1, np.sqrt(2))
    covariance = np.cov(cepstra(MEL, 5)[0].astype(float).T, bias=True)
    shrunk = covariance + np.eye(5) * (0.01 * np.trace(covariance) / 5 + 1e-6)
    np.testing.assert_allclose(scipy.linalg.expm(logarithm), shrunk, rtol=1e-3, atol=1e-3)


def test_statistics_are_those_of_the_cepstra():
    pooling = CepstralStatistics(coefficients=3, depth=0.0)
    values = dict(zip(pooling.columns(["mel_0"]), pooling.pool(MEL, 100.0)[0], strict=True))
    assert values["cepstrum_1_mean"] == pytest.approx(cepstra(MEL, 3)[0, :, 1].mean(), abs=1e-4)
    assert values["cepstrum_2_maximum"] == pytest.approx(cepstra(MEL, 3)[0, :, 2].max(), abs=1e-4)


@pytest.mark.parametrize("pooling", [CepstralStatistics(), CepstralCovariance(), LaggedCovariance(), CepstralSlices(),
                                     TemporalShape()], ids=lambda pooling: pooling.name)  # fmt: skip
def test_level_does_not_matter(pooling):
    np.testing.assert_allclose(pooling.pool(MEL + 10, 100.0), pooling.pool(MEL, 100.0), atol=2e-3)


def test_slices_keep_the_order_of_time():
    rising = np.linspace(0, 10, 50, dtype=np.float32)[None, :, None] * np.linspace(1, 0, 16, dtype=np.float32)
    pooling = CepstralSlices(coefficients=2, slices=5, derivatives=False, depth=0.0)
    names = pooling.columns(["mel_0"])
    values = dict(zip(names, pooling.pool(rising, 100.0)[0], strict=True))
    means = [values[f"slice{i}_cepstrum_1_mean"] for i in range(5)]
    assert means == sorted(means)


def test_slices_leave_out_what_is_quiet_at_the_ends():
    sound = MEL[:1, :30]
    quiet = np.full((1, 40, 16), -120, np.float32)
    padded = np.concatenate([quiet, sound, quiet], axis=1)
    pooling = CepstralSlices(depth=50.0)
    np.testing.assert_allclose(pooling.pool(padded, 100.0), pooling.pool(sound, 100.0), atol=1e-4)


def test_temporal_shape_of_a_steady_sound_is_zero():
    steady = np.repeat(MEL[:1, :1], 40, axis=1)
    np.testing.assert_allclose(TemporalShape().pool(steady, 100.0), 0, atol=1e-5)


def test_scipy_agrees_on_the_logarithm_of_lagged_covariances():
    pooling = LaggedCovariance(coefficients=2, lags=(0, 3), depth=0.0)
    i, j = np.triu_indices(4)
    logarithm = np.zeros((4, 4))
    logarithm[i, j] = logarithm[j, i] = pooling.pool(MEL, 100.0)[0] / np.where(i == j, 1, np.sqrt(2))
    values = cepstra(MEL, 2)[0].astype(float)
    covariance = np.cov(np.concatenate([values[:-3], values[3:]], axis=1).T, bias=True)
    shrunk = covariance + np.eye(4) * (0.01 * np.trace(covariance) / 4 + 1e-6)
    np.testing.assert_allclose(scipy.linalg.expm(logarithm), shrunk, rtol=1e-3, atol=1e-3)


def test_lagged_covariance_of_one_time_is_the_covariance():
    plain = CepstralCovariance(coefficients=4).pool(MEL, 100.0)[:, :10]
    np.testing.assert_array_equal(LaggedCovariance(coefficients=4, lags=(0,), depth=50.0).pool(MEL, 100.0), plain)


def test_lagged_covariance_knows_the_order_of_time_and_plain_covariance_does_not():
    decay = np.exp(-np.arange(80) % 20 / 5)[None, :, None] * MEL[:, :1]
    lagged = LaggedCovariance(coefficients=4)
    assert np.abs(lagged.pool(decay, 100.0) - lagged.pool(decay[:, ::-1], 100.0)).max() > 0.1
    lagged = LaggedCovariance(coefficients=4, lags=(0,))
    np.testing.assert_allclose(lagged.pool(decay, 100.0), lagged.pool(decay[:, ::-1], 100.0), atol=1e-3)


def test_lags_are_named_and_refused_where_they_repeat():
    names = LaggedCovariance(coefficients=2, lags=(0, 4)).columns(["mel_0"])
    assert len(names) == 10
    assert names[:4] == ["covariance_0_lag0_0_lag0", "covariance_0_lag0_1_lag0", "covariance_0_lag0_0_lag4",
                         "covariance_0_lag0_1_lag4"]  # fmt: skip
    with pytest.raises(ValueError, match=r"lags=\(4, 4\) must be"):
        LaggedCovariance(lags=(4, 4))

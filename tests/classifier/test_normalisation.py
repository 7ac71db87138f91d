import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from audioclass.classifier.normalisation import RankNormalisation, Standardisation

X = np.random.default_rng(0).gamma(1.0, 3.0, (60, 4))
NEW = np.random.default_rng(1).gamma(1.0, 6.0, (20, 4))


def test_scikit_learn_agrees_on_standardisation():
    expected = StandardScaler().fit(X).transform(NEW)
    np.testing.assert_allclose(Standardisation.fit(X).apply(NEW), expected, rtol=1e-10)


def test_scipy_agrees_on_ranks():
    expected = np.clip(scipy.stats.norm.ppf((scipy.stats.rankdata(X, axis=0) - 0.5) / len(X)), -3, 3)
    np.testing.assert_allclose(RankNormalisation.fit(X).apply(X), expected, atol=1e-9)


@given(arrays(np.float64, (12, 2), elements=st.floats(-50, 50)))
def test_order_is_kept_and_values_are_clipped(values):
    scores = RankNormalisation.fit(values).apply(values)
    order = np.argsort(values[:, 0], kind="stable")
    assert (np.diff(scores[order, 0]) >= 0).all()
    assert np.abs(scores).max() <= 3


def test_equal_values_share_a_score():
    scores = RankNormalisation.fit(np.array([[1.0], [1.0], [5.0], [5.0]])).apply(np.array([[1.0], [5.0]]))
    assert scores[0, 0] == -scores[1, 0] == pytest.approx(scipy.stats.norm.ppf(0.25))


def test_many_values_are_thinned_without_losing_their_ranks():
    many = np.random.default_rng(2).normal(0, 4, (5000, 1))
    fitted = RankNormalisation.fit(many)
    assert fitted.values.shape[1] <= 64
    expected = np.clip(scipy.stats.norm.ppf((scipy.stats.rankdata(many, axis=0) - 0.5) / 5000), -3, 3)
    np.testing.assert_allclose(fitted.apply(many), expected, atol=0.1)


def test_waves_are_cosines_of_rank_scores_with_half_of_the_phases_each_way():
    many = np.random.default_rng(4).normal(size=(400, 300))
    ranks = RankNormalisation.fit(many)
    z, waves = ranks.apply(many), ranks.as_waves.apply(many)
    mean, deviation = np.exp(-0.245) * np.sqrt(0.5), np.sqrt((1 - np.exp(-0.49)) / 2)
    each_way = np.stack([(np.cos(0.7 * z + phase) - mean) / deviation for phase in (np.pi / 4, -np.pi / 4)])
    errors = np.abs(waves - each_way).max(axis=1)  # of every feature, by either phase
    assert (errors.min(axis=0) < 0.01).all()
    assert 100 < errors.argmin(axis=0).sum() < 200
    np.testing.assert_allclose([waves.mean(), waves.var()], [0, 1], atol=0.02)


def test_products_of_waves_are_a_kernel_of_each_feature():
    """Σ cos(ω(z − z')) over the features, less its mean and over its variance, but for what chance leaves of phases."""
    many = np.random.default_rng(5).normal(size=(60, 4000))
    ranks = RankNormalisation.fit(many)
    z, waves = ranks.apply(many), ranks.as_waves.apply(many)
    distances = [((waves[i] - waves[j]) ** 2).mean() for i, j in [(0, 1), (2, 3), (4, 5)]]
    expected = [2 * (1 - np.cos(0.7 * (z[i] - z[j]))).mean() / (1 - np.exp(-0.49)) for i, j in [(0, 1), (2, 3), (4, 5)]]
    np.testing.assert_allclose(distances, expected, rtol=0.08)


def test_waves_of_few_rows_and_of_many_are_the_same_to_the_bit():
    waves = RankNormalisation.fit(X).as_waves
    assert np.array_equal(waves.apply(NEW), np.concatenate([waves.apply(NEW[i : i + 1]) for i in range(len(NEW))]))


@pytest.mark.parametrize("cls", [Standardisation, RankNormalisation])
def test_a_feature_that_does_not_vary_is_zero(cls):
    assert cls.fit(np.full((5, 1), 7.0)).apply(np.array([[7.0]])).tolist() == [[0.0]]


@pytest.mark.parametrize("cls", [Standardisation, RankNormalisation])
@pytest.mark.parametrize("bad", [np.empty((0, 2)), np.array([[np.nan]]), np.ones(3)])
def test_wrong_examples_are_refused(cls, bad):
    with pytest.raises(ValueError, match="X h"):
        cls.fit(bad)


def test_values_are_looked_up_as_numpy_interpolates():
    rng = np.random.default_rng(3)
    training = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300), np.full(300, 5.0)])
    fitted = RankNormalisation.fit(training)
    new = np.concatenate([training[:50], rng.normal(0, 9, (50, 3)), fitted.values[:, :20].T])
    expected = [np.interp(*columns) for columns in zip(new.T, fitted.values, fitted.scores, strict=True)]
    assert (fitted.apply(new) == np.transpose(expected)).all()
    one_by_one = [fitted.apply(row[None])[0] for row in new]
    assert (np.stack(one_by_one) == np.transpose(expected)).all()

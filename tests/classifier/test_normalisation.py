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

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.classifier.preprocessing import NORMALISATIONS, Preprocessing
from audioclass.errors import UsageError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)) * [1, 10, 100, 1, 1, 0]
GROUPS = ("a", "a", "a", "b", "b", "b")


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_mean_squared_distance_is_one_and_groups_weigh_alike(normalisation):
    prepared = Preprocessing.fit(X, GROUPS, normalisation).apply(X)
    spreads = [2 * prepared[:, columns].var(axis=0).sum() for columns in ([0, 1, 2], [3, 4, 5])]
    np.testing.assert_allclose(spreads, [0.5, 0.5])


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_arrays_make_it_again(normalisation):
    fitted = Preprocessing.fit(X, GROUPS, normalisation)
    again = Preprocessing.of_arrays(fitted.normalisation, fitted.arrays())
    assert np.array_equal(again.apply(X), fitted.apply(X))
    assert again.n_features == 6


def test_without_scale_factors_are_one():
    fitted = Preprocessing.fit(X, normalisation="standard", scaled=False)
    np.testing.assert_allclose(fitted.apply(X)[:, :5].std(axis=0), 1)


@settings(max_examples=20)
@given(st.integers(0, 100))
def test_ranks_do_not_change_under_a_rising_map(seed):
    own = np.random.default_rng(seed).normal(size=(20, 3))
    np.testing.assert_allclose(
        Preprocessing.fit(own).apply(own), Preprocessing.fit(np.exp(own)).apply(np.exp(own)), atol=1e-9
    )


def test_rows_are_prepared_each_by_itself():
    fitted = Preprocessing.fit(X, GROUPS)
    assert np.array_equal(fitted.apply(X)[7:9], fitted.apply(X[7:9]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((2, 5)), r"X has shape \(2, 5\), must have 6 features"),
        (np.zeros(6), r"X has shape \(6,\), must have 6 features"),
        (np.full((1, 6), np.nan), "X holds NaN or infinite values"),
    ],
)
def test_wrong_rows_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        Preprocessing.fit(X, GROUPS).apply(rows)


def test_an_unknown_normalisation_gets_a_suggestion():
    with pytest.raises(UsageError, match="unknown normalisation 'ranks'; did you mean 'rank'"):
        Preprocessing.fit(X, normalisation="ranks")
    with pytest.raises(UsageError, match="unknown normalisation 'other'"):
        Preprocessing.of_arrays("other", {})

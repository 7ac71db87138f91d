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


MANY = RNG.normal(size=(300, 5)) @ RNG.normal(size=(5, 30)) + 0.05 * RNG.normal(size=(300, 30))
PARTS = ("a",) * 20 + ("b",) * 10


def squared(rows):
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=2)


def test_distances_along_axes_are_those_of_features_and_on_average_one():
    fitted = Preprocessing.fit(MANY, PARTS, "standard")
    along = fitted.along_axes(MANY, 6)
    distances, shorter = squared(fitted.apply(MANY)), squared(along.apply(MANY))
    assert (along.n_features, along.n_prepared) == (30, 6)
    assert 2 * along.apply(MANY).var(axis=0).sum() == pytest.approx(1)
    assert np.corrcoef(distances.ravel(), shorter.ravel())[0, 1] > 0.999


def test_as_many_axes_as_features_are_none():
    fitted = Preprocessing.fit(MANY, PARTS)
    assert fitted.along_axes(MANY, 30) is fitted
    assert fitted.along_axes(MANY, 0) is fitted


def test_axes_are_kept():
    fitted = Preprocessing.fit(MANY, PARTS).along_axes(MANY, 4)
    again = Preprocessing.of_arrays(fitted.normalisation, fitted.arrays())
    assert np.array_equal(again.apply(MANY), fitted.apply(MANY))
    assert np.array_equal(fitted.apply(MANY), fitted.project(fitted.normalise(MANY)))


def test_features_that_do_not_vary_have_axes_too():
    still = Preprocessing.fit(np.ones((9, 4))).along_axes(np.ones((9, 4)), 2)
    assert np.isfinite(still.apply(np.ones((3, 4)))).all()

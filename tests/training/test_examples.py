import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.training.examples import Examples, spread_rows

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])


def test_weights_are_one_and_groups_single_where_none_are_given():
    examples = Examples.of(X, Y)
    assert examples.weights.tolist() == [1] * 6
    assert examples.groups.tolist() == list(range(6))
    assert Examples.of(X, Y, groups=np.array(list("bbaacc"))).groups.tolist() == [1, 1, 0, 0, 2, 2]


def test_a_row_without_a_label_is_refused():
    with pytest.raises(ValueError, match="X has 6 rows for 5 labels"):
        Examples.of(X, Y[:5])


def changed(array, place=0):
    array = array.copy()
    array[place] = array[place] + 1
    return array


def test_the_same_examples_have_the_same_fingerprint():
    assert Examples.of(X, Y).fingerprint == Examples.of(np.asfortranarray(X), Y, np.ones(6), np.arange(6)).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        lambda: Examples.of(changed(X), Y),
        lambda: Examples.of(X, changed(Y)),
        lambda: Examples.of(X, Y, changed(np.ones(6))),
        lambda: Examples.of(X, Y, groups=np.array([0, 0, 1, 2, 3, 4])),
        lambda: Examples.of(X.astype(np.float32), Y),
        lambda: Examples.of(X[:5], Y[:5]),
    ],
    ids=["features", "labels", "weights", "groups", "precision", "rows"],
)
def test_other_examples_have_another_fingerprint(other):
    assert other().fingerprint != Examples.of(X, Y).fingerprint


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 70))
def test_every_label_keeps_its_part_of_the_rows(labels, most):
    y = np.array(labels)
    rows = spread_rows(y, most)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert set(y[rows]) == set(labels)
    assert len(rows) <= max(most, len(set(labels)))
    assert len(y) > most or len(rows) == len(y)


def test_rows_lie_evenly_within_each_label():
    assert spread_rows(np.repeat([0, 1], [9, 3]), 6).tolist() == [0, 4, 8, 9, 10, 11]


VERSIONS = np.repeat(np.arange(3), 2)


def test_rows_are_versions_of_windows():
    examples = Examples.of(X, Y[::2], np.array([1.0, 2, 3]), np.array(list("bab")), windows=VERSIONS)
    assert (examples.n_rows, examples.firsts.tolist()) == (6, [0, 2, 4])
    assert examples.to_rows(examples.weights).tolist() == [1, 1, 2, 2, 3, 3]
    assert examples.to_windows(np.arange(6.0)).tolist() == [0.5, 2.5, 4.5]
    assert examples.to_windows(X).tolist() == [[1, 2], [5, 6], [9, 10]]
    assert examples.first_versions.statistics.X.tolist() == X[::2].tolist()


def test_without_averaging_a_window_has_the_score_of_its_first_version():
    examples = Examples.of(X, Y[::2], windows=VERSIONS, averages=False)
    assert examples.to_windows(np.arange(6.0)).tolist() == [0, 2, 4]


def test_versions_change_the_fingerprint():
    single, double = Examples.of(X, Y), Examples.of(X, Y, windows=np.arange(6))
    assert single.fingerprint != double.fingerprint
    assert double.fingerprint != Examples.of(X, Y, windows=np.arange(6), averages=False).fingerprint


@pytest.mark.parametrize("windows", [[0, 0, 1, 1, 1], [0, 0, 2, 2, 2, 2], [1, 1, 0, 0, 2, 2], [1, 1, 1, 2, 2, 2]])
def test_windows_in_disorder_are_refused(windows):
    with pytest.raises(ValueError, match="must name each of 3 windows"):
        Examples.of(X, Y[::2], windows=np.array(windows))

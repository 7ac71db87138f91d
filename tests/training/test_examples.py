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

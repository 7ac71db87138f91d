import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.training.folds import fold_count, grouped_folds, held_out_folds, trainable_folds


@st.composite
def examples(draw):
    """Sides and groups of some examples, both sides present."""
    n = draw(st.integers(4, 40))
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = [-1, 1]
    return y, np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)))


@given(examples(), st.integers(2, 5))
def test_groups_never_stand_on_both_sides_of_a_fold(drawn, n_folds):
    y, groups = drawn
    folds = grouped_folds(y, groups, n_folds)
    assert all(len(set(folds[groups == group])) == 1 for group in groups)
    assert set(folds) <= set(range(n_folds))


@given(examples())
def test_the_same_examples_get_the_same_folds(drawn):
    assert np.array_equal(grouped_folds(*drawn, 3), grouped_folds(*drawn, 3))


def test_every_fold_has_its_part_of_each_side():
    y = np.repeat([1, -1], [20, 80])
    folds = grouped_folds(y, np.arange(100), 5)
    for fold in range(5):
        assert (np.sum(y[folds == fold] == 1), np.sum(y[folds == fold] == -1)) == (4, 16)


def test_many_labels_are_spread_too():
    y, groups = np.repeat(np.arange(6), 10), np.arange(60) // 2
    folds = grouped_folds(y, groups, 5)
    assert all(np.sum((y == label) & (folds == fold)) == 2 for label in range(6) for fold in range(5))


def test_other_draws_give_other_folds_as_even_as_these():
    y, groups = np.repeat(np.arange(3), 20), np.arange(60) // 2
    drawn = [grouped_folds(y, groups, 5, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert all(np.bincount(folds).tolist() == [12] * 5 for folds in drawn)


def test_large_groups_are_spread():
    y = np.tile([1, -1], 30)
    groups = np.repeat(np.arange(6), 10)
    assert np.bincount(grouped_folds(y, groups, 3)).tolist() == [20, 20, 20]


@pytest.mark.parametrize(
    ("groups", "count"), [([0, 1, 2, 3, 4, 5], 3), ([0, 0, 0, 3, 4, 5], 1), ([0, 1, 1, 3, 4, 5], 2)]
)
def test_the_smaller_side_sets_how_many_folds(groups, count):
    assert fold_count(np.array([1, 1, 1, -1, -1, -1]), np.array(groups)) == count


def test_a_fold_that_leaves_one_side_cannot_be_held_out():
    y, folds = np.array([1, 1, -1, -1]), np.array([0, 0, 0, 1])
    assert trainable_folds(y, folds) == [1]


def test_there_are_no_folds_where_a_side_has_a_single_group():
    y = np.array([1, 1, -1, -1])
    assert held_out_folds(y, np.array([0, 0, 1, 2]), 5) is None
    folds, trainable = held_out_folds(y, np.array([0, 1, 2, 3]), 5)
    assert trainable == (0, 1)
    assert np.array_equal(folds, grouped_folds(y, np.array([0, 1, 2, 3]), 2))

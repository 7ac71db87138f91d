import numpy as np
import pytest
from audioclass_ensembles.bags import draw_bags
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 100))
def test_groups_are_drawn_whole_and_bags_hold_two_labels(n_groups, size, seed):
    groups = np.repeat(np.arange(n_groups), size)
    y = groups % 2
    bags = draw_bags(y, groups, 5, np.random.default_rng(seed))
    assert bags.shape == (5, len(y))
    assert all(len(np.unique(bag[groups == group])) == 1 for bag in bags for group in range(n_groups))
    assert all(len(np.unique(y[bag > 0])) == 2 for bag in bags)
    assert (bags.sum(axis=1) == len(y)).all()


def test_a_group_is_drawn_with_the_probability_of_the_formula():
    groups = np.arange(10)
    bags = draw_bags(groups % 5, groups, 4000, np.random.default_rng(0))
    assert np.mean(bags > 0) == pytest.approx(1 - (1 - 1 / 10) ** 10, abs=0.01)


def test_bags_of_one_label_are_drawn_again():
    y = np.array([0] * 19 + [1])  # without redrawing, a bag in three would lack the last
    bags = draw_bags(y, np.arange(20), 200, np.random.default_rng(0))
    assert (bags[:, -1] > 0).all()


def test_labels_that_cannot_meet_in_a_bag_are_refused():
    with pytest.raises(ValueError, match="100 bootstrap samples of 1 groups held one label each"):
        draw_bags(np.zeros(3, int), np.zeros(3), 1, np.random.default_rng(0))

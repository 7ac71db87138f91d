"""P-values by counting groups, and views of rows by hand."""

from dataclasses import replace

import numpy as np
import pytest

from audioclass.classifier.novelty import Novelty, Views, largest_view

X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, -2.0, 0.0]])


def novelty_of(strangeness, weights=None):
    """With the views of five rows on two axes, and a discriminant along the third."""
    directions = np.column_stack([np.eye(3)[:, 2], np.eye(3)[:, :2], X.mean(axis=0)])
    weights = np.ones(len(strangeness)) if weights is None else weights
    arrays = (np.zeros((2, 2)), np.ones(2), np.array(strangeness), np.array(weights))
    return Novelty(Views.of(directions, X, 2), *(array.astype(np.float32) for array in arrays))


def test_a_p_value_counts_the_groups_that_were_at_least_as_strange():
    novelty = novelty_of([4.0, 3.0, 2.0, 1.0])
    assert novelty.p_values([0.0, 1.0, 1.5, 2.0, 3.5, 4.0]).tolist() == [1.0, 1.0, 0.8, 0.8, 0.4, 0.4]
    assert novelty.n_groups == 4


def test_windows_of_one_group_count_as_one():
    novelty = novelty_of([4.0, 3.0, 2.0, 1.0], [0.5, 0.5, 1.0, 1.0])
    assert novelty.p_values([3.5, 2.5]).tolist() == [1.5 / 4, 2 / 4]
    assert novelty.n_groups == 3


def test_beyond_the_strangest_group_an_exponential_tail_goes_on():
    novelty = novelty_of(np.arange(30.0, 0, -1))
    p = novelty.p_values([30.0, 30.0 + 1e-9, 33.0, 36.0])
    assert p[0] == pytest.approx(2 / 31)
    assert p[1] == pytest.approx(1 / 31)
    # The mean excess of 30, 29, … 26 over 25 is 3.
    assert p[2:] == pytest.approx([np.exp(-1) / 31, np.exp(-2) / 31])


def test_p_values_never_rise_with_strangeness():
    rng = np.random.default_rng(0)
    novelty = novelty_of(np.sort(rng.normal(size=50))[::-1], rng.uniform(0.1, 1, 50))
    p = novelty.p_values(np.linspace(-4, 8, 500))
    assert (np.diff(p) <= 0).all()
    assert 0 < p[-1] < p[0] <= 1


def test_views_are_the_distance_to_near_rows_and_how_far_to_the_side_of_what_was_imagined():
    views = novelty_of([1.0]).views.of_rows(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0], [5.0, 0.0, 0.0]]))
    # The three nearest of the origin are itself and two at 1; nothing of the training lies beside the two axes.
    assert np.exp(views[:, 0]) == pytest.approx([2 / 3, 9 + 2 / 3, (16 + 25 + 29) / 3], rel=1e-3)
    assert views[:, 1] == pytest.approx([0, 3, 0], abs=1e-3)


def test_the_largest_view_counts_above_the_centre_of_the_decided_label():
    views, spreads = np.array([[1.0, 4.0], [1.0, 4.0]]), np.array([1.0, 2.0])
    assert largest_view(views, np.array([[0.0, 0.0], [0.0, 4.0]]), spreads).tolist() == [2.0, 1.0]


def test_arrays_come_back():
    novelty = novelty_of([3.0, 2.0])
    again = Novelty.of_arrays(novelty.arrays(), 3, 2)
    rows = np.random.default_rng(0).normal(size=(7, 3))
    decided = np.array([0, 1, 0, 1, 0, 1, 1])
    assert np.array_equal(again.strangeness_of(rows, decided), novelty.strangeness_of(rows, decided))


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("codes", np.zeros((4, 4), np.int16), "for 3 features"),
        ("centres", np.zeros((3, 2), np.float32), "and 2 labels"),
        ("weights", np.ones(3, np.float32), "arrays of"),
        ("weights", np.array([1.0, 0.0], np.float32), "positive"),
        ("strangeness", np.array([2.0, 3.0], np.float32), "must fall"),
        ("spreads", np.array([1.0, 0.0], np.float32), "positive"),
        ("codes", np.zeros((3, 4), np.float32), "other types"),
        ("rows", np.zeros((0, 2), np.float32), "arrays of"),
        ("rows", np.zeros(5, np.float32), "arrays of"),
    ],
)
def test_arrays_that_cannot_be_computed_with_are_refused(name, array, reason):
    arrays = novelty_of([3.0, 2.0]).arrays() | {name: array}
    with pytest.raises(ValueError, match=reason):
        Novelty.of_arrays(arrays, 3, 2)


def test_a_model_is_strange_to_nothing_it_did_not_learn(trained):
    P, strangeness = trained.model.classify_rows(trained.dataset.X[:3])
    assert strangeness is None
    assert np.array_equal(P, replace(trained.model, novelty=None).posteriors_of(trained.dataset.X[:3]))

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.plugins.manager import plugin_manager
from audioclass.training.examples import Examples, FitOptions, spread_rows
from audioclass.training.statistics import PairwiseStatistics

MANAGER = plugin_manager(installed=False)
X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])


def trainer(name, **values):
    return MANAGER.make("trainer", name, values)


@dataclass(frozen=True)
class Bagging:
    """Leaves some groups out of each member."""

    wants = "features"

    def fit_out_of_bag(self, task, groups): ...


@pytest.mark.parametrize(
    ("made", "held_out", "size", "way"),
    [
        (trainer("least_squares"), "auto", 6, "closed form"),
        (trainer("landmarks"), "auto", 6, "closed form"),
        (trainer("least_squares"), "auto", 12, "folds"),
        (trainer("least_squares"), "folds", 6, "folds"),
        (Bagging(), "auto", 6, "out of bag"),
        (Bagging(), "folds", 6, "folds"),
        (trainer("svm"), "auto", 2, "span"),
        (trainer("svm"), "span", 6, "span"),
        (trainer("svm"), "auto", 3, "folds"),
        (trainer("l2_svm"), "auto", 1, "folds"),
    ],
)
def test_held_out_scores_are_had_in_the_cheapest_honest_way(made, held_out, size, way):
    assert FitOptions(made, None, held_out=held_out).way(np.arange(12) // size) == way


@pytest.mark.parametrize(
    ("n_rows", "n_sets", "name"),
    [(6000, 1, "svm"), (6001, 1, "landmarks"), (3000, 8, "svm"), (3000, 9, "landmarks"), (50_000, 1, "landmarks")],
)
def test_landmarks_take_over_where_factorisations_would_cost_too_much(n_rows, n_sets, name):
    components = FitOptions(trainer("svm"), None, held_out="span", large=trainer("landmarks"))
    fitting = components.fitting(n_rows, PairwiseStatistics(X), n_sets)
    assert fitting.trainer.name == name
    assert fitting.held_out == ("span" if name == "svm" else "folds")


def test_landmarks_take_over_where_the_matrix_does_not_fit():
    components = FitOptions(trainer("svm"), None, large=trainer("landmarks"), many=100)
    assert components.fitting(50, PairwiseStatistics(X, budget=50 * 50 * 4)).trainer.name == "svm"
    assert components.fitting(51, PairwiseStatistics(X, budget=50 * 50 * 4)).trainer.name == "landmarks"


@pytest.mark.parametrize(
    "components", [FitOptions(trainer("svm"), None), FitOptions(Bagging(), None, large=trainer("landmarks"))]
)
def test_a_trainer_without_a_matrix_or_without_another_stays(components):
    assert components.fitting(10**6, PairwiseStatistics(X)) is components


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

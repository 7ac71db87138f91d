import numpy as np
import pytest
from audioclass_msvm.circulation import balance, shortest_path, without_paths
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 10**6))
def test_columns_sum_to_zero_and_no_coefficient_grows(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 7))
    y = rng.integers(0, n_labels, 30)
    alpha = rng.exponential(size=(30, n_labels)) * (rng.uniform(size=(30, n_labels)) < 0.3)
    own = np.eye(n_labels, dtype=bool)[y]
    alpha[own] = 0
    beta = np.where(own, alpha.sum(axis=1, keepdims=True), -alpha)
    balanced = balance(beta, y)
    np.testing.assert_allclose(balanced.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(balanced.sum(axis=1), 0, atol=1e-12)
    assert (np.abs(balanced) <= np.abs(beta) + 1e-12).all()
    assert (np.sign(balanced) * np.sign(beta) >= 0).all()


def test_what_is_balanced_stays():
    flow = np.array([[0, 2.0, 0], [0, 0, 2.0], [2.0, 0, 0]])
    np.testing.assert_array_equal(without_paths(flow), flow)


def test_a_path_is_taken_out_of_its_cycle():
    # a cycle of 1 through all three, and 0.5 more from 0 to 1 to 2
    flow = np.array([[0, 1.5, 0], [0, 0, 1.5], [1.0, 0, 0]])
    np.testing.assert_allclose(without_paths(flow), [[0, 1, 0], [0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(("goal", "path"), [(1, [0, 1]), (2, [0, 1, 2]), (3, [])])
def test_paths_are_shortest(goal, path):
    arcs = np.zeros((4, 4), dtype=bool)
    arcs[[0, 1, 1, 2], [1, 2, 0, 0]] = True
    assert shortest_path(arcs, 0, np.arange(4) == goal) == path

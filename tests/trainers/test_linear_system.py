import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.trainers.linear_system import factor, inverse_by, solve_with_bias


def positive(n, seed):
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T


@given(st.integers(1, 8), st.integers(0, 20))
def test_it_solves_the_dense_system(n, seed):
    K, Y = positive(n, seed), np.random.default_rng(seed + 1).normal(size=(n, 3))
    ridge = np.linspace(0.5, 2, n)
    a, b = solve_with_bias(inverse_by(factor(K, ridge)), Y)
    dense = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    np.testing.assert_allclose(np.vstack([a, b]), np.linalg.solve(dense, np.vstack([Y, np.zeros(3)])), atol=1e-8)


def test_one_right_hand_side_is_a_column_of_many():
    inverse, Y = inverse_by(factor(positive(5, 0), 1.0)), np.arange(10.0).reshape(5, 2)
    a, b = solve_with_bias(inverse, Y[:, 1])
    np.testing.assert_allclose(a, solve_with_bias(inverse, Y)[0][:, 1])
    assert b == pytest.approx(solve_with_bias(inverse, Y)[1][1])


@pytest.mark.parametrize(
    ("K", "ridge", "eigenvalue"),
    [(np.array([[0.0, 2.0], [2.0, 0.0]]), 0.5, "-1.5"), (np.ones((3, 3)), 1e-20, ""), (np.ones((3, 3)), 2.3e-16, "")],
    ids=["indefinite", "singular", "singular_to_working_precision"],
)
def test_what_is_not_positive_is_refused(K, ridge, eigenvalue):
    with pytest.raises(
        ValueError, match=f"has the eigenvalue {eigenvalue}.*, must be clearly positive; repair K, or lower C"
    ):
        factor(K, ridge)


def test_the_matrix_is_left_as_it_was():
    K = positive(4, 0)
    before = K.copy()
    factor(K, 1.0)
    np.testing.assert_array_equal(K, before)

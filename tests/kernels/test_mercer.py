import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.kernels.mercer import check_mercer

INDEFINITE = np.array([[0.0, 2.0], [2.0, 0.0]])  # eigenvalues -2 and 2


@given(st.integers(1, 8), st.integers(0, 100))
def test_dot_products_pass(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    assert check_mercer(X @ X.T).holds


def test_a_power_that_is_no_whole_number_fails():
    x = np.linspace(-0.9, 0.9, 12)
    checked = check_mercer((np.outer(x, x) + 1) ** 1.5)
    assert not checked.holds
    assert checked.smallest < -0.01


@given(st.floats(-1, 3))
def test_a_multiple_of_the_identity_shifts_the_smallest_eigenvalue(c):
    assert check_mercer(INDEFINITE + c * np.eye(2)).smallest == pytest.approx(c - 2)


def test_an_unsymmetric_matrix_fails():
    assert not check_mercer(np.array([[1.0, 0.5], [0.0, 1.0]])).holds


@pytest.mark.parametrize("K", [np.ones((2, 3)), np.empty((0, 0)), np.full((2, 2), np.nan)])
def test_what_is_no_gram_matrix_is_refused(K):
    with pytest.raises(ValueError, match="K h"):
        check_mercer(K)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel

from audioclass.kernels.polynomial import Polynomial
from audioclass.kernels.statistics import gram


def test_degree_two_is_the_dot_product_of_its_map():
    X = np.random.default_rng(0).normal(size=(8, 2))
    mapped = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    np.testing.assert_allclose(gram(Polynomial(degree=2, scale=1, offset=0), X), mapped @ mapped.T)


@given(st.integers(1, 5), st.floats(0.01, 3), st.floats(0, 3))
def test_scikit_learn_agrees(degree, scale, offset):
    X = np.random.default_rng(1).normal(size=(6, 3))
    expected = polynomial_kernel(X, degree=degree, gamma=scale, coef0=offset)
    np.testing.assert_allclose(gram(Polynomial(degree, scale, offset), X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"degree": 1.5}, "degree=1.5 must be an int"), ({"degree": 0}, "at least 1"), ({"offset": -1}, "at least 0")],
)
def test_what_is_no_mercer_kernel_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Polynomial(**parameters)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_overflow_warns(dtype):
    with pytest.warns(RuntimeWarning, match="beyond 1e\\+150 at degree 40"):
        gram(Polynomial(degree=40), np.full((2, 2), 1e6, dtype))

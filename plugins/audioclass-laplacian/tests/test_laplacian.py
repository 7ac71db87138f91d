import numpy as np
import pytest
from audioclass_laplacian import Laplacian, register_kernels
from sklearn.metrics.pairwise import laplacian_kernel

from audioclass.kernels.statistics import gram
from audioclass.testing import check_kernel


def test_it_keeps_its_contract():
    check_kernel(Laplacian(sigma=0.7))


def test_it_is_offered():
    assert register_kernels() == [Laplacian]


def test_a_value_worked_out_by_hand():
    # |1−0| + |2−4| = 3 over 2 features, sigma 1.5: exp(−1)
    K = gram(Laplacian(sigma=1.5), np.array([[1.0, 2.0]]), np.array([[0.0, 4.0]]))
    assert K[0, 0] == pytest.approx(np.exp(-1))


def test_scikit_learn_agrees():
    X = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_allclose(gram(Laplacian(sigma=2.0), X), laplacian_kernel(X, gamma=1 / 8), rtol=1e-12)

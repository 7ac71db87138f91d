import numpy as np
import pytest
from audioclass_chi2 import Chi2, register_kernels
from sklearn.metrics.pairwise import chi2_kernel

from audioclass.kernels.statistics import gram
from audioclass.testing import check_kernel


def test_it_keeps_its_contract():
    check_kernel(Chi2(sigma=0.7))


def test_it_is_offered():
    assert register_kernels() == [Chi2]


def test_a_value_worked_out_by_hand():
    # (1−3)²/4 + (2−2)²/4 + 0/0 = 1, sigma 2: exp(−1/2)
    K = gram(Chi2(sigma=2.0), np.array([[1.0, 2.0, 0.0]]), np.array([[3.0, 2.0, 0.0]]))
    assert K[0, 0] == pytest.approx(np.exp(-0.5))


def test_scikit_learn_agrees():
    X = np.random.default_rng(0).gamma(1.0, size=(20, 4))
    np.testing.assert_allclose(gram(Chi2(sigma=2.0), X), chi2_kernel(X, gamma=0.5), rtol=1e-12)


def test_features_below_zero_are_refused():
    with pytest.raises(ValueError, match="at least 0, found -1"):
        gram(Chi2(), np.array([[-1.0, 2.0]]))

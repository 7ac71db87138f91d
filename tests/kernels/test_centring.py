import numpy as np
from sklearn.preprocessing import KernelCenterer

from audioclass.kernels.centring import Centring, centre_gram

X = np.random.default_rng(0).normal(2.0, 1.0, (10, 4))
NEW = np.random.default_rng(1).normal(2.0, 1.0, (3, 4))


def test_rows_and_columns_sum_to_zero():
    centred = centre_gram(X @ X.T)
    np.testing.assert_allclose(centred.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(centred.sum(axis=1), 0, atol=1e-10)


def test_linear_kernel_becomes_that_of_centred_data():
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(centre_gram(X @ X.T), centred @ centred.T, atol=1e-10)
    new = (NEW - X.mean(axis=0)) @ centred.T
    np.testing.assert_allclose(Centring.of(X @ X.T).centre(NEW @ X.T), new, atol=1e-10)


def test_scikit_learn_agrees():
    expected = KernelCenterer().fit(X @ X.T).transform(NEW @ X.T)
    np.testing.assert_allclose(Centring.of(X @ X.T).centre(NEW @ X.T), expected, atol=1e-10)

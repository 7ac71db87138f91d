import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.statistics import gram, gram_and_gradients

X = np.random.default_rng(0).normal(size=(12, 5))


@given(st.floats(0.2, 5))
def test_scikit_learn_agrees(sigma):
    np.testing.assert_allclose(gram(Gaussian(sigma), X), rbf_kernel(X, gamma=1 / (5 * sigma**2)), rtol=1e-9)
    np.testing.assert_allclose(gram(UnscaledGaussian(sigma), X), rbf_kernel(X, gamma=1 / (2 * sigma**2)), rtol=1e-9)


@given(st.floats(0.2, 5))
def test_the_two_normalisations_differ_by_their_sigma(sigma):
    unscaled = UnscaledGaussian(sigma * np.sqrt(5 / 2))
    np.testing.assert_allclose(gram(Gaussian(sigma), X), gram(unscaled, X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), UnscaledGaussian(0.5)], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_lie_from_zero_to_one_with_ones_on_the_diagonal(kernel, dtype):
    K = gram(kernel, (1e3 + X).astype(dtype))
    assert (K.diagonal() == 1).all()
    assert ((K >= 0) & (K <= 1)).all()


@pytest.mark.parametrize("cls", [Gaussian, UnscaledGaussian])
def test_derivative_agrees_with_the_difference_to_eight_digits(cls):
    _, gradients = gram_and_gradients(cls(1.3), X)
    step = 1e-6
    difference = (gram(cls(1.3 + step), X) - gram(cls(1.3 - step), X)) / (2 * step)
    np.testing.assert_allclose(gradients["sigma"], difference, atol=1e-8)


def test_sigma_must_be_positive():
    with pytest.raises(ValueError, match=r"gaussian: sigma=-1\.0 must be positive"):
        Gaussian(sigma=-1)

import numpy as np
import pytest

from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.kernels.gaussian_scaled import ScaledGaussian
from audioclass.kernels.statistics import gram

X = np.random.default_rng(0).normal(size=(8, 3))


def test_without_factors_it_is_the_plain_one():
    np.testing.assert_allclose(gram(ScaledGaussian(0.7), X), gram(UnscaledGaussian(0.7), X))


def test_it_is_a_product_of_one_kernel_for_each_group():
    product = gram(UnscaledGaussian(0.7 / 2.0), X[:, :1]) * gram(UnscaledGaussian(0.7 / 0.5), X[:, 1:])
    np.testing.assert_allclose(gram(ScaledGaussian(0.7, (2.0, 0.5, 0.5)), X), product)


def test_a_factor_of_0_leaves_a_feature_out():
    np.testing.assert_allclose(gram(ScaledGaussian(1.0, (1.0, 1.0, 0.0)), X), gram(UnscaledGaussian(), X[:, :2]))


def test_single_precision_stays_single():
    assert gram(ScaledGaussian(1.0, (1.0, 2.0, 3.0)), X.astype(np.float32)).dtype == np.float32


def test_factors_for_other_features_are_refused():
    with pytest.raises(ValueError, match="gaussian_scaled: 2 factors for 3 features"):
        gram(ScaledGaussian(1.0, (1.0, 2.0)), X)

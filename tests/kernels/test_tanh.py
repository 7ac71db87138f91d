import numpy as np
from sklearn.metrics.pairwise import sigmoid_kernel

from audioclass.kernels.mercer import check_mercer
from audioclass.kernels.statistics import gram
from audioclass.kernels.tanh import Tanh

GRID = np.linspace(-1, 1, 15)[:, None]


def test_scikit_learn_agrees():
    np.testing.assert_allclose(gram(Tanh(0.3, 0.2), GRID), sigmoid_kernel(GRID, gamma=0.3, coef0=-0.2))


def test_values_stay_within_one():
    assert (np.abs(gram(Tanh(0.5), GRID)) < 1).all()


def test_it_is_no_mercer_kernel_around_the_origin():
    assert not Tanh.is_mercer
    assert not check_mercer(gram(Tanh(1.0, 0.0), GRID)).holds

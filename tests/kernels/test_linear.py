import numpy as np

from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram


def test_it_is_the_dot_product():
    assert gram(Linear(), np.array([[1.0, 2.0]]), np.array([[3.0, -1.0], [0.0, 5.0]])).tolist() == [[1.0, 10.0]]

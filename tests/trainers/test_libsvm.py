import numpy as np

from audioclass.trainers.libsvm import bias, dual_solution


def test_the_bias_is_the_mean_over_free_vectors():
    assert bias(np.array([1.0, 3.0]), np.array([9.0]), np.array([9.0])) == 2.0


def test_without_free_vectors_the_bias_is_the_midpoint_of_its_interval():
    assert bias(np.array([]), np.array([-1.0, 0.0]), np.array([1.0, 5.0])) == 0.5


def test_coefficients_stand_in_the_rows_of_their_examples():
    K = np.diag([1.0, 1.0, 100.0, 100.0])
    coefficients = dual_solution("SVC", K, np.array([1, -1, 1, -1]), np.ones(4), C=0.5, tol=1e-10)
    np.testing.assert_allclose(coefficients, [0.5, -0.5, 0.01, -0.01], rtol=1e-6)

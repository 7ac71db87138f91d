from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import (
    SHARED,
    diagonal,
    gram,
    gram_and_gradients,
    gram_between,
    gram_of_statistic,
    mean_squared_distance,
    pairwise,
    squared_distance,
    squared_norms,
)
from audioclass.parameters import component
from audioclass.testing import check_kernel

matrices = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(-100, 100))


@component
class Median:
    """A kernel without a statistic: 1 where the medians of two examples are nearer than one."""

    name: ClassVar[str] = "median"

    def gram(self, X, Y):
        return np.exp(-np.abs(np.median(X, axis=1)[:, None] - np.median(Y, axis=1)[None, :]))


@component
class Misnamed:
    name: ClassVar[str] = "misnamed"
    statistic: ClassVar[str] = "squared_distanse"

    def of(self, S):
        return S


@given(matrices, matrices)
def test_scipy_agrees_on_distances(X, Y):
    np.testing.assert_allclose(squared_distance(X, Y), cdist(X, Y, "sqeuclidean"), atol=1e-9)
    np.testing.assert_allclose(mean_squared_distance(X, Y), cdist(X, Y, "sqeuclidean") / 3, atol=1e-9)


@given(matrices)
def test_distances_of_examples_to_themselves_are_exactly_zero(X):
    for statistic in (squared_distance, mean_squared_distance):
        assert (pairwise(statistic, X).diagonal() == 0).all()
        assert (pairwise(statistic, X) >= 0).all()
    np.testing.assert_array_equal(gram(Gaussian(), X).diagonal(), 1)


def test_the_diagonal_does_not_hang_on_who_an_array_is():
    X = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_array_equal(squared_distance(X, X), squared_distance(X, X[:]))
    np.testing.assert_array_equal(gram(Gaussian(), X), gram(Gaussian(), X[:]))


def test_a_kernel_without_a_statistic_has_no_gram_matrix_of_one():
    with pytest.raises(ValueError, match="kernel 'median' has no statistic, it has only a Gram matrix"):
        gram_of_statistic(Median(), np.ones((2, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("statistic", SHARED.values(), ids=SHARED)
def test_precision_is_kept(statistic, dtype):
    assert statistic(np.ones((2, 3), dtype), np.ones((4, 3), dtype)).dtype == dtype


def test_a_kernel_without_a_statistic_keeps_the_contract():
    check_kernel(Median())
    assert gram_and_gradients(Median(), np.ones((2, 3)))[1] == {}


def test_an_unknown_statistic_gets_a_suggestion():
    with pytest.raises(UsageError, match="unknown statistic of kernel 'misnamed'.*did you mean 'squared_distance'"):
        gram(Misnamed(), np.ones((2, 3)))


def test_whole_numbers_are_examples_too():
    assert gram(Linear(), np.array([[1, 2]])).tolist() == [[5.0]]


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.array([[np.nan]]), None, "X holds NaN or infinite values"),
        (np.ones((2, 2)), np.array([[np.inf, 1.0]]), "Y holds NaN or infinite values"),
        (np.empty((0, 3)), None, r"X has shape \(0, 3\), must be examples by features"),
        (np.empty((3, 0)), None, "must be examples by features"),
        (np.ones(3), None, "must be examples by features"),
        (np.ones((2, 3)), np.ones((2, 2)), "X has 3 features and Y 2"),
        (np.array([["a"]]), None, "must hold numbers"),
        (np.array([[None]]), None, "must hold numbers"),
    ],
)
def test_wrong_examples_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        gram(Gaussian(), X, Y)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(), Median()], ids=lambda kernel: kernel.name)
def test_diagonal_needs_no_gram_matrix(kernel):
    X = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(diagonal(kernel, X), gram(kernel, X).diagonal())


@pytest.mark.parametrize("kernel", [Gaussian(1.5), UnscaledGaussian(2.0), Linear()], ids=lambda kernel: kernel.name)
def test_norms_at_hand_change_nothing(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 7)), rng.normal(size=(40, 7))
    np.testing.assert_array_equal(gram_between(kernel, X, Y, squared_norms(Y)), gram_between(kernel, X, Y))


def test_distances_of_few_to_many_are_those_of_many_to_few():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(3, 7)), rng.normal(size=(40, 7))
    np.testing.assert_allclose(squared_distance(X, Y), squared_distance(Y, X).T, rtol=1e-12)
    np.testing.assert_allclose(squared_distance(X, Y), ((X[:, None] - Y) ** 2).sum(axis=2), rtol=1e-12)

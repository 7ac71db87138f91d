import numpy as np
import pytest
from scipy.spatial.distance import cdist

from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.mercer import check_mercer
from audioclass.kernels.statistics import gram
from audioclass.training.statistics import PairwiseStatistics

X = np.random.default_rng(0).normal(0, 3, (15, 5))
NEW = np.random.default_rng(1).normal(0, 3, (4, 5))
GROUPS = ("mel", "mel", "shape", "mel", "shape")


def test_scipy_agrees():
    mel, shape = [0, 1, 3], [2, 4]
    parts = [
        cdist(NEW[:, c], X[:, c], "sqeuclidean") / cdist(X[:, c], X[:, c], "sqeuclidean").mean() for c in (mel, shape)
    ]
    np.testing.assert_allclose(GroupedDistance.fit(X, GROUPS).between(NEW, X), (parts[0] + parts[1]) / 2)


def test_the_mean_over_the_training_rows_is_one():
    distances = GroupedDistance.fit(X, GROUPS).between(X)
    assert np.isclose(distances.mean(), 1)
    assert (distances.diagonal() == 0).all()


def test_a_larger_group_does_not_drown_a_smaller_one():
    scaled = X * np.array([1, 1, 100, 1, 100])
    fitted = GroupedDistance.fit(scaled, GROUPS)
    np.testing.assert_allclose(fitted.between(scaled), GroupedDistance.fit(X, GROUPS).between(X))


def test_its_gaussian_is_a_mercer_kernel():
    assert check_mercer(np.exp(-GroupedDistance.fit(X, GROUPS).between(X))).holds


def test_weights_of_groups_are_shares():
    equal = GroupedDistance.fit(X, GROUPS)
    mel_only = GroupedDistance.fit(X, GROUPS, {"mel": 1.0, "shape": 0.0})
    mel = [0, 1, 3]
    np.testing.assert_allclose(
        mel_only.between(X), 2 * GroupedDistance(equal.factors[mel]).between(X[:, mel]), atol=1e-12
    )


def test_a_group_that_does_not_vary_counts_for_nothing():
    constant = np.column_stack([X, np.ones(15)])
    distances = GroupedDistance.fit(constant, (*GROUPS, "still")).between(constant)
    np.testing.assert_allclose(distances, GroupedDistance.fit(X, GROUPS).between(X) * 2 / 3)


@pytest.mark.parametrize("budget", [10**9, 15 * 15 * 4, 0], ids=["float64", "float32", "not-kept"])
@pytest.mark.parametrize("kernels", [[Gaussian(2.0)], [Gaussian(2.0), Linear()], []], ids=["one", "two", "none"])
def test_parts_are_those_of_the_whole_within_any_budget(kernels, budget):
    statistics = PairwiseStatistics(X, budget)
    statistics.prepare(kernels)
    rows, columns = np.array([3, 1, 8]), np.array([0, 14, 2, 5])
    for kernel in (Gaussian(2.0), Gaussian(0.5), Linear()):
        expected = gram(kernel, X)[np.ix_(rows, columns)]
        np.testing.assert_allclose(statistics.gram(kernel, rows, columns), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_kernels", [1, 2])
def test_a_statistic_is_computed_once(n_kernels):
    calls = []

    def counted(X, Y):
        calls.append(1)
        return X @ Y.T

    kernel = type("Counted", (Linear,), {"statistic": staticmethod(counted)})()
    statistics = PairwiseStatistics(X)
    statistics.prepare([kernel, Gaussian()][:n_kernels])
    for i in range(5):
        statistics.gram(kernel, np.arange(i + 1))
    assert len(calls) == 1


def test_a_part_can_be_changed_without_harm():
    statistics = PairwiseStatistics(X)
    statistics.prepare([Gaussian()])
    everything = np.arange(15)
    statistics.gram(Gaussian(), everything)[:] = 0
    assert statistics.gram(Gaussian(), everything).max() == 1


@pytest.mark.parametrize("bad", [np.ones(3), np.array([[np.nan]])])
def test_wrong_examples_are_refused(bad):
    with pytest.raises(ValueError, match="must be examples by features, all finite"):
        PairwiseStatistics(bad)

import numpy as np
from scipy.spatial.distance import cdist

from audioclass.kernels.mercer import check_mercer
from audioclass.learning.gram import GroupedDistance

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
    distances = GroupedDistance.fit(X, GROUPS).between(X, X)
    assert np.isclose(distances.mean(), 1)
    assert (distances.diagonal() == 0).all()


def test_a_larger_group_does_not_drown_a_smaller_one():
    scaled = X * np.array([1, 1, 100, 1, 100])
    fitted = GroupedDistance.fit(scaled, GROUPS)
    np.testing.assert_allclose(fitted.between(scaled, scaled), GroupedDistance.fit(X, GROUPS).between(X, X))


def test_its_gaussian_is_a_mercer_kernel():
    assert check_mercer(np.exp(-GroupedDistance.fit(X, GROUPS).between(X, X))).holds


def test_a_group_that_does_not_vary_counts_for_nothing():
    constant = np.column_stack([X, np.ones(15)])
    distances = GroupedDistance.fit(constant, (*GROUPS, "still")).between(constant, constant)
    np.testing.assert_allclose(distances, GroupedDistance.fit(X, GROUPS).between(X, X) * 2 / 3)

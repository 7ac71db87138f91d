import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
from audioclass.trainers.landmarks import Landmarks, _spread
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.similarities import spread_order

KERNEL = UnscaledGaussian(1.5)


def drawn(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) % 2, 1, -1)
    return X, y, rng.uniform(0.5, 2, n)


def task_of(X, y, weights, C=3.0, rows=None):
    K = gram(KERNEL, X)
    return Task(y, C, weights, np.random.default_rng(0), entries=lambda i, j: K[np.ix_(i, j)])


def scores(machine, X):
    return gram(KERNEL, X, X[machine.support]) @ machine.coefficients + machine.intercept


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_with_every_example_a_landmark_it_is_least_squares(seed):
    X, y, weights = drawn(seed)
    ours = Landmarks(40).fit(task_of(X, y, weights))
    exact = LeastSquares().fit(Task(y, 3.0, weights, np.random.default_rng(0), K=gram(KERNEL, X)))
    assert scores(ours, X) == pytest.approx(scores(exact, X), abs=1e-3)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_held_out_scores_are_those_of_fits_without_the_group(seed):
    X, y, weights = drawn(seed)
    groups = np.random.default_rng(seed).integers(0, 6, 40)
    trainer, Y = Landmarks(12), np.stack([y, np.roll(y, 1)], axis=1)
    _, held_out = trainer.fit_and_hold_out(task_of(X, y, weights), Y, groups)
    for group in np.unique(groups):
        kept = weights * (groups != group)
        # The landmarks of the whole fit, with the group's examples at a weight that no longer counts.
        faint = np.where(kept > 0, kept, 1e-12)
        fitted = trainer.fit_many(task_of(X, y, faint), Y)
        assert held_out[groups == group] == pytest.approx(scores(fitted, X)[groups == group], abs=1e-5)


def test_examples_of_weight_zero_are_scored_and_are_no_landmarks():
    X, y, weights = drawn(3)
    weights[:5] = 0
    task = task_of(X, y, weights)
    assert Landmarks(100).fit(task).support.min() == 5
    _, held_out = Landmarks(100).fit_and_hold_out(task, y, np.arange(40))
    assert held_out[:5] == pytest.approx(scores(Landmarks(100).fit(task), X)[:5], abs=1e-5)


def test_one_group_cannot_be_held_out():
    X, y, weights = drawn(0)
    with pytest.raises(ValueError, match="at least 2 groups are needed"):
        Landmarks(5).fit_and_hold_out(task_of(X, y, weights), y, np.zeros(40, int))


def test_a_whole_matrix_is_refused():
    X, y, weights = drawn(0)
    with pytest.raises(ValueError, match="wants entries of the Gram matrix"):
        Landmarks().fit(Task(y, 1.0, weights, np.random.default_rng(0), K=gram(KERNEL, X)))


def test_groups_larger_than_the_landmarks_are_held_out_too():
    X, y, weights = drawn(1)
    task, groups = task_of(X, y, weights), np.arange(40) // 20
    machine, held_out = Landmarks(4).fit_and_hold_out(task, y, groups)
    faint = np.where(groups == 0, 1e-12, weights)
    without = Landmarks(4).fit(task_of(X, y, faint))
    assert np.array_equal(machine.support, without.support)
    assert held_out[groups == 0] == pytest.approx(scores(without, X)[groups == 0], abs=1e-5)


@given(st.integers(0, 300))
def test_the_first_of_an_even_order_are_evenly_spread(n):
    order = spread_order(n)
    assert sorted(order.tolist()) == list(range(n))
    for count in (2, 5, 17):
        gaps = np.diff(np.sort(order[:count]), prepend=0, append=n)
        assert count > n or gaps.max() <= 4 * n / count + 1


def test_sides_have_landmarks_in_proportion():
    X, _, weights = drawn(0)
    y = np.where(np.arange(40) < 30, 1, -1)
    support = Landmarks(8).fit(task_of(X, y, weights)).support
    assert np.sum(support < 30) == 6
    lopsided = np.where(np.arange(40) < 39, 1, -1)
    assert Landmarks(8).fit(task_of(X, lopsided, weights)).support[-1] == 39


@pytest.mark.parametrize(("n", "count"), [(40, 40), (700, 300), (4000, 400), (12_000, 1000)])
def test_one_example_in_ten_is_a_landmark(n, count):
    assert len(_spread(np.arange(n), np.where(np.arange(n) % 2, 1, -1), 1000)) == count


def test_an_indefinite_kernel_is_fitted_without_its_negative_eigenvalues():
    X, y, weights = drawn(0)
    K = np.tanh(X @ X.T - 1)
    task = Task(y, 3.0, weights, np.random.default_rng(0), entries=lambda i, j: K[np.ix_(i, j)])
    machine = Landmarks().fit(task)
    assert np.isfinite(machine.coefficients).all()
    assert np.mean(np.sign(machine.scores(K)) == y) > 0.6

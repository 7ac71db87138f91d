import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Task
from audioclass.trainers.landmarks import Landmarks
from audioclass.trainers.least_squares import LeastSquares

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

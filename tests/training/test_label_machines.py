import numpy as np
import pytest

from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.training.label_machines import LabelMachines


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 3)) + np.eye(3)[y]
    groups = rng.integers(0, 15, n)
    return gram(Gaussian(), X), y, groups


def machines_of(K, y):
    return LabelMachines(K, y, 3, 0.1, np.ones(len(y)))


def test_held_out_scores_are_those_of_machines_without_the_group():
    K, y, groups = problem()
    scores = machines_of(K, y).held_out(groups)
    for group in np.unique(groups):
        inside, outside = groups != group, groups == group
        machines = machines_of(K[np.ix_(inside, inside)], y[inside])
        np.testing.assert_allclose(machines.scores(K[np.ix_(outside, inside)]), scores[outside], atol=1e-10)


def test_other_rows_are_scored_by_machines_without_the_group_of_their_row():
    K, y, groups = problem()
    others = np.random.default_rng(1).random(K.shape)
    scores = machines_of(K, y).held_out_of(others, groups)
    for group in np.unique(groups):
        inside, outside = groups != group, groups == group
        machines = machines_of(K[np.ix_(inside, inside)], y[inside])
        np.testing.assert_allclose(machines.scores(others[np.ix_(outside, inside)]), scores[outside], atol=1e-10)
    np.testing.assert_allclose(machines_of(K, y).held_out_of(K, groups), machines_of(K, y).held_out(groups), atol=1e-10)


def test_machines_solve_their_equations():
    K, y, _ = problem()
    machines = machines_of(K, y)
    solved = (K + 0.1 * np.eye(len(y))) @ machines.coefficients + machines.intercepts
    np.testing.assert_allclose(solved, machines.targets, atol=1e-10)
    np.testing.assert_allclose(machines.coefficients.sum(axis=0), 0, atol=1e-10)


def test_one_group_cannot_be_held_out():
    K, y, _ = problem()
    with pytest.raises(ValueError, match="one group holds every example"):
        machines_of(K, y).held_out(np.zeros(len(y)))

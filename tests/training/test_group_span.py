import numpy as np
import pytest

from audioclass.criteria.spans import span_scores
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Task
from audioclass.testing.blobs import blobs
from audioclass.training.group_span import group_span_scores

SVM = plugin_manager(installed=False).make("trainer", "svm", {"tolerance": 1e-8})


def problem(n_each=20, spread=1.2, C=1.0, seed=0):
    X, labels = blobs(2, n_each, spread, seed)
    K, y, weights = gram(Gaussian(1.0), X), 1 - 2 * labels, np.ones(2 * n_each)
    return K, y, C, weights, SVM.fit(Task(y, C, weights, np.random.default_rng(0), K=K))


def retrained(K, y, C, groups):
    """Scores of each group by the machine that never saw it, and which vectors were free in that machine."""
    scores, free = np.empty(len(y)), {}
    for group in np.unique(groups):
        kept = np.flatnonzero(groups != group)
        machine = SVM.fit(Task(y[kept], C, np.ones(len(kept)), np.random.default_rng(0), K=K[np.ix_(kept, kept)]))
        scores[groups == group] = machine.scores(K[np.ix_(groups == group, kept)])
        alpha = np.abs(machine.coefficients)
        free[group] = (set(kept[machine.support]), set(kept[machine.support[alpha < C * (1 - 1e-6)]]))
    return scores, free


def test_groups_of_one_give_the_span_estimate():
    K, y, C, weights, machine = problem()
    one_each = np.arange(len(y))
    np.testing.assert_allclose(
        group_span_scores(K, machine, y, C, weights, one_each), span_scores(K, machine, y, C, weights), atol=1e-6
    )


@pytest.mark.parametrize("size", [2, 3, 5])
def test_it_is_exact_where_nothing_else_changes(size):
    exact = 0
    for seed in range(8):
        K, y, C, weights, machine = problem(seed=seed)
        groups = np.arange(len(y)) // size
        found = group_span_scores(K, machine, y, C, weights, groups)
        expected, changed = retrained(K, y, C, groups)
        support = set(machine.support)
        free = set(machine.support[np.abs(machine.coefficients) < C * (1 - 1e-6)])
        for group, (other_support, other_free) in changed.items():
            away = set(np.flatnonzero(groups == group))
            if other_support == support - away and other_free == free - away:
                exact += 1
                np.testing.assert_allclose(found[groups == group], expected[groups == group], atol=1e-4)
    assert exact >= 3


@pytest.mark.parametrize("name", ["l2_svm", "hard_margin"])
def test_without_a_bound_on_alpha_it_is_exact_where_the_support_stays(name):
    exact, trainer = 0, plugin_manager(installed=False).make("trainer", name)
    for seed in range(8):
        K, y, C, weights, _ = problem(seed=seed, spread=0.6, n_each=12)
        machine = trainer.fit(Task(y, C, weights, np.random.default_rng(0), K=K))
        groups = np.arange(len(y)) // 2
        scores = group_span_scores(K, machine, y, C, weights, groups, trainer.loss)
        for group in np.unique(groups):
            rest = np.flatnonzero(groups != group)
            other = trainer.fit(Task(y[rest], C, weights[rest], np.random.default_rng(0), K=K[np.ix_(rest, rest)]))
            if set(rest[other.support]) == set(machine.support) - set(np.flatnonzero(groups == group)):
                exact += 1
                expected = other.scores(K[np.ix_(groups == group, rest)])
                np.testing.assert_allclose(scores[groups == group], expected, atol=1e-5)
    assert exact >= 8


def test_it_is_nearer_to_retraining_than_scores_of_the_training_set():
    K, y, C, weights, machine = problem(n_each=60, spread=1.5)
    groups = np.arange(len(y)) // 4
    expected, _ = retrained(K, y, C, groups)
    found = group_span_scores(K, machine, y, C, weights, groups)
    assert np.abs(found - expected).mean() < 0.5 * np.abs(machine.scores(K) - expected).mean()


def test_a_group_without_support_keeps_its_scores():
    K, y, C, weights, machine = problem(spread=0.5)
    groups = np.where(np.isin(np.arange(len(y)), machine.support), 0, 1)
    found = group_span_scores(K, machine, y, C, weights, groups)
    assert np.array_equal(found[groups == 1], machine.scores(K)[groups == 1])


def test_a_group_of_everything_loses_the_diameter():
    K, y, C, weights, machine = problem()
    found = group_span_scores(K, machine, y, C, weights, np.zeros(len(y)))
    assert np.isfinite(found).all()
    assert (y * found <= y * machine.scores(K) + 1e-12).all()

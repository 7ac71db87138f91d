import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.contracts import HoldsOutGroups
from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.least_squares import LeastSquares

TRAINER = LeastSquares()
seeds, factors = st.integers(0, 50), st.sampled_from([0.01, 1.0, 100.0, 1e5])


def overlapping(seed=0, **changes):
    X, labels = blobs(n_each=15, spread=1.5, seed=seed)
    return X, binary_task("gram", X, 1 - 2 * labels, **changes)


def weighted(seed, C=10.0, n_zero=0):
    weights = np.random.default_rng(seed).uniform(0.2, 3, 30)
    weights[np.random.default_rng(seed + 1).permutation(28)[:n_zero]] = 0
    return overlapping(seed, C=C, weights=weights)[1]


def dichotomies(seed, n=30):
    return np.random.default_rng(seed).choice([-1, 1], size=(n, 4))


def retrained_without(task, y, members):
    """Scores of all examples by a machine that never saw the members, by solving the whole system again."""
    kept = np.setdiff1d(np.flatnonzero(task.weights > 0), members)
    border = np.ones((len(kept), 1))
    ridge = np.diag(1 / (task.C * task.weights[kept]))
    system = np.block([[task.K[np.ix_(kept, kept)] + ridge, border], [border.T, np.zeros((1, 1))]])
    *a, b = np.linalg.solve(system, np.append(y[kept], 0))
    return task.K[:, kept] @ a + b


def test_it_keeps_its_contract():
    check_trainer(TRAINER)


def test_it_knows_the_scores_of_held_out_groups():
    assert isinstance(TRAINER, HoldsOutGroups)


@given(seeds, factors, st.sampled_from([0, 5]))
def test_it_solves_the_dense_system(seed, C, n_zero):
    task = weighted(seed, C, n_zero)
    scores = TRAINER.fit(task).scores(task.K)
    np.testing.assert_allclose(scores, retrained_without(task, task.y, []), atol=1e-7)


@given(seeds, factors)
def test_each_coefficient_is_its_residual_times_its_error_factor(seed, C):
    task = weighted(seed, C)
    machine = TRAINER.fit(task)
    residuals = task.y - machine.scores(task.K)
    np.testing.assert_allclose(machine.coefficients / (C * task.weights), residuals, atol=1e-7)
    assert machine.coefficients.sum() == pytest.approx(0, abs=1e-7)


@given(seeds)
def test_many_dichotomies_are_each_fitted_as_if_alone(seed):
    task, Y = weighted(seed), dichotomies(seed)
    many = TRAINER.fit_many(task, Y)
    for k, y in enumerate(Y.T):
        alone = TRAINER.fit_many(task, y)
        np.testing.assert_allclose(many.coefficients[:, k], alone.coefficients, atol=1e-9)
        assert many.intercept[k] == pytest.approx(alone.intercept)


@given(seeds)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 30)
    times[:2] = 1
    X, task = overlapping(seed, weights=times.astype(float))
    repeated = binary_task("gram", np.repeat(X, times, axis=0), np.repeat(task.y, times))
    scores = TRAINER.fit(repeated).scores(task.K[:, np.repeat(np.arange(30), times)])
    np.testing.assert_allclose(TRAINER.fit(task).scores(task.K), scores, atol=1e-8)


@given(seeds, st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0, 6]))
def test_one_factorisation_tells_of_machines_without_a_fold_and_each_group(seed, C, n_zero):
    task, Y = weighted(seed, C, n_zero), dichotomies(seed)
    groups = np.random.default_rng(seed).integers(0, 6, 30)
    groups[28:] = 0, 1
    system, without = TRAINER.factorise(task), groups > 3
    np.testing.assert_array_equal(system.held_out(Y, groups), TRAINER.fit_and_hold_out(task, Y, groups)[1])
    scores = system.held_out(Y, groups, without)
    for k, y in enumerate(Y.T):
        outside = retrained_without(task, y, np.flatnonzero(without))
        np.testing.assert_allclose(scores[without, k], outside[without], atol=1e-6)
        for group in range(4):
            members = groups == group
            expected = retrained_without(task, y, np.flatnonzero(without | members))
            np.testing.assert_allclose(scores[members, k], expected[members], atol=1e-6)


@given(seeds, st.sampled_from([0.01, 1.0, 100.0]), st.integers(2, 8), st.sampled_from([0, 6]))
def test_held_out_scores_are_those_of_retraining_without_each_group(seed, C, n_groups, n_zero):
    task, Y = weighted(seed, C, n_zero), dichotomies(seed)
    groups = np.random.default_rng(seed).integers(0, n_groups, 30)
    groups[28:] = 0, 1  # examples of weight above 0 in two groups at least
    machine, scores = TRAINER.fit_and_hold_out(task, Y, groups)
    np.testing.assert_allclose(machine.coefficients, TRAINER.fit_many(task, Y).coefficients, atol=1e-8)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        for k in range(Y.shape[1]):
            expected = retrained_without(task, Y[:, k], members)
            np.testing.assert_allclose(scores[members, k], expected[members], atol=1e-8)


def test_each_example_may_be_its_own_group():
    task = weighted(0)
    _, scores = TRAINER.fit_and_hold_out(task, task.y[:, None], np.arange(30))
    expected = [retrained_without(task, task.y, [i])[i] for i in range(30)]
    np.testing.assert_allclose(scores[:, 0], expected, atol=1e-8)


def test_groups_may_have_names():
    task = weighted(0)
    named = np.array([f"recording {i // 3}" for i in range(30)])
    np.testing.assert_array_equal(
        TRAINER.fit_and_hold_out(task, task.y[:, None], named)[1],
        TRAINER.fit_and_hold_out(task, task.y[:, None], np.arange(30) // 3)[1],
    )


def test_examples_that_are_all_alike_get_the_weighted_mean_of_their_sides():
    _, task = overlapping(K=np.ones((30, 30)), weights=np.tile([3.0, 1.0], 15))
    np.testing.assert_allclose(TRAINER.fit(task).scores(task.K), 0.5)


def test_an_indefinite_matrix_is_fitted_while_the_ridge_covers_it():
    K = overlapping()[1].K - 0.1 * np.eye(30)
    _, task = overlapping(K=K, C=1.0)
    np.testing.assert_allclose(TRAINER.fit(task).scores(K), retrained_without(task, task.y, []), atol=1e-8)


def refusals():
    X, task = overlapping()
    tanh = overlapping(K=np.tanh(2 * X @ X.T - 1), C=100.0)[1]
    Y, groups = task.y[:, None], np.arange(30)
    not_positive = r"K with its ridge has the eigenvalue -.*must be clearly positive; repair K, or lower C"
    one_group = "one group holds every example, at least 2 groups are needed"
    yield "no_mercer_kernel", lambda: TRAINER.fit(tanh), not_positive
    yield "no_mercer_kernel_held_out", lambda: TRAINER.fit_and_hold_out(tanh, Y, groups), not_positive
    yield "one_group", lambda: TRAINER.fit_and_hold_out(task, Y, np.zeros(30)), one_group
    yield "too_few_groups", lambda: TRAINER.fit_and_hold_out(task, Y, groups[:5]), r"groups has shape \(5,\) for 30"
    yield "too_few_targets", lambda: TRAINER.fit_many(task, Y[:5]), r"Y has shape \(5, 1\) for 30 examples"
    yield "nan_targets", lambda: TRAINER.fit_many(task, Y * np.nan), "Y holds NaN or infinite values"


@pytest.mark.parametrize(("work", "message"), [case[1:] for case in refusals()], ids=[case[0] for case in refusals()])
def test_what_cannot_be_fitted_is_refused(work, message):
    with pytest.raises(ValueError, match=message):
        work()

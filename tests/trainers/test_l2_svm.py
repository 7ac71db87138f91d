import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVC

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.l2_svm import L2SVM

seeds, factors = st.integers(0, 50), st.sampled_from([0.03, 1.0, 100.0, 1e5])


def overlapping(seed=0, spread=1.5, **changes):
    X, labels = blobs(n_each=20, spread=spread, seed=seed)
    return X, binary_task("gram", X, 1 - 2 * labels, **changes)


def weighted(seed, C):
    _, task = overlapping(seed, C=C, weights=np.random.default_rng(seed).uniform(0.2, 3, 40))
    machine = L2SVM().fit(task)
    alpha = np.zeros(40)
    alpha[machine.support] = machine.coefficients * task.y[machine.support]
    return task, alpha, machine.scores(task.K)


def test_it_keeps_its_contract():
    check_trainer(L2SVM())


@given(seeds, factors)
def test_slacks_are_alphas_over_their_error_factors(seed, C):
    task, alpha, f = weighted(seed, C)
    np.testing.assert_allclose(np.maximum(1 - task.y * f, 0), alpha / (C * task.weights), atol=1e-8)
    assert (alpha >= 0).all()
    assert alpha @ task.y == pytest.approx(0, abs=1e-9 * alpha.sum())


@given(seeds, factors)
def test_squared_norm_is_the_sum_of_alphas_and_twice_the_optimum(seed, C):
    task, alpha, f = weighted(seed, C)
    beta = alpha * task.y
    primal = beta @ task.K @ beta / 2 + C / 2 * task.weights @ np.maximum(1 - task.y * f, 0) ** 2
    squared_norm = beta @ (task.K + np.diag(1 / (C * task.weights))) @ beta
    assert squared_norm == pytest.approx(alpha.sum(), rel=1e-8)
    assert 2 * primal == pytest.approx(alpha.sum(), rel=1e-8)


def test_an_outside_solver_finds_nothing_better():
    _, task = overlapping(C=2.0)
    machine = L2SVM().fit(task)
    roots = np.linalg.cholesky(task.K + 1e-12 * np.eye(40))

    def objective(wb):
        slacks = np.maximum(1 - task.y * (roots @ wb[:-1] + wb[-1]), 0)
        gradient = np.append(wb[:-1], 0) - 2.0 * np.column_stack([roots, np.ones(40)]).T @ (task.y * slacks)
        return wb[:-1] @ wb[:-1] / 2 + slacks @ slacks, gradient

    found = minimize(objective, np.zeros(41), jac=True, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(machine.scores(task.K), roots @ found.x[:-1] + found.x[-1], atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_scikit_learn_agrees_on_the_matrix_with_a_ridge(C):
    X, task = overlapping(C=C)
    new, _ = blobs(spread=2.0, seed=1)
    K = np.exp(-((new[:, None] - X) ** 2).sum(axis=2) / 2)
    judge = SVC(kernel="precomputed", C=1e6, tol=1e-10).fit(task.K + np.eye(40) / C, task.y)
    np.testing.assert_allclose(L2SVM().fit(task).scores(K), judge.decision_function(K), atol=1e-5)


@given(seeds)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 40)
    times[:2] = 1
    X, task = overlapping(seed, weights=times.astype(float))
    repeated = binary_task("gram", np.repeat(X, times, axis=0), np.repeat(task.y, times))
    scores = L2SVM().fit(repeated).scores(task.K[:, np.repeat(np.arange(40), times)])
    np.testing.assert_allclose(L2SVM().fit(task).scores(task.K), scores, atol=1e-8)


@given(seeds)
def test_an_example_outside_the_margin_can_be_deleted(seed):
    X, task = overlapping(seed, spread=0.8)
    machine = L2SVM().fit(task)
    kept = np.delete(np.arange(40), np.setdiff1d(np.arange(40), machine.support)[:5])
    fewer = L2SVM().fit(binary_task("gram", X[kept], task.y[kept]))
    np.testing.assert_allclose(fewer.scores(task.K[:, kept]), machine.scores(task.K), atol=1e-8)


def test_examples_that_are_all_alike_get_the_weighted_mean_of_their_sides():
    _, task = overlapping(K=np.ones((40, 40)), weights=np.tile([3.0, 1.0], 20))
    np.testing.assert_allclose(L2SVM().fit(task).scores(task.K), 0.5)


def test_a_slightly_indefinite_matrix_is_fitted_while_the_ridge_covers_it():
    indefinite = overlapping()[1].K - 0.1 * np.eye(40)
    _, task = overlapping(C=1.0, K=indefinite)
    assert np.isfinite(L2SVM().fit(task).scores(indefinite)).all()


def test_a_matrix_that_is_no_mercer_kernel_is_refused():
    X, _ = overlapping()
    _, task = overlapping(K=np.tanh(2 * X @ X.T - 1), C=100.0)
    with pytest.raises(
        ValueError, match=r"K with its ridge has the eigenvalue -.*must be clearly positive; repair K, or lower C"
    ):
        L2SVM().fit(task)


def test_steps_that_end_at_no_optimum_are_refused():
    X, _ = overlapping(seed=4)
    _, task = overlapping(seed=4, K=np.tanh(2 * X @ X.T - 1), C=0.1)
    with pytest.raises(ValueError, match="end at no optimum, K is not positive semi-definite; repair K or lower C"):
        L2SVM().fit(task)

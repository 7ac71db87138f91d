import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers import libsvm
from audioclass.trainers.svm import SVM

EXACT = SVM(tolerance=1e-10)
seeds, factors = st.integers(0, 50), st.sampled_from([0.03, 0.3, 1.0, 10.0])


def overlapping(seed=0, spread=1.5, n_each=20, **changes):
    X, labels = blobs(n_each=n_each, spread=spread, seed=seed)
    return X, binary_task("gram", X, 1 - 2 * labels, **changes)


def alphas(machine, task):
    alpha = np.zeros(len(task.y))
    alpha[machine.support] = machine.coefficients * task.y[machine.support]
    return alpha


def weighted(seed, C):
    _, task = overlapping(seed, C=C, weights=np.random.default_rng(seed).uniform(0.2, 3, 40))
    machine = EXACT.fit(task)
    return task, alphas(machine, task), machine.scores(task.K)


@pytest.mark.parametrize("trainer", [SVM(), SVM(tolerance=1e-6)])
def test_it_keeps_its_contract(trainer):
    check_trainer(trainer)


@given(seeds, factors)
def test_primal_equals_dual(seed, C):
    task, alpha, f = weighted(seed, C)
    norm = (alpha * task.y) @ task.K @ (alpha * task.y)
    primal = norm / 2 + C * task.weights @ np.maximum(1 - task.y * f, 0)
    assert primal == pytest.approx(alpha.sum() - norm / 2, rel=1e-5)


@given(seeds, factors)
def test_alphas_lie_in_their_box_and_balance(seed, C):
    task, alpha, _ = weighted(seed, C)
    assert ((alpha >= 0) & (alpha <= C * task.weights * (1 + 1e-12))).all()
    assert alpha @ task.y == pytest.approx(0, abs=1e-9 * alpha.sum())


@given(seeds, factors)
def test_margins_are_those_that_each_alpha_says(seed, C):
    task, alpha, f = weighted(seed, C)
    margins, box = task.y * f, C * task.weights
    free = (alpha > 0) & (alpha < box * (1 - 1e-12))
    assert (margins[alpha == 0] >= 1 - 1e-5).all()
    np.testing.assert_allclose(margins[free], 1, atol=1e-5)
    assert (margins[alpha >= box * (1 - 1e-12)] <= 1 + 1e-5).all()


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("trainer", "closeness"), [(SVM(), 1e-3), (SVM(tolerance=1e-8), 1e-6)])
def test_scikit_learn_agrees(C, trainer, closeness):
    X, task = overlapping(C=C)
    new, _ = blobs(spread=2.0, seed=1)
    judge = SVC(C=C, gamma=1 / 2, tol=1e-10).fit(X, task.y)  # sigma = 1 in two dimensions
    K = np.exp(-((new[:, None] - X) ** 2).sum(axis=2) / 2)
    np.testing.assert_allclose(trainer.fit(task).scores(K), judge.decision_function(new), atol=closeness)


def test_scikit_learn_agrees_on_weights():
    weights = np.random.default_rng(0).uniform(0, 3, 40)
    X, task = overlapping(weights=weights)
    judge = SVC(C=task.C, gamma=1 / 2, tol=1e-10).fit(X, task.y, sample_weight=weights)
    np.testing.assert_allclose(EXACT.fit(task).scores(task.K), judge.decision_function(X), atol=1e-5)


@given(seeds)
@settings(max_examples=20)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 40)
    times[:2] = 1
    X, task = overlapping(seed, weights=times.astype(float), C=1.0)
    repeated = binary_task("gram", np.repeat(X, times, axis=0), np.repeat(task.y, times), C=1.0)
    rows = np.repeat(np.arange(40), times)
    scores = EXACT.fit(repeated).scores(task.K[:, rows])
    np.testing.assert_allclose(EXACT.fit(task).scores(task.K), scores, atol=1e-5)


@given(seeds)
@settings(max_examples=20)
def test_an_example_that_supports_nothing_can_be_deleted(seed):
    X, task = overlapping(seed, spread=1.0)
    machine = EXACT.fit(task)
    assert (np.abs(machine.coefficients) < task.C).any()  # some vector is free
    kept = np.delete(np.arange(40), np.setdiff1d(np.arange(40), machine.support)[:5])
    fewer = EXACT.fit(binary_task("gram", X[kept], task.y[kept]))
    np.testing.assert_allclose(fewer.scores(task.K[:, kept]), machine.scores(task.K), atol=1e-5)


@pytest.mark.parametrize("n_minority", [3, 10, 20])
def test_a_small_error_factor_puts_every_minority_example_at_its_bound(n_minority):
    X, labels = blobs(n_each=20, spread=1.5)
    kept = np.sort(np.concatenate([np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)[:n_minority]]))
    task = binary_task("gram", X[kept], 1 - 2 * labels[kept], C=1e-4)
    machine = EXACT.fit(task)
    np.testing.assert_allclose(alphas(machine, task)[task.y < 0], 1e-4)
    assert len(machine.support) >= 2 * n_minority


def test_where_no_vector_is_free_the_bias_is_the_middle_of_its_interval():
    K = np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]])
    task = binary_task("gram", np.zeros((3, 1)), np.array([1, -1, -1]), K=K, C=0.1, weights=np.array([2.0, 1.0, 1.0]))
    machine = EXACT.fit(task)
    np.testing.assert_allclose(machine.coefficients, [0.2, -0.1, -0.1])
    e = task.y - K @ [0.2, -0.1, -0.1]
    assert machine.intercept == pytest.approx((e[0] + max(e[1], e[2])) / 2)


def test_a_strong_majority_decides_for_all_at_a_small_error_factor():
    X, _ = blobs(n_each=20, spread=1.5)
    task = binary_task("gram", X, np.append(np.ones(39, int), -1), C=1e-6)
    np.testing.assert_allclose(EXACT.fit(task).scores(task.K), 1, atol=1e-4)


def test_examples_that_are_all_alike_get_one_score():
    _, task = overlapping(K=np.ones((40, 40)))
    assert np.ptp(SVM().fit(task).scores(task.K)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_matrix_that_is_no_mercer_kernel_ends_with_finite_scores(seed):
    X, labels = blobs(n_each=40, spread=1.5, seed=seed)
    task = binary_task("gram", X, 1 - 2 * labels, K=np.tanh(2 * X @ X.T - 1), C=100.0)
    machine = SVM().fit(task)
    assert np.isfinite(machine.scores(task.K)).all()
    assert machine.coefficients.sum() == pytest.approx(0, abs=1e-6)


def test_running_out_of_steps_warns(monkeypatch):
    monkeypatch.setattr(libsvm, "STEPS", (5, 5))
    with pytest.warns(RuntimeWarning, match="SVC stopped after 5 steps without reaching tolerance 1e-10; lower C"):
        EXACT.fit(overlapping()[1])


def test_tolerance_must_be_positive():
    with pytest.raises(ValueError, match=r"svm: tolerance=0\.0 must be above 0"):
        SVM(tolerance=0)


def test_a_vector_beside_its_bound_by_rounding_does_not_set_the_bias(monkeypatch):
    x, y = np.array([0.0, 1.0, 4.0, 5.0, 10.0]), np.array([-1, -1, 1, 1, 1])
    beta = 0.01 * np.array([-1.0, -1.0, 1.0, 1.0, 1e-16])
    monkeypatch.setattr("audioclass.trainers.svm.dual_solution", lambda *arguments, **parameters: beta)
    machine = SVM().fit(binary_task("gram", x[:, None], y, C=0.01, K=np.outer(x, x)))
    assert machine.intercept == pytest.approx((0.2 + 0.6) / 2)  # w = 0.08: from 1 − 10w, at α = 0, to 1 − 5w, at C

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVR as Reference

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.svr import SVR, fit_epsilon_svr

X = np.random.default_rng(0).uniform(-2, 2, (40, 2))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
WAVE = np.sin(2 * X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=40)
ONES = np.ones(40)
EXACT = 1e-10

factors, tubes, seeds = st.sampled_from([0.1, 1.0, 10.0]), st.sampled_from([0.01, 0.1, 0.5]), st.integers(0, 50)


def noisy(seed, C, epsilon):
    rng = np.random.default_rng(seed)
    targets, weights = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=40), rng.uniform(0.2, 3, 40)
    machine = fit_epsilon_svr(K, targets, C, weights, epsilon, EXACT)
    delta = np.zeros(40)
    delta[machine.support] = machine.coefficients
    return targets, C * weights, delta, machine.scores(K)


@pytest.mark.parametrize("trainer", [SVR(), SVR(epsilon=0.5, tolerance=1e-6), SVR(epsilon=0.0)])
def test_it_keeps_its_contract(trainer):
    check_trainer(trainer)


@given(seeds, factors, tubes)
def test_primal_equals_dual(seed, C, epsilon):
    targets, box, delta, f = noisy(seed, C, epsilon)
    primal = delta @ K @ delta / 2 + box @ np.maximum(np.abs(f - targets) - epsilon, 0)
    dual = -delta @ K @ delta / 2 - epsilon * np.abs(delta).sum() + targets @ delta
    assert primal == pytest.approx(dual, rel=1e-5)


@given(seeds, factors, tubes)
def test_coefficients_balance_and_stay_in_their_box(seed, C, epsilon):
    _, box, delta, _ = noisy(seed, C, epsilon)
    assert delta.sum() == pytest.approx(0, abs=1e-9 * np.abs(delta).sum())
    assert (np.abs(delta) <= box * (1 + 1e-12)).all()


@given(seeds, factors, tubes)
def test_each_example_pulls_from_its_own_side_of_the_tube_only(seed, C, epsilon):
    targets, box, delta, f = noisy(seed, C, epsilon)
    errors = targets - f
    assert (delta[np.abs(errors) < epsilon - 1e-5] == 0).all()
    assert (delta[errors > 0] >= 0).all()  # α⁺ and α⁻ are never both above 0
    assert (delta[errors < 0] <= 0).all()
    free = (delta != 0) & (np.abs(delta) < box * (1 - 1e-12))
    np.testing.assert_allclose(np.abs(errors[free]), epsilon, atol=1e-5)


@given(st.floats(-5, 5))
def test_shifted_targets_shift_the_scores(c):
    shifted, plain = (fit_epsilon_svr(K, WAVE + by, 1.0, ONES, 0.1, EXACT).scores(K) for by in (c, 0.0))
    np.testing.assert_allclose(shifted, plain + c, atol=1e-5)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("tolerance", "closeness"), [(1e-3, 1e-3), (1e-8, 1e-6)])
def test_scikit_learn_agrees(C, tolerance, closeness):
    judge = Reference(C=C, gamma=1 / 2, epsilon=0.1, tol=1e-10).fit(X, WAVE)
    machine = fit_epsilon_svr(K, WAVE, C, ONES, 0.1, tolerance)
    np.testing.assert_allclose(machine.scores(K), judge.predict(X), atol=closeness)


@given(seeds)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    repeated = fit_epsilon_svr(K[np.ix_(rows, rows)], WAVE[rows], 1.0, np.ones(len(rows)), 0.1, EXACT)
    machine = fit_epsilon_svr(K, WAVE, 1.0, times, 0.1, EXACT)
    np.testing.assert_allclose(machine.scores(K), repeated.scores(K[:, rows]), atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_targets_within_one_tube_give_their_mid_range_and_no_support(epsilon):
    machine = fit_epsilon_svr(K, np.linspace(3, 4, 40), 1.0, ONES, epsilon)
    assert machine.support.size == 0
    np.testing.assert_allclose(machine.scores(K), 3.5)


def test_where_no_vector_is_free_the_bias_is_the_middle_of_its_interval():
    machine = fit_epsilon_svr(np.eye(3), np.array([0.0, 5.0, 2.0]), 0.1, np.ones(3), 0.1, EXACT)
    np.testing.assert_allclose(machine.coefficients, [-0.1, 0.1])
    # e = y − Kδ = (0.1, 4.9, 2): the ends say 0.2 ≤ b ≤ 4.8, the point between them 1.9 ≤ b ≤ 2.1
    assert machine.intercept == pytest.approx(2.0)


def test_the_binary_trainer_is_the_regression_on_plus_and_minus_one():
    points, labels = blobs(spread=1.5)
    task = binary_task("gram", points, 1 - 2 * labels)
    expected = fit_epsilon_svr(task.K, task.y, task.C, task.weights, 0.1)
    np.testing.assert_array_equal(SVR().fit(task).scores(task.K), expected.scores(task.K))


def test_examples_that_are_all_alike_get_one_score():
    points, labels = blobs(spread=1.5)
    task = binary_task("gram", points, 1 - 2 * labels, K=np.ones((30, 30)))
    assert np.ptp(SVR().fit(task).scores(task.K)) == pytest.approx(0, abs=1e-9)


def test_a_matrix_that_is_no_mercer_kernel_ends_with_finite_scores():
    machine = fit_epsilon_svr(np.tanh(2 * X @ X.T - 1), WAVE, 100.0, ONES, 0.1)
    assert np.isfinite(machine.coefficients).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": np.eye(3)}, r"K has shape \(3, 3\) and weights \(40,\) for 40 targets"),
        ({"targets": np.full(40, np.nan)}, "targets holds NaN or infinite values"),
        ({"weights": np.zeros(40)}, "weights must be at least 0 and not all 0"),
        ({"C": 0.0}, "C=0.0 must be positive"),
        ({"epsilon": -1.0}, "epsilon=-1.0 at least 0"),
    ],
)
def test_wrong_regressions_are_refused(changes, message):
    given = {"K": K, "targets": WAVE, "C": 1.0, "weights": ONES, "epsilon": 0.1} | changes
    with pytest.raises(ValueError, match=message):
        fit_epsilon_svr(**given)


def test_a_tube_as_wide_as_both_sides_is_refused():
    with pytest.raises(ValueError, match=r"svr: epsilon=1\.0 must be at least 0 and below 1"):
        SVR(epsilon=1.0)


def test_a_vector_beside_the_tube_by_rounding_does_not_set_the_bias(monkeypatch):
    x, y = np.array([0.0, 1.0, 4.0, 5.0, 10.0]), np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    delta = 0.01 * np.array([-1.0, -1.0, 1.0, 1.0, 1e-16])
    monkeypatch.setattr("audioclass.trainers.svr.dual_solution", lambda *arguments, **parameters: delta)
    machine = fit_epsilon_svr(np.outer(x, x), y, 0.01, np.ones(5), 0.1)
    assert machine.intercept == pytest.approx(0.2)  # w = 0.08: x = 10 is in the tube, so b is within 0.1 of 1 − 10w

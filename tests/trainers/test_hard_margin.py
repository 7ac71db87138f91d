import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.svm import SVM

seeds = st.integers(0, 50)


def separable(seed=0, spread=0.8, **changes):
    X, labels = blobs(n_each=20, spread=spread, seed=seed)
    return X, binary_task("gram", X, 1 - 2 * labels, **changes)


def test_it_keeps_its_contract():
    check_trainer(HardMargin())


@given(seeds)
def test_squared_norm_is_the_sum_of_alphas(seed):
    _, task = separable(seed)
    machine = HardMargin().fit(task)
    alpha = machine.coefficients * task.y[machine.support]
    squared_norm = machine.coefficients @ task.K[np.ix_(machine.support, machine.support)] @ machine.coefficients
    assert squared_norm == pytest.approx(alpha.sum(), rel=1e-5)
    assert (alpha > 0).all()
    assert machine.coefficients.sum() == pytest.approx(0, abs=1e-9 * alpha.sum())


@given(seeds)
def test_support_vectors_lie_on_the_margin_and_no_example_within(seed):
    _, task = separable(seed)
    machine = HardMargin().fit(task)
    margins = task.y * machine.scores(task.K)
    np.testing.assert_allclose(margins[machine.support], 1, atol=1e-6)
    assert margins.min() >= 1 - 1e-6


@given(seeds)
def test_an_example_that_supports_nothing_can_be_deleted(seed):
    X, task = separable(seed)
    machine = HardMargin().fit(task)
    kept = np.delete(np.arange(40), np.setdiff1d(np.arange(40), machine.support)[:5])
    fewer = HardMargin().fit(binary_task("gram", X[kept], task.y[kept]))
    np.testing.assert_allclose(fewer.scores(task.K[:, kept]), machine.scores(task.K), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_soft_margin_at_a_large_error_factor(seed):
    _, task = separable(seed, C=1e5)
    soft = SVM(tolerance=1e-8).fit(task)
    np.testing.assert_allclose(HardMargin().fit(task).scores(task.K), soft.scores(task.K), atol=1e-4)


def test_two_points_are_told_apart_by_the_line_halfway():
    x = np.array([[0.0], [4.0]])
    machine = HardMargin().fit(binary_task("gram", x, np.array([-1, 1]), K=x @ x.T))
    np.testing.assert_allclose(machine.scores(np.array([[0.0, 8.0], [0.0, 16.0]])), [0, 1], atol=1e-6)


def test_a_margin_of_a_ten_thousandth_of_the_spread_is_found():
    x = np.array([[-1.0], [-1e-4], [1e-4], [1.0]])
    machine = HardMargin().fit(binary_task("gram", x, np.array([-1, -1, 1, 1]), K=x @ x.T))
    np.testing.assert_allclose(machine.scores(x @ x.T), [-1e4, -1, 1, 1e4], rtol=1e-5)


@pytest.mark.parametrize("changes", [{"C": 1e-3}, {"weights": np.linspace(0.1, 5, 40)}], ids=["C", "weights"])
def test_neither_the_error_factor_nor_weights_matter(changes):
    _, task = separable()
    _, changed = separable(**changes)
    np.testing.assert_array_equal(HardMargin().fit(task).scores(task.K), HardMargin().fit(changed).scores(task.K))


@given(seeds)
def test_repetition_changes_nothing(seed):
    times = np.random.default_rng(seed).integers(1, 4, 40)
    X, task = separable(seed)
    repeated = binary_task("gram", np.repeat(X, times, axis=0), np.repeat(task.y, times))
    scores = HardMargin().fit(repeated).scores(task.K[:, np.repeat(np.arange(40), times)])
    np.testing.assert_allclose(HardMargin().fit(task).scores(task.K), scores, atol=1e-4)


def inseparable():
    X, task = separable(spread=2.0)
    yield "linear", X @ X.T, task.y
    yield "all_alike", np.ones((40, 40)), task.y
    yield "one_point_on_both_sides", np.exp(-((X[:, None] // 2 - X // 2) ** 2).sum(axis=2)), task.y


@pytest.mark.parametrize(("K", "y"), [case[1:] for case in inseparable()], ids=[case[0] for case in inseparable()])
def test_sides_that_cannot_be_told_apart_are_refused(K, y):
    with pytest.raises(
        ValueError, match="no margin separates y = \\+1 from y = -1 with this kernel; use a soft margin"
    ):
        HardMargin().fit(binary_task("gram", np.zeros((40, 1)), y, K=K))


def test_many_inseparable_examples_are_refused_soon():
    X, labels = blobs(n_each=300, spread=2.0)
    with pytest.raises(ValueError, match="no margin separates"):
        HardMargin().fit(binary_task("gram", X, 1 - 2 * labels, K=X @ X.T))


def test_a_matrix_that_is_no_mercer_kernel_is_refused():
    X, task = separable(spread=1.5)
    with pytest.raises(ValueError, match="repair K|no margin separates"):
        HardMargin().fit(binary_task("gram", X, task.y, K=np.tanh(2 * X @ X.T - 1)))

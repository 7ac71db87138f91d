import numpy as np
import pytest
from audioclass_msvm.bound import PROBLEM_4, problem_3, radius_margin_bound
from audioclass_msvm.quadratic import Quadratic
from audioclass_msvm.solver import Problem, solve
from sklearn.svm import SVC

from audioclass.criteria.radius import smallest_ball


def whole_program(alpha, y, i, k, caps):
    """Problem 3 or 4 as it is printed: an unknown for every example but i and every label, without aggregation."""
    n_labels = alpha.shape[1]
    given = alpha[i] / alpha[i, k] if caps is not None else np.eye(n_labels)[k]
    some = np.arange(n_labels) != y[:, None] if caps is None else caps > 0
    j, label = np.nonzero(some & (np.arange(len(y)) != i)[:, None])
    upper = np.full(len(j), np.inf) if caps is None else caps[j, label] / alpha[i, k] * (1 + 1e-7) + 1e-7
    labels = np.eye(n_labels)
    arriving, leaving = labels[label].T, labels[y[j]].T
    surplus = labels[y[i]] * given.sum() - given
    program = Quadratic(
        2 * arriving.T @ arriving, 2 * arriving.T @ given, (leaving - arriving)[:-1], -surplus[:-1], upper
    )
    return program.value(program.minimum()) + given @ given


def leave_one_out(problem):
    """Label given to each example by the machine that never saw it."""
    found = []
    for i in range(len(problem.y)):
        rest = np.delete(np.arange(len(problem.y)), i)
        part = Problem(problem.K[np.ix_(rest, rest)], problem.y[rest], problem.C[rest], "sum", True)
        solution = solve(part, 1e-4)
        found.append(int((problem.K[i, rest] @ solution.beta + solution.bias).argmax()))
    return np.array(found)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_not_below_the_leave_one_out_count(separable_problem, seed):
    problem = separable_problem(seed)
    solution = solve(problem, 1e-8)
    bound = radius_margin_bound(problem, solution)
    labels = leave_one_out(problem)
    wrong = np.flatnonzero(labels != problem.y)
    assert len(wrong) <= bound.value
    least = 1 / (bound.constant * bound.squared_diameter)
    assert (solution.alpha[wrong, labels[wrong]] >= least * (1 - 1e-6)).all()  # the lemma behind it


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_constant_times_the_diameter_times_the_norm(separable_problem, seed):
    problem = separable_problem(seed)
    solution = solve(problem, 1e-9)
    bound = radius_margin_bound(problem, solution)
    size = bound.constant * bound.squared_diameter
    assert bound.value == pytest.approx(size * solution.norm, rel=1e-9)
    assert bound.value == pytest.approx(size * solution.alpha.sum(), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_two_labels_give_vapniks_bound(separable_problem, seed):
    problem = separable_problem(seed, n_labels=2)
    bound = radius_margin_bound(problem, solve(problem, 1e-9))
    binary = SVC(kernel="precomputed", C=1e8, tol=1e-7, max_iter=10**6).fit(problem.K, problem.y == 0)
    support = binary.support_
    norm = binary.dual_coef_[0] @ problem.K[np.ix_(support, support)] @ binary.dual_coef_[0]
    diameter = 4 * smallest_ball(problem.K[np.ix_(support, support)]).squared_radius
    assert bound.constant == pytest.approx(2)
    assert bound.value == pytest.approx(diameter * norm, rel=1e-3)
    assert bound.margins[0, 1] == pytest.approx(1 / np.sqrt(norm), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_flows_between_labels_solve_problem_3_as_it_is_printed(separable_problem, seed):
    problem = separable_problem(seed)
    alpha = solve(problem, 1e-9).alpha
    asked = alpha > 0.02 * alpha.max()
    values = problem_3(alpha, problem.y, asked)
    closed = alpha.sum(axis=1, keepdims=True) ** 2 + (alpha**2).sum(axis=1, keepdims=True)
    assert (values[asked] >= (closed / np.where(asked, alpha, 1) ** 2)[asked] * (1 - 1e-9)).all()
    for i, k in list(zip(*np.nonzero(asked), strict=True))[:4]:
        assert values[i, k] == pytest.approx(whole_program(alpha, problem.y, i, k, alpha), rel=1e-5)


def test_caps_make_problem_3_larger_by_hand():
    # one example a label; 0 gives 1 to label 1, which can only pass it on to 2 and from there back to 0
    alpha = np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    assert problem_3(alpha, np.arange(3), alpha > 0)[0, 1] == pytest.approx(3, rel=1e-6)
    # with a way straight back, opened by a second example of label 0, it is a² + Σ a_l² = 2
    alpha = np.array([[0, 1.0, 0], [1.0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]])
    assert problem_3(alpha, np.array([0, 1, 2, 0]), alpha > 0)[0, 1] == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_problem_4_is_two_for_any_labels(n_labels):
    y = np.tile(np.arange(n_labels), 2)
    alpha = (np.arange(n_labels) != y[:, None]).astype(float)
    assert whole_program(alpha, y, 0, 1, None) == pytest.approx(PROBLEM_4, abs=1e-6)


def test_a_multiple_of_the_kernel_has_the_same_bound(separable_problem):
    problem = separable_problem(3)
    larger = Problem(7 * problem.K, problem.y, problem.C, "sum", True)
    bound, same = (radius_margin_bound(p, solve(p, 1e-10)) for p in (problem, larger))
    assert same.value == pytest.approx(bound.value, rel=1e-4)
    assert same.squared_diameter == pytest.approx(7 * bound.squared_diameter, rel=1e-6)


def test_a_soft_machine_without_errors_is_no_ground_for_it():
    # four orthonormal points, two a label: no training error, yet all four are lost when left out
    problem = Problem(np.eye(4), np.array([0, 0, 1, 1]), np.full(4, 0.01), "sum", True)
    solution = solve(problem, 1e-6)
    assert (solution.scores.argmax(axis=1) == problem.y).all()
    with pytest.raises(ValueError, match="4 examples have a coefficient at C"):
        radius_margin_bound(problem, solution)


def test_slacks_are_refused(separable_problem):
    problem = separable_problem(0)
    with pytest.raises(ValueError, match=r"least margin .* must be 1"):
        radius_margin_bound(problem, solve(problem, 0.1))


def test_a_wide_soft_box_gives_the_bound_too(separable_problem):
    problem = separable_problem(1, n_labels=3)
    soft = Problem(problem.K, problem.y, np.full(len(problem.y), 1e5), "sum", True)
    values = [radius_margin_bound(p, solve(p, 1e-9)).value for p in (problem, soft)]
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_an_error_need_not_go_to_the_label_of_the_largest_alpha():
    # the counter-example of the specification (E002-4): pairs (i, k) may not be skipped
    X = np.array([
        (0.5533, 0.2176), (1.1420, -2.3189), (0.4315, -0.9263), (0.9099, 0.6060), (2.0301, 0.8277),
        (0.2985, 0.6650), (-0.3071, 1.5081), (0.6178, -0.2281), (-0.7245, 0.6828),
    ])  # fmt: skip
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * 0.8**2))
    problem = Problem(K, np.arange(9) % 3, np.full(9, np.inf), "sum", True)
    np.testing.assert_allclose(solve(problem, 1e-9).alpha[0], [0, 6.23, 7.45], atol=0.01)
    assert leave_one_out(problem)[0] == 1

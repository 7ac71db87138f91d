import numpy as np
import pytest
from audioclass_msvm.quadratic import Quadratic
from audioclass_msvm.solver import Problem, solve
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, LinearSVC

SLACKS = ("sum", "largest")
seeds = st.integers(0, 10**6)


def check_optimality(problem, solution, tolerance):
    """Every condition of an optimum, none of them taken from the solver."""
    alpha, beta, C = solution.alpha, solution.beta, problem.C[:, None]
    own = np.eye(problem.n_labels, dtype=bool)[problem.y]
    assert (alpha >= 0).all()
    used = alpha if problem.slack == "sum" else alpha.sum(axis=1, keepdims=True)
    assert (used <= C * (1 + 1e-9)).all()
    np.testing.assert_allclose(beta, own * alpha.sum(axis=1, keepdims=True) - alpha, atol=1e-12 * np.abs(beta).max())
    if problem.has_bias:
        np.testing.assert_allclose(beta.sum(axis=0), 0, atol=1e-10 * np.abs(beta).sum())
    assert solution.bias.sum() == pytest.approx(0, abs=1e-9 * (1 + np.abs(solution.bias).max()))
    scores = problem.K @ beta + solution.bias
    margins = np.where(own, np.inf, (scores * own).sum(axis=1, keepdims=True) - scores)
    lacks = np.maximum(1 - margins, 0)
    slacks = lacks.sum(axis=1) if problem.slack == "sum" else lacks.max(axis=1)
    norm = np.einsum("ik,ij,jk", beta, problem.K, beta)
    primal, dual = 0.5 * norm + problem.C @ slacks, alpha.sum() - 0.5 * norm
    assert solution.primal == pytest.approx(primal, rel=1e-6)
    assert solution.dual == pytest.approx(dual, rel=1e-6)
    assert -1e-9 <= (primal - dual) / primal <= tolerance


@settings(max_examples=25)
@given(seeds, st.sampled_from(SLACKS), st.booleans(), st.sampled_from([0.1, 1.0, 10.0]))
def test_primal_equals_dual(random_problem, seed, slack, bias, C):
    problem = random_problem(seed, C, slack, bias=bias)
    check_optimality(problem, solve(problem, 1e-3), 1e-3)


@settings(max_examples=40)
@given(seeds, st.sampled_from(SLACKS), st.sampled_from([1e-4, 1e-3, 3e-3, 1e-2]))
def test_a_bias_is_found_where_c_is_very_small(random_problem, seed, slack, C):
    problem = random_problem(seed, C, slack)
    check_optimality(problem, solve(problem, 1e-3), 1e-3)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("slack", SLACKS)
def test_a_tight_gap_is_reached(random_problem, slack, bias):
    problem = random_problem(3, 2.0, slack, bias=bias)
    check_optimality(problem, solve(problem, 1e-9), 1e-9)


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("seed", range(4))
def test_a_dense_program_over_all_alpha_agrees(random_problem, seed, slack):
    problem = random_problem(seed, 0.7, slack, n_labels=3)
    i, k = np.nonzero(np.arange(3) != problem.y[:, None])
    effect = np.eye(3)[problem.y[i]] - np.eye(3)[k]  # of α_ik on the row of β
    H = problem.K[np.ix_(i, i)] * (effect @ effect.T)
    balance, upper = effect.T[:2], np.full(len(i), 0.7)
    used = (i == np.arange(len(problem.y))[:, None]).astype(float)
    if slack == "largest":  # Σ_k α_ik + spare_i = C
        n, wide = len(used), len(i) + len(used)
        H = np.pad(H, (0, n))
        A = np.vstack([np.pad(balance, ((0, 0), (0, n))), np.hstack([used, np.eye(n)])])
        g, upper, a = np.repeat([-1.0, 0], [len(i), n]), np.full(wide, np.inf), np.repeat([0, 0.7], [2, n])
    else:
        A, a, g = balance, np.zeros(2), -np.ones(len(i))
    program = Quadratic(H, g, A, a, upper)
    assert solve(problem, 1e-8).dual == pytest.approx(-program.value(program.minimum()), rel=1e-7)


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize(("C", "seed"), [(0.3, 1), (5.0, 7), (50.0, 4)])
def test_two_labels_are_the_binary_machine_with_twice_c(random_problem, slack, C, seed):
    problem = random_problem(seed, C, slack, n_labels=2)
    ours = solve(problem, 1e-9)
    binary = SVC(kernel="precomputed", C=2 * C, tol=1e-5, max_iter=10**6).fit(problem.K, problem.y == 0)
    np.testing.assert_allclose(
        ours.scores[:, 0] - ours.scores[:, 1], binary.decision_function(problem.K), rtol=1e-3, atol=1e-3
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("seed", range(4))
def test_liblinear_has_the_same_crammer_singer_machine(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 5)) + 1.5 * rng.normal(size=(4, 5))[y]
    ours = solve(Problem(X @ X.T, y, np.full(60, 0.5), "largest", False), 1e-8)
    theirs = LinearSVC(multi_class="crammer_singer", C=0.5, fit_intercept=False, tol=1e-9, max_iter=10**5).fit(X, y)
    scores = theirs.decision_function(X)
    np.testing.assert_allclose(ours.scores, scores - scores.mean(axis=1, keepdims=True), atol=1e-3)


@settings(max_examples=15)
@given(seeds, st.booleans())
def test_the_largest_slack_costs_no_more_than_their_sum(random_problem, seed, bias):
    of_sum, largest = (solve(random_problem(seed, 1.0, slack, bias=bias), 1e-4) for slack in SLACKS)
    assert largest.dual <= of_sum.primal


@settings(max_examples=15)
@given(seeds, st.sampled_from(SLACKS))
def test_weights_sum_to_zero_and_differences_are_q_times_the_norm(random_problem, seed, slack):
    problem = random_problem(seed, 1.0, slack)
    beta = solve(problem).beta
    np.testing.assert_allclose(beta.sum(axis=1), 0, atol=1e-12 * np.abs(beta).max())
    G = beta.T @ problem.K @ beta
    squared = G.diagonal()[:, None] + G.diagonal() - 2 * G
    assert np.triu(squared).sum() == pytest.approx(problem.n_labels * np.trace(G), rel=1e-9)


def test_a_margin_of_two_doubles_the_scores_of_half_c(random_problem):
    # min ½Σ‖w_k‖² + CΣξ with f_y − f_k ≥ 2 − ξ, put as u = w/2, ζ = ξ/2: 4 (½Σ‖u_k‖² + (C/2) Σζ)
    problem = random_problem(5, 0.5)
    ours = solve(problem, 1e-10)
    doubled = 2 * ours.scores
    lacks = np.maximum(2 - problem.margins(doubled), 0)
    assert 0.5 * 4 * ours.norm + 1.0 * lacks.sum() == pytest.approx(4 * ours.primal)


@pytest.mark.parametrize("slack", SLACKS)
def test_the_order_of_examples_does_not_matter(random_problem, slack):
    problem = random_problem(8, 2.0, slack)
    order = np.random.default_rng(0).permutation(len(problem.y))
    shuffled = Problem(problem.K[np.ix_(order, order)], problem.y[order], problem.C, slack, True)
    np.testing.assert_allclose(solve(shuffled, 1e-10).scores, solve(problem, 1e-10).scores[order], atol=1e-3)


def test_more_examples_than_a_block_holds_are_decomposed():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = rng.normal(size=(400, 3)) + rng.normal(size=(4, 3))[y]
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    for slack in SLACKS:
        problem = Problem(K, y, np.full(400, 1.0), slack, True)
        check_optimality(problem, solve(problem), 1e-3)


def test_single_precision_is_enough(random_problem):
    problem = random_problem(8, 1.0)
    single = Problem(problem.K.astype(np.float32), problem.y, problem.C, "sum", True)
    assert solve(single, 1e-4).dual == pytest.approx(solve(problem, 1e-4).dual, rel=1e-3)


def test_examples_that_are_all_alike_have_no_machine_but_a_bias():
    problem = Problem(np.ones((5, 5)), np.array([0, 0, 0, 1, 2]), np.full(5, 1.0), "sum", True)
    solution = solve(problem, 1e-6)
    assert solution.gap <= 1e-6
    np.testing.assert_allclose(solution.scores, np.tile(solution.bias, (5, 1)), atol=1e-9)
    assert solution.bias.argmax() == 0


def test_without_slacks_every_margin_is_one_at_least_and_alpha_sums_to_the_norm(separable_problem):
    for seed in range(6):
        problem = separable_problem(seed)
        solution = solve(problem, 1e-8)
        assert problem.margins(solution.scores).min() == pytest.approx(1, abs=1e-6)
        assert solution.alpha.sum() == pytest.approx(solution.norm, rel=1e-6)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_margin_is_an_error(seed, bias):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    problem = Problem(X @ X.T, y, np.full(30, np.inf), "sum", bias)
    with pytest.raises(ValueError, match="no margin separates the labels with this kernel"):
        solve(problem)


def test_equal_examples_of_two_labels_have_no_margin():
    problem = Problem(np.ones((4, 4)) + np.eye(4)[[0, 0, 2, 3]][:, [0, 0, 2, 3]], np.array([0, 1, 1, 0]),
                      np.full(4, np.inf), "largest", True)  # fmt: skip
    with pytest.raises(ValueError, match="no margin separates"):
        solve(problem)


def test_a_gram_matrix_that_is_not_positive_ends_in_bounded_work(monkeypatch):
    monkeypatch.setattr("audioclass_msvm.solver.VISITS", (2000, 10))
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    solution = solve(Problem(A + A.T, np.arange(20) % 3, np.full(20, 1.0), "sum", True))
    assert np.isfinite(solution.scores).all()

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from audioclass.criteria.spans import span_scores, spans, squared_diameter
from audioclass.problems import Machine


def examples(n=24, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1, -1)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / 2), y


def trained(K, y, C, weights=None):
    svc = SVC(kernel="precomputed", C=C, tol=1e-12).fit(K, y, sample_weight=weights)
    return Machine(svc.support_, svc.dual_coef_[0], float(svc.intercept_[0]))


def multipliers(machine, y, n):
    alpha = np.zeros(n)
    alpha[machine.support] = machine.coefficients * y[machine.support]
    return alpha


def free_of(alpha, C):
    return np.flatnonzero((alpha > 1e-8 * C) & (alpha < C * (1 - 1e-8)))


def left_out(K, y, C, p):
    """The machine without example p, its α over all examples, and its score of p."""
    rest = np.flatnonzero(np.arange(len(y)) != p)
    machine = trained(K[np.ix_(rest, rest)], y[rest], C)
    alpha = np.zeros(len(y))
    alpha[rest] = multipliers(machine, y[rest], len(rest))
    return alpha, machine.scores(K[p : p + 1, rest])[0]


def defined_span(K, p, others, penalty):
    """min ‖Φ(x_p) − Σλ_iΦ(x_i)‖² + Σ penalty_i λ_i² over Σλ = 1, by a general minimiser."""
    G = K[np.ix_(others, others)] + np.diag(penalty)
    found = minimize(
        lambda at: (K[p, p] - 2 * at @ K[others, p] + at @ G @ at, 2 * (G @ at - K[others, p])),
        np.full(len(others), 1 / len(others)),
        jac=True,
        constraints={"type": "eq", "fun": lambda at: at.sum() - 1, "jac": lambda at: np.ones(len(at))},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.fun


@pytest.mark.parametrize("eta", [0.0, 0.1], ids=["plain", "smoothed"])
@pytest.mark.parametrize("C", [0.5, 2.0, 100.0])
def test_closed_forms_are_the_least_squares_they_stand_for(C, eta):
    K, y = examples()
    machine = trained(K, y, C)
    alpha = multipliers(machine, y, len(y))
    free = free_of(alpha, C)
    assert len(free) > 1
    others = [free[free != p] for p in machine.support]
    expected = [defined_span(K, p, part, eta / alpha[part]) for p, part in zip(machine.support, others, strict=True)]
    np.testing.assert_allclose(spans(K, machine, y, C, eta=eta), expected, atol=1e-5)  # the minimiser's own


def unchanged_support(K, y, C):
    """Span score and score left out of each support vector without which the others stay free, bounded or neither."""
    machine = trained(K, y, C)
    alpha, scores = multipliers(machine, y, len(y)), span_scores(K, machine, y, C)
    for p in machine.support:
        without, score = left_out(K, y, C, p)
        states = (np.delete(np.digitize(each, [1e-8 * C, C * (1 - 1e-8)]), p) for each in (alpha, without))
        if np.array_equal(*states) and len(free_of(without, C)):
            yield scores[p], score


@pytest.mark.parametrize("C", [0.5, 5.0, 50.0])
def test_it_is_leave_one_out_where_the_support_does_not_change(C):
    pairs = [pair for seed in range(8) for pair in unchanged_support(*examples(24, seed), C)]
    assert len(pairs) >= 8
    np.testing.assert_allclose(*np.transpose(pairs), rtol=1e-6, atol=1e-6)  # LIBSVM's, at its tightest


def separated(n=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / 2), y


def unchanged_unbounded(K, y, A, loss):
    """The same for machines without a bound on α, by LIBSVM at a large C on A."""
    machine = trained(A, y, 1e6)
    scores = span_scores(K, machine, y, 2.0, loss=loss)
    for p in machine.support:
        without, score = left_out(A, y, 1e6, p)
        if set(np.flatnonzero(without > 1e-6)) == set(machine.support) - {p}:
            yield scores[p], score


@pytest.mark.parametrize("loss", ["squared_hinge", "hard_margin"])
def test_without_a_bound_on_alpha_it_is_leave_one_out_where_the_support_does_not_change(loss):
    pairs = []
    for seed in range(10):
        K, y = separated(seed=seed)
        A = K + np.eye(len(y)) / 2.0 if loss == "squared_hinge" else K
        pairs += unchanged_unbounded(K, y, A, loss)
    assert len(pairs) >= 8
    np.testing.assert_allclose(*np.transpose(pairs), rtol=1e-3, atol=1e-3)


def test_a_loss_without_support_vectors_has_no_span():
    K, y = examples()
    with pytest.raises(ValueError, match="loss 'squared' has no support vectors"):
        span_scores(K, trained(K, y, 1.0), y, 1.0, loss="squared")


def test_non_support_vectors_keep_their_score_which_is_that_of_leave_one_out():
    K, y = examples()
    machine = trained(K, y, 5.0)
    others = np.setdiff1d(np.arange(len(y)), machine.support)
    scores = span_scores(K, machine, y, 5.0)
    np.testing.assert_array_equal(scores[others], machine.scores(K)[others])
    np.testing.assert_allclose(scores[others], [left_out(K, y, 5.0, p)[1] for p in others], atol=1e-6)


def test_scores_move_towards_the_other_side():
    K, y = examples(60)
    machine = trained(K, y, 1.0)
    assert (y * (machine.scores(K) - span_scores(K, machine, y, 1.0)) >= 0).all()


@pytest.mark.parametrize("C", [0.01, 0.5, 5.0, 1000.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_span_is_longer_than_the_diameter_of_the_enclosing_ball(C, seed):
    K, y = examples(seed=seed)
    found = spans(K, trained(K, y, C), y, C)
    inner = K.diagonal() - 2 * K.mean(axis=1) + K.mean()
    assert squared_diameter(K) <= 4 * inner.max()  # R² is at most the largest distance to the centroid
    assert (found >= 0).all()
    assert (found <= squared_diameter(K) + 1e-9).all()


def test_the_sum_of_alpha_times_span_keeps_its_bound():
    K, y = examples(noise=0.0)
    machine = trained(K, y, 1e6)  # separable: a hard margin in all but name
    alpha = multipliers(machine, y, len(y))
    squared_norm = (alpha * y) @ K @ (alpha * y)
    assert alpha[machine.support] @ spans(K, machine, y, 1e6) <= squared_diameter(K) * squared_norm


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_smoothing_vanishes_with_eta(C):
    K, y = examples()
    machine = trained(K, y, C)
    plain = spans(K, machine, y, C)
    distances = [np.abs(spans(K, machine, y, C, eta=eta) - plain).max() for eta in (1e-1, 1e-3, 1e-10)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-6
    assert (spans(K, machine, y, C, eta=0.1) >= plain - 1e-9).all()  # a penalty can only lengthen


def test_spans_are_the_heights_of_a_triangle():
    # Three points of the plane, all free: each lies at its height above the line through the other two.
    X = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 2.0]])
    y = np.array([-1, 1, 1])
    machine = Machine(np.arange(3), y * np.array([0.2, 0.1, 0.1]), 0.0)
    area = 4.0
    sides = np.array([np.hypot(3, 2), np.hypot(1, 2), 4.0])
    np.testing.assert_allclose(spans(X @ X.T, machine, y, 1.0), (2 * area / sides) ** 2)


def test_a_bounded_vector_is_measured_to_the_line_of_the_free_ones():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [9.0, 2.0]])
    y = np.array([-1, 1, -1])
    machine = Machine(np.arange(3), y * np.array([0.2, 0.1, 1.0]), 0.0)
    assert spans(X @ X.T, machine, y, 1.0)[2] == pytest.approx(4)


def test_copies_among_the_free_vectors_have_no_span():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [4.0, 0.0], [1.0, 2.0]])
    y = np.array([-1, -1, 1, 1])
    machine = Machine(np.arange(4), y * 0.1, 0.0)
    # The others lie at their height above the line through the rest of the triangle.
    np.testing.assert_allclose(spans(X @ X.T, machine, y, 1.0), [0, 0, 64 / 5, 4], atol=1e-9)


def test_more_free_vectors_than_dimensions_have_no_span():
    X = np.random.default_rng(0).normal(size=(8, 2))
    y = np.repeat([-1, 1], 4)
    np.testing.assert_allclose(spans(X @ X.T, Machine(np.arange(8), y * 0.1, 0.0), y, 1.0), 0, atol=1e-9)


def test_without_free_vectors_spans_are_the_diameter():
    K, y = examples()
    machine = Machine(np.array([0, 1]), y[[0, 1]] * 1.0, 0.0)
    norms = K.diagonal()
    expected = (norms[:, None] + norms - 2 * K).max()
    np.testing.assert_allclose(spans(K, machine, y, 1.0), expected)


def test_the_only_free_vector_has_the_diameter_and_the_others_their_distance_to_it():
    K, y = examples()
    machine = Machine(np.array([3, 5]), y[[3, 5]] * np.array([0.5, 1.0]), 0.0)
    distance = K[3, 3] + K[5, 5] - 2 * K[3, 5]
    np.testing.assert_allclose(spans(K, machine, y, 1.0), [squared_diameter(K), distance])


def test_the_size_of_the_kernel_does_not_spoil_it():
    K, y = examples()
    machine = trained(K, y, 2.0)
    scaled = Machine(machine.support, machine.coefficients / 1e8, machine.intercept)
    np.testing.assert_allclose(span_scores(1e8 * K, scaled, y, 2e-8), span_scores(K, machine, y, 2.0), atol=1e-9)


def test_weights_set_who_is_bounded():
    K, y = examples()
    weights = np.random.default_rng(1).uniform(0.2, 3, len(y))
    machine = trained(K, y, 1.0, weights)
    alpha = multipliers(machine, y, len(y))
    free = np.flatnonzero((alpha > 1e-8) & (alpha < weights * (1 - 1e-8)))
    p = int(np.flatnonzero(np.isclose(alpha, weights))[0])
    found = spans(K, machine, y, 1.0, weights)[machine.support.tolist().index(p)]
    assert found == pytest.approx(defined_span(K, p, free, np.zeros(len(free))), abs=1e-5)


@pytest.mark.parametrize(
    ("coefficients", "match"),
    [
        (np.array([-0.5, 0.5]), "y times coefficients reach from -0.5 to 0.5, must lie from 0 to C"),
        (np.array([0.5, 2.0]), "must lie from 0 to C"),
        (np.ones((2, 3)), "coefficients have shape \\(2, 3\\), must be those of one dichotomy"),
    ],
)
def test_what_is_no_l1_machine_is_refused(coefficients, match):
    with pytest.raises(ValueError, match=match):
        spans(np.eye(2), Machine(np.arange(2), coefficients, 0.0), np.ones(2), 1.0)


def test_a_negative_eta_is_refused():
    with pytest.raises(ValueError, match="eta=-1 must be at least 0"):
        spans(np.eye(2), Machine(np.arange(2), np.full(2, 0.5), 0.0), np.ones(2), 1.0, eta=-1)

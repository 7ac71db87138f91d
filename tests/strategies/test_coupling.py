import numpy as np
import pytest
import scipy.optimize
from bradley_terry_model import divergence, fixed_point_step
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audioclass.strategies.coupling import (
    COUPLINGS,
    couple_hastie_tibshirani,
    couple_price,
    couple_product,
    couple_star_own,
    couple_stars,
    couple_wu_lin_weng,
    pair_matrix,
    pair_numbers,
    pair_weights,
)

CONSISTENT = sorted(set(COUPLINGS) - {"product"})


def consistent_pairs(P):
    """r_kl = p_k/(p_k + p_l) for k < l in order."""
    k, l = np.triu_indices(P.shape[1], 1)  # noqa: E741
    return P[:, k] / (P[:, k] + P[:, l])


def random_pairs(n_labels, n=20, seed=0):
    """(n, Q(Q−1)/2) pairs that agree with no posteriors."""
    return np.random.default_rng(seed).uniform(0.02, 0.98, (n, n_labels * (n_labels - 1) // 2))


def pair_code(n_labels):
    """(Q, Q(Q−1)/2): +1 for the first of each pair, −1 for the second."""
    k, l = np.triu_indices(n_labels, 1)  # noqa: E741
    return np.eye(n_labels)[:, k] - np.eye(n_labels)[:, l]


posteriors = st.integers(2, 8).flatmap(lambda q: arrays(np.float64, (3, q), elements=st.floats(0.01, 1)))


@pytest.mark.parametrize("name", CONSISTENT)
@given(posteriors)
def test_consistent_pairs_give_back_their_posteriors(name, P):
    P = P / P.sum(axis=1, keepdims=True)
    coupled = COUPLINGS[name](pair_matrix(consistent_pairs(P), P.shape[1]), np.arange(1, P.shape[1] + 1))
    np.testing.assert_allclose(coupled, P, atol=1e-6)


@pytest.mark.parametrize("name", COUPLINGS)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_rows_are_posteriors_for_any_pairs(name, n_labels, seed):
    r = np.random.default_rng(seed).random((5, n_labels * (n_labels - 1) // 2)).round(1)  # exact 0 and 1 among them
    P = COUPLINGS[name](pair_matrix(r, n_labels), np.arange(1, n_labels + 1))
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", COUPLINGS)
def test_sixty_labels_are_coupled(name):
    P = COUPLINGS[name](pair_matrix(random_pairs(60, 4).round(), 60), np.full(60, 7))
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", COUPLINGS)
def test_two_labels_are_their_one_pair(name):
    r = pair_matrix(np.array([[0.3], [0.999]]), 2)
    np.testing.assert_allclose(COUPLINGS[name](r, np.array([3, 9])), [[0.3, 0.7], [0.999, 0.001]], atol=1e-12)


@pytest.mark.parametrize("name", COUPLINGS)
def test_permuting_labels_permutes_posteriors(name):
    order, counts = np.array([3, 0, 4, 1, 2]), np.array([5, 1, 8, 3, 9])
    r = pair_matrix(random_pairs(5), 5)
    moved = COUPLINGS[name](r[:, order][:, :, order], counts[order])
    np.testing.assert_allclose(moved, COUPLINGS[name](r, counts)[:, order], atol=1e-10)


def test_scipy_finds_the_same_minimum_for_wu_lin_weng():
    r = pair_matrix(np.random.default_rng(0).random((1, 6)), 4)[0]

    def objective(p):
        return sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j)

    sums_to_one = {"type": "eq", "fun": lambda p: p.sum() - 1}
    found = scipy.optimize.minimize(objective, np.full(4, 0.25), constraints=[sums_to_one], tol=1e-14)
    np.testing.assert_allclose(couple_wu_lin_weng(r[None])[0], found.x, atol=1e-5)


def test_pairs_stand_in_order():
    r = pair_matrix(np.array([[0.1, 0.2, 0.3]]), 3)[0]
    assert (r[0, 1], r[0, 2], r[1, 2]) == (0.1, 0.2, 0.3)
    assert r[2, 1] == pytest.approx(0.7)
    assert (pair_numbers(3)[0, 1], pair_numbers(3)[0, 2], pair_numbers(3)[1, 2]) == (0, 1, 2)


# --- Hastie and Tibshirani


@given(st.integers(2, 9), st.integers(0, 1000))
def test_the_limit_equations_hold(n_labels, seed):
    r = pair_matrix(random_pairs(n_labels, seed=seed), n_labels)
    weights = pair_weights(np.random.default_rng(seed).integers(1, 50, n_labels))
    np.fill_diagonal(weights, 0)
    P = couple_hastie_tibshirani(r, weights)
    mu = P[:, :, None] / (P[:, :, None] + P[:, None])
    np.testing.assert_allclose((weights * r).sum(axis=2), (weights * mu).sum(axis=2), rtol=1e-8)


@pytest.mark.parametrize("n_labels", [3, 6])
def test_the_fixed_point_iteration_has_the_same_limit(n_labels):
    pairs, counts = random_pairs(n_labels), np.arange(1, n_labels + 1)
    code = pair_code(n_labels)
    P = np.full((len(pairs), n_labels), 1 / n_labels)
    for _ in range(2000):
        P = fixed_point_step(P, pairs, code, counts @ np.abs(code))
    np.testing.assert_allclose(
        couple_hastie_tibshirani(pair_matrix(pairs, n_labels), pair_weights(counts)), P, atol=1e-9
    )


def test_the_fixed_point_iteration_lowers_the_divergence():
    code = np.random.default_rng(3).integers(-1, 2, (5, 12))
    code[0], code[1] = 1, -1
    r, weights = np.random.default_rng(0).uniform(0.01, 0.99, (30, 12)), np.arange(1, 13)
    P = np.random.default_rng(1).dirichlet(np.ones(5), 30)
    for _ in range(50):
        new = fixed_point_step(P, r, code, weights)
        assert (divergence(new, r, code, weights) <= divergence(P, r, code, weights) + 1e-12).all()
        P = new


@given(st.integers(3, 8), st.integers(0, 1000))
def test_newton_steps_lower_the_divergence(n_labels, seed):
    pairs = np.random.default_rng(seed).uniform(1e-6, 1, (5, n_labels * (n_labels - 1) // 2)) ** 4
    code, r = pair_code(n_labels), pair_matrix(pairs, n_labels)
    weights = np.ones(code.shape[1])
    steps = [couple_hastie_tibshirani(r, cap=cap) for cap in range(1, 8)]
    path = np.array([divergence(P, np.clip(pairs, 1e-7, 1 - 1e-7), code, weights) for P in steps])
    assert (np.diff(path, axis=0) <= 1e-10).all()


@given(st.integers(2, 9), st.integers(0, 1000))
def test_with_equal_weights_posteriors_stand_in_the_order_of_row_sums(n_labels, seed):
    r = pair_matrix(random_pairs(n_labels, seed=seed), n_labels)
    P = couple_hastie_tibshirani(r)
    np.testing.assert_array_equal(P.argsort(axis=1), r.sum(axis=2).argsort(axis=1))


def test_all_rows_are_done_before_the_cap_however_sure_the_pairs():
    r = pair_matrix(np.random.default_rng(0).choice([0, 1, 0.5, 1e-6, 0.3], (300, 45)), 10)
    np.testing.assert_allclose(couple_hastie_tibshirani(r, cap=200), couple_hastie_tibshirani(r, cap=400), atol=1e-12)


def test_rows_of_many_blocks_do_not_meet():
    r = pair_matrix(random_pairs(4, 15_000), 4)
    np.testing.assert_allclose(couple_hastie_tibshirani(r)[-20:], couple_hastie_tibshirani(r[-20:]), atol=1e-12)


def test_posteriors_are_near_at_a_coarse_tolerance():
    r = pair_matrix(random_pairs(10, 500), 10)
    np.testing.assert_allclose(couple_hastie_tibshirani(r, tolerance=1e-6), couple_hastie_tibshirani(r), atol=1e-6)


def test_weights_that_leave_labels_apart_are_refused():
    weights = np.kron(np.eye(2), np.ones((2, 2)))
    with pytest.raises(ValueError, match="weights must join all labels"):
        couple_hastie_tibshirani(pair_matrix(random_pairs(4), 4), weights)


# --- the others


@pytest.mark.parametrize("star", range(4))
def test_a_star_is_the_limit_of_its_own_pairs(star):
    weights = np.zeros((4, 4))
    weights[star], weights[:, star] = 1, 1
    r = pair_matrix(random_pairs(4), 4)
    np.testing.assert_allclose(couple_hastie_tibshirani(r, weights), couple_stars(r)[:, star], atol=1e-10)


@given(st.integers(2, 9), st.integers(0, 1000))
def test_own_stars_are_price(n_labels, seed):
    r = pair_matrix(random_pairs(n_labels, seed=seed), n_labels)
    np.testing.assert_allclose(couple_star_own(r), couple_price(r), atol=1e-12)


def test_three_labels_by_hand():
    r = pair_matrix(np.array([[0.5, 0.8, 0.8]]), 3)
    np.testing.assert_allclose(couple_product(r), [[0.4 / 0.84, 0.4 / 0.84, 0.04 / 0.84]])
    np.testing.assert_allclose(couple_price(r), [[4 / 9, 4 / 9, 1 / 9]])
    np.testing.assert_allclose(couple_hastie_tibshirani(r), [[4 / 9, 4 / 9, 1 / 9]])


def test_a_product_is_surer_than_its_posteriors():
    P = np.array([[0.5, 0.3, 0.2]])
    assert couple_product(pair_matrix(consistent_pairs(P), 3))[0, 0] > 0.55


# --- errata


@given(st.integers(3, 9), st.integers(0, 1000))
def test_one_step_from_equal_posteriors_has_the_order_of_the_limit(n_labels, seed):
    pairs, code = random_pairs(n_labels, seed=seed), pair_code(n_labels)
    equal, weights = np.full((len(pairs), n_labels), 1 / n_labels), np.ones(code.shape[1])
    once = fixed_point_step(equal, pairs, code, weights)
    r = pair_matrix(pairs, n_labels)
    wins = r.sum(axis=2) - 0.5
    np.testing.assert_allclose(once, wins / wins.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(once.argsort(axis=1), couple_hastie_tibshirani(r).argsort(axis=1))


def test_a_label_that_loses_every_pair_is_not_lost_for_ever():
    r = pair_matrix(np.array([[0.9, 0.8, 0.7, 0.6, 0.9, 0.55]]), 4)  # the last two win against nobody before them
    P = couple_hastie_tibshirani(r)
    assert (P > 0.01).all()
    assert P[0].argsort().tolist() == r[0].sum(axis=1).argsort().tolist()

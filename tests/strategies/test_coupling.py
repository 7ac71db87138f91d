import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audioclass.strategies.coupling import couple_wu_lin_weng, pair_matrix


def consistent_pairs(P):
    """r_kl = p_k/(p_k + p_l) for k < l in order."""
    k, l = np.triu_indices(P.shape[1], 1)  # noqa: E741
    return P[:, k] / (P[:, k] + P[:, l])


posteriors = st.integers(2, 8).flatmap(lambda q: arrays(np.float64, (3, q), elements=st.floats(0.01, 1)))


@given(posteriors)
def test_consistent_pairs_give_back_their_posteriors(P):
    P = P / P.sum(axis=1, keepdims=True)
    coupled = couple_wu_lin_weng(pair_matrix(consistent_pairs(P), P.shape[1]))
    np.testing.assert_allclose(coupled, P, atol=1e-6)


@given(st.integers(2, 9), st.integers(0, 1000))
def test_rows_are_posteriors_for_any_pairs(n_labels, seed):
    r = np.random.default_rng(seed).random((5, n_labels * (n_labels - 1) // 2)).round(1)  # exact 0 and 1 among them
    P = couple_wu_lin_weng(pair_matrix(r, n_labels))
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_scipy_finds_the_same_minimum():
    r = pair_matrix(np.random.default_rng(0).random((1, 6)), 4)[0]

    def objective(p):
        return sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j)

    sums_to_one = {"type": "eq", "fun": lambda p: p.sum() - 1}
    found = scipy.optimize.minimize(objective, np.full(4, 0.25), constraints=[sums_to_one], tol=1e-14)
    np.testing.assert_allclose(couple_wu_lin_weng(r[None])[0], found.x, atol=1e-5)


def test_two_labels_are_their_one_pair():
    np.testing.assert_allclose(couple_wu_lin_weng(pair_matrix(np.array([[0.3]]), 2)), [[0.3, 0.7]])


def test_pairs_stand_in_order():
    r = pair_matrix(np.array([[0.1, 0.2, 0.3]]), 3)[0]
    assert (r[0, 1], r[0, 2], r[1, 2]) == (0.1, 0.2, 0.3)
    assert r[2, 1] == pytest.approx(0.7)

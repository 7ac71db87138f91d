import numpy as np
import pytest
import scipy.optimize
from bradley_terry_model import divergence, fixed_point_step
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audioclass.strategies.bradley_terry import couple_bradley_terry
from audioclass.strategies.coupling import couple_hastie_tibshirani, pair_matrix, pair_weights
from audioclass.strategies.output_codes import make_code

posteriors = st.integers(2, 8).flatmap(lambda q: arrays(np.float64, (3, q), elements=st.floats(0.01, 1)))


def pair_code(n_labels):
    """(Q, Q(Q−1)/2): +1 for the first of each pair, −1 for the second."""
    first, second = np.triu_indices(n_labels, 1)
    return np.eye(n_labels)[:, first] - np.eye(n_labels)[:, second]


def random_answers(code, n=20, seed=0):
    """(n, N) probabilities that agree with no posteriors."""
    return np.random.default_rng(seed).uniform(0.02, 0.98, (n, code.shape[1]))


@pytest.mark.parametrize("n_labels", [2, 3, 6])
def test_sets_that_are_pairs_are_coupled_as_pairs(n_labels):
    code, counts = pair_code(n_labels), np.arange(1, n_labels + 1)
    pairs = random_answers(code)
    P = couple_bradley_terry(pairs, code, counts @ np.abs(code))
    expected = couple_hastie_tibshirani(pair_matrix(pairs, n_labels), pair_weights(counts))
    np.testing.assert_allclose(P, expected, atol=1e-8)


@given(posteriors)
def test_consistent_sets_give_back_their_posteriors(P):
    P = P / P.sum(axis=1, keepdims=True)
    code = 2 * np.eye(P.shape[1]) - 1
    np.testing.assert_allclose(couple_bradley_terry(P, code, np.ones(P.shape[1])), P, atol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "exhaustive", "one_vs_rest"])
def test_scipy_finds_no_lower_divergence(kind):
    code = make_code(kind, 5, 20, np.random.default_rng(0))
    weights, r = np.arange(1, code.shape[1] + 1.0), random_answers(code, 5)
    P = couple_bradley_terry(r, code, weights)
    for row, found in zip(r, P, strict=True):

        def loss(theta, row=row):
            p = np.exp(theta - theta.max())
            return divergence(p[None] / p.sum(), row[None], code, weights)[0]

        assert loss(np.log(found)) <= scipy.optimize.minimize(loss, np.zeros(5), tol=1e-10).fun + 1e-7


@settings(max_examples=30)
@given(st.sampled_from(["dense", "sparse", "one_vs_one"]), st.integers(3, 9), st.integers(0, 100))
def test_no_fixed_point_step_changes_the_limit(kind, n_labels, seed):
    code = make_code(kind, n_labels, 5, np.random.default_rng(seed))
    r, weights = random_answers(code, seed=seed), np.ones(code.shape[1])
    P = couple_bradley_terry(r, code, weights)
    np.testing.assert_allclose(fixed_point_step(P, r, code, weights), P, atol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse", "one_vs_one", "one_vs_rest"])
def test_sure_answers_that_disagree_give_posteriors(kind):
    code = make_code(kind, 8, 20, np.random.default_rng(0))
    r = np.random.default_rng(1).choice([0.0, 1.0, 0.5, 1e-6, 0.3], (200, code.shape[1]))
    P = couple_bradley_terry(r, code, np.ones(code.shape[1]))
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_rows_of_many_blocks_do_not_meet():
    code = make_code("dense", 6, 20, np.random.default_rng(0))
    r, weights = random_answers(code, 6000), np.ones(code.shape[1])
    together = couple_bradley_terry(r, code, weights)
    np.testing.assert_allclose(together[-20:], couple_bradley_terry(r[-20:], code, weights), atol=1e-9)
    assert couple_bradley_terry(r[:0], code, weights).shape == (0, 6)


def test_one_dichotomy_shares_equally_within_its_sides():
    code = np.array([[1.0], [1.0], [-1.0]])
    np.testing.assert_allclose(couple_bradley_terry(np.array([[0.3]]), code, np.ones(1)), [[0.15, 0.15, 0.7]])

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import UsageError
from audioclass.strategies.coupling import couple_hastie_tibshirani, pair_matrix, pair_weights
from audioclass.strategies.one_vs_one import count_votes
from audioclass.strategies.output_codes import (
    CODES,
    DECODINGS,
    OutputCode,
    code_of,
    distances,
    is_valid,
    make_code,
    register_strategies,
    row_distance,
)
from audioclass.testing import check_strategy


def code(kind, n_labels, draws=20, seed=0):
    return make_code(kind, n_labels, draws, np.random.default_rng(seed))


def scores(n_columns, limit=1.0, seed=0):
    return np.random.default_rng(seed).uniform(-limit, limit, (200, n_columns))


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("kind", CODES)
def test_it_keeps_its_contract(kind, decoding):
    check_strategy(OutputCode(kind, decoding, draws=5))


def test_it_is_offered():
    assert register_strategies() == [OutputCode]


# --- codes


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5, 6, 7, 10, 11])
@pytest.mark.parametrize("kind", CODES)
def test_every_code_is_valid(kind, n_labels):
    assert is_valid(code(kind, n_labels))


@pytest.mark.parametrize("kind", ["one_vs_rest", "one_vs_one", "dense", "sparse"])
def test_sixty_labels_have_a_valid_code(kind):
    assert is_valid(code(kind, 60, draws=3))


@pytest.mark.parametrize(
    "wrong",
    [
        [[1, 1], [1, 1], [-1, -1]],
        [[1, 1], [1, -1], [1, 0]],
        [[1, 1], [-1, -1], [0, 0]],
        [[1, -1, 1], [-1, 1, 1], [0, 0, -1]],
        [[1, 1], [-1, -1], [1, -1], [0, 0]],
    ],
    ids=["equal rows", "a column of one sign", "equal columns", "opposite columns", "a row of zeros"],
)
def test_a_wrong_code_is_not_valid(wrong):
    assert not is_valid(np.array(wrong, dtype=float))


@pytest.mark.parametrize("n_labels", range(3, 9))
def test_row_distances_are_those_of_the_specification(n_labels):
    assert row_distance(code("one_vs_rest", n_labels)) == 2
    assert row_distance(code("one_vs_one", n_labels)) == (n_labels * (n_labels - 1) / 2 - 1) / 2 + 1
    assert row_distance(code("exhaustive", n_labels)) == 2 ** (n_labels - 2)


def test_the_exhaustive_code_counts_in_binary():
    np.testing.assert_array_equal(code("exhaustive", 3), [[1, 1, 1], [1, -1, -1], [-1, 1, -1]])


@pytest.mark.parametrize(
    ("kind", "n_labels", "n_columns"),
    [
        ("dense", 4, 7),
        ("dense", 5, 15),
        ("dense", 6, 26),
        ("dense", 10, 34),
        ("sparse", 3, 6),
        ("sparse", 4, 25),
        ("sparse", 5, 35),
        ("sparse", 10, 50),
    ],
)
def test_random_codes_are_as_long_as_stated_or_as_there_are_columns(kind, n_labels, n_columns):
    assert code(kind, n_labels).shape == (n_labels, n_columns)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_more_draws_lie_no_closer(kind):
    assert row_distance(code(kind, 8, draws=100)) >= row_distance(code(kind, 8, draws=1))


def test_another_seed_gives_another_random_code():
    assert not np.array_equal(code("dense", 8, seed=1), code("dense", 8, seed=2))


@pytest.mark.parametrize(("kind", "is_random"), [("dense", True), ("sparse", True), ("exhaustive", False)])
def test_random_codes_say_so(kind, is_random):
    assert OutputCode(kind).is_random == is_random


def test_an_exhaustive_code_of_many_labels_is_refused():
    with pytest.raises(UsageError, match="exhaustive code: 12 labels, at most 11 are possible"):
        code("exhaustive", 12)


def test_a_plan_is_its_code():
    plan = OutputCode("sparse").plan("abcdefg", None, None, np.random.default_rng(0))
    np.testing.assert_array_equal(code_of(plan), code("sparse", 7, draws=200))


def test_few_wrong_bits_are_corrected():
    rows = code("exhaustive", 5)
    n_corrected = int(row_distance(rows) - 1) // 2
    rng = np.random.default_rng(0)
    for label in range(5):
        answers = np.tile(rows[label], (50, 1))
        for row in answers:
            row[rng.choice(rows.shape[1], n_corrected, replace=False)] *= -1
        assert (distances(answers, rows, "hard").argmin(axis=1) == label).all()


# --- decoding


@pytest.mark.parametrize("n_labels", [3, 4, 6])
def test_hard_decoding_of_pairs_is_the_vote(n_labels):
    rows = code("one_vs_one", n_labels)
    f = scores(rows.shape[1])
    expected = 2 * (n_labels - 1 - count_votes(f, n_labels)) / (n_labels - 1)
    np.testing.assert_allclose(distances(f, rows, "hard"), expected, atol=1e-12)


@pytest.mark.parametrize("decoding", ["l1", "hinge", "exponential", "logistic", "linear"])
def test_one_vs_rest_decodes_to_the_largest_score(decoding):
    f = scores(6)
    np.testing.assert_array_equal(distances(f, code("one_vs_rest", 6), decoding).argmin(axis=1), f.argmax(axis=1))


@given(st.integers(0, 1000))
def test_l1_of_a_code_without_zeros_cares_for_clipped_scores_only(seed):
    rows = code("exhaustive", 5)
    f = scores(rows.shape[1], 4.0, seed)
    difference = distances(f, rows, "l1") - distances(np.clip(f, -1, 1), rows, "l1")
    np.testing.assert_allclose(difference, difference[:, :1] @ np.ones((1, 5)), atol=1e-12)


def test_distances_by_hand():
    rows, f = np.array([[1.0, 0], [-1, 1], [0, -1]]), np.array([[0.5, -2.0]])
    np.testing.assert_allclose(distances(f, rows, "l1"), [[0.5, (1.5 + 3) / 2, 1]])
    np.testing.assert_allclose(distances(f, rows, "hard"), [[0, 2, 0]])
    np.testing.assert_allclose(distances(f, rows, "hinge"), [[0.5 + 1, 1.5 + 3, 1 + 0]])
    np.testing.assert_allclose(distances(f, rows, "exponential"), np.exp([[-0.5, 0.5, 0]]) + np.exp([[0, 2, -2]]))
    np.testing.assert_allclose(distances(f, rows, "linear"), [[-0.5, 2.5, -2]])
    np.testing.assert_allclose(
        distances(f, rows, "logistic"), np.log1p(np.exp([[-0.5, 0.5, 0]])) + np.log1p(np.exp([[0, 2, -2]]))
    )


@pytest.mark.parametrize("decoding", DECODINGS)
def test_scores_of_any_size_give_posteriors(decoding):
    strategy = OutputCode("sparse", decoding, draws=5)
    plan = strategy.plan("abcd", None, None, np.random.default_rng(0))
    f = np.random.default_rng(0).choice([-1e6, 0, 1e6], (20, len(plan.dichotomies)))
    P = strategy.combine(plan, (np.sign(f) + 1) / 2, f, np.ones(4), {})
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_a_tie_goes_to_the_first_label():
    strategy = OutputCode("one_vs_one", "hard")
    plan = strategy.plan("abcd", None, None, None)
    f = np.array(list(product([-1.0, 1.0], repeat=6)))
    P = strategy.combine(plan, (f + 1) / 2, f, np.ones(4), {})
    np.testing.assert_array_equal(P.argmax(axis=1), count_votes(f, 4).argmax(axis=1))


def test_bradley_terry_of_pairs_is_hastie_tibshirani():
    strategy, counts = OutputCode("one_vs_one"), np.array([4, 9, 2, 7])
    pairs = np.random.default_rng(0).uniform(0.05, 0.95, (30, 6))
    P = strategy.combine(strategy.plan("abcd", None, None, None), pairs, pairs, counts, {})
    np.testing.assert_allclose(P, couple_hastie_tibshirani(pair_matrix(pairs, 4), pair_weights(counts)), atol=1e-7)


@pytest.mark.parametrize("kind", CODES)
def test_bradley_terry_gives_back_posteriors(kind):
    strategy = OutputCode(kind, draws=5)
    plan = strategy.plan("abcdef", None, None, np.random.default_rng(0))
    P, rows = np.random.default_rng(1).dirichlet(np.full(6, 2.0), 20), code_of(plan)
    r = P @ (rows > 0) / (P @ np.abs(rows))
    np.testing.assert_allclose(strategy.combine(plan, r, r, np.arange(1, 7), {}), P, atol=1e-6)

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from audioclass.evaluation.ranks import cliques, critical_difference, friedman, iman_davenport, mean_ranks, rank_systems
from audioclass.plain import is_plain

TABLES = st.integers(3, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=2, max_size=8)
)


@given(TABLES, st.booleans())
def test_mean_ranks_sum_to_a_constant(rows, higher):
    ranks = mean_ranks(np.array(rows), higher)
    k = len(ranks)
    assert ranks.sum() == pytest.approx(k * (k + 1) / 2)


@given(TABLES)
def test_turning_the_scores_round_turns_the_ranks_round(rows):
    scores = np.array(rows)
    np.testing.assert_allclose(mean_ranks(scores, True), mean_ranks(-scores, False))
    np.testing.assert_allclose(mean_ranks(scores, True) + mean_ranks(scores, False), scores.shape[1] + 1)


@given(TABLES)
def test_scipy_agrees_on_friedman(rows):
    scores = np.array(rows, float)
    assume(any(len(set(row)) > 1 for row in rows))
    judged = stats.friedmanchisquare(*scores.T)
    verdict = friedman(scores)
    assert (verdict.statistic, verdict.p) == pytest.approx((judged.statistic, judged.pvalue), abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=9))
def test_friedman_of_two_systems_is_the_formula_with_its_correction_for_ties(rows):
    scores = np.array(rows, float)
    assume(any(len(set(row)) > 1 for row in rows))
    ranks, n = stats.rankdata(scores, axis=1), len(rows)
    ties = sum(6 for row in rows if len(set(row)) == 1)
    expected = 12 * n / 6 * ((ranks.mean(axis=0) ** 2).sum() - 18 / 4) / (1 - ties / (6 * n))
    assert friedman(scores).statistic == pytest.approx(expected, abs=1e-9)


def test_rank_one_is_the_best_and_equals_share():
    np.testing.assert_allclose(mean_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.9, 0.1]])), [1.5, 1.75, 2.75])


def test_worked_example():
    # Demšar (2006), table 6: mean ranks of four systems on 14 corpora give χ² = 9.28 and F = 3.69
    n, k = 14, 4
    ranks = np.array([3.143, 2.000, 2.893, 1.964])
    chi2 = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.01)
    assert (n - 1) * chi2 / (n * (k - 1) - chi2) == pytest.approx(3.69, abs=0.01)
    assert critical_difference(k, n) == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize(("n_systems", "q"), [(2, 1.960), (4, 2.569), (10, 3.164)])
def test_critical_values_are_those_of_the_tables(n_systems, q):
    assert critical_difference(n_systems, 1) / np.sqrt(n_systems * (n_systems + 1) / 6) == pytest.approx(q, abs=5e-4)


def test_iman_davenport_by_hand():
    scores = np.array([[3, 2, 1], [3, 1, 2], [2, 3, 1], [3, 2, 1]])
    chi2 = friedman(scores).statistic
    assert chi2 == pytest.approx(12 * 4 / 12 * (1.25**2 + 2**2 + 2.75**2 - 12))
    verdict = iman_davenport(scores)
    assert verdict.statistic == pytest.approx(3 * chi2 / (8 - chi2))
    assert verdict.p == pytest.approx(stats.f.sf(verdict.statistic, 2, 6))


def test_rows_that_all_rank_alike_leave_no_doubt():
    assert iman_davenport(np.array([[3, 2, 1]] * 5)).p == 0


def test_rows_of_equals_show_no_difference():
    equal = np.ones((4, 3))
    assert friedman(equal).p == 1
    assert iman_davenport(equal).p == 1


def test_cliques_are_the_longest_runs_closer_than_the_difference():
    ranks = np.array([4.0, 1.0, 1.9, 2.8])
    assert cliques(ranks, 1.0) == ((1, 2), (2, 3))
    assert cliques(ranks, 1.85) == ((1, 2, 3), (3, 0))
    assert cliques(ranks, 0.5) == ()
    assert cliques(ranks, 9.0) == ((1, 2, 3, 0),)


def test_ranks_exactly_the_difference_apart_differ():
    assert cliques(np.array([1.0, 2.0]), 1.0) == ()


def test_ranked_systems_are_told_in_plain_values():
    scores = np.array([[0.9, 0.8, 0.7], [0.8, 0.9, 0.6], [0.95, 0.9, 0.5]])
    ranked = rank_systems(("a", "b", "c"), scores)
    assert is_plain(ranked.to_plain())
    assert ranked.to_plain()["mean_ranks"] == pytest.approx({"a": 4 / 3, "b": 5 / 3, "c": 3})
    assert ranked.to_plain()["not_told_apart"] == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: friedman(np.ones((1, 3))), r"scores have shape \(1, 3\), must have at least 2 rows"),
        (lambda: mean_ranks(np.array([[1, np.nan]] * 2)), "scores hold NaN or infinite values"),
        (lambda: critical_difference(1, 5), "1 systems on 5 corpora, at least 2 on 1 are needed"),
        (lambda: critical_difference(3, 5, 1.5), r"alpha=1\.5 must be between 0 and 1"),
        (lambda: rank_systems(("a",), np.ones((2, 3))), "1 names for 3 systems"),
    ],
)
def test_what_cannot_be_ranked_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()

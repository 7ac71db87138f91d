from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from audioclass.evaluation.paired import corrected_t, mcnemar, wilcoxon

TRUTHS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)
WHOLE = st.lists(st.integers(-6, 6), min_size=2, max_size=12)


def right(only_first, only_second, both=3):
    first = [True] * only_first + [False] * only_second + [True] * both
    second = [False] * only_first + [True] * only_second + [True] * both
    return np.array(first), np.array(second)


@given(TRUTHS)
def test_exact_mcnemar_is_a_sign_test(truths):
    first, second = map(np.array, zip(*truths, strict=True))
    parted = first != second
    n = int(parted.sum())
    expected = stats.binomtest(int(first[parted].sum()), n, 0.5).pvalue if n else 1
    assert mcnemar(first, second, exact=True).p == pytest.approx(expected)


@given(TRUTHS, st.sampled_from([True, False, None]))
def test_swapping_the_systems_leaves_mcnemar_alone(truths, exact):
    first, second = map(np.array, zip(*truths, strict=True))
    assert mcnemar(first, second, exact) == mcnemar(second, first, exact)


def test_mcnemar_by_hand():
    verdict = mcnemar(*right(30, 10))
    assert verdict.method == "McNemar, χ²"
    assert verdict.statistic == pytest.approx(19**2 / 40)
    assert verdict.p == pytest.approx(stats.chi2.sf(9.025, 1))
    assert mcnemar(*right(1, 7)).p == pytest.approx(2 * 9 / 256)


def test_mcnemar_is_exact_below_25_examples_that_part():
    assert mcnemar(*right(12, 12)).method == "McNemar, exact"
    assert mcnemar(*right(12, 13)).method == "McNemar, χ²"


@pytest.mark.parametrize("exact", [True, False])
def test_systems_that_never_part_do_not_differ(exact):
    assert mcnemar(*right(0, 0), exact=exact).p == 1


def test_the_correction_of_chi_square_is_never_negative():
    assert mcnemar(*right(5, 5), exact=False).statistic == 0


def test_answers_must_be_paired():
    with pytest.raises(ValueError, match=r"predictions of shapes \(2,\) and \(3,\) are not paired"):
        mcnemar(np.ones(2), np.ones(3))


@given(WHOLE)
def test_without_a_test_set_the_corrected_t_is_the_ordinary_one(values):
    d = np.array(values, float)
    assume(np.ptp(d) > 0)
    judged = stats.ttest_1samp(d, 0)
    verdict = corrected_t(d, 0)
    assert (verdict.statistic, verdict.p) == pytest.approx((judged.statistic, judged.pvalue))


@pytest.mark.parametrize(("difference", "p"), [(0.0, 1), (0.1, 0), (-0.1, 0)])
def test_differences_that_are_all_the_same_leave_no_doubt(difference, p):
    assert corrected_t(np.full(5, difference), 0.25).p == p


def test_corrected_t_by_hand():
    verdict = corrected_t(np.array([0.01, 0.02, 0.03, 0.02, 0.02]), 1 / 4)
    t = 0.02 / (np.sqrt(1 / 5 + 1 / 4) * np.sqrt(0.0002 / 4))
    assert verdict.statistic == pytest.approx(t)
    assert verdict.p == pytest.approx(2 * stats.t.sf(t, 4))


@given(WHOLE, st.floats(0, 2))
def test_swapping_the_systems_leaves_p_alone(values, share):
    d = np.array(values, float)
    assert corrected_t(d, share).p == pytest.approx(corrected_t(-d, share).p)
    assert wilcoxon(d).p == wilcoxon(-d).p


@given(WHOLE, st.floats(0.05, 2))
def test_the_correction_never_makes_a_difference_surer(values, share):
    d = np.array(values, float)
    assert corrected_t(d, share).p >= corrected_t(d, 0).p - 1e-12


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_wilcoxon_tries_all_signs(values):
    d = np.array([value for value in values if value])
    ranks = stats.rankdata(np.abs(d)) if len(d) else np.array([])
    sums = np.array([ranks @ np.array(signs) for signs in product([0, 1], repeat=len(d))])
    statistic = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    expected = min(1, 2 * (sums <= statistic).mean()) if len(d) else 1
    verdict = wilcoxon(np.array(values, float))
    assert verdict.p == pytest.approx(expected)
    assert verdict.statistic == pytest.approx(statistic)


@given(st.permutations(range(1, 13)), st.integers(0, 2**12 - 1))
def test_scipy_agrees_on_the_exact_wilcoxon(sizes, signs):
    d = np.array([size if signs >> bit & 1 else -size for bit, size in enumerate(sizes)], float)
    judged = stats.wilcoxon(d, method="exact")
    verdict = wilcoxon(d)
    assert (verdict.statistic, verdict.p) == pytest.approx((judged.statistic, judged.pvalue))


@given(st.lists(st.integers(-5, 9).filter(bool), min_size=21, max_size=40))
def test_scipy_agrees_on_the_normal_wilcoxon_with_ties(values):
    d = np.array(values, float)
    judged = stats.wilcoxon(d, method="asymptotic", correction=False)
    verdict = wilcoxon(d)
    assert verdict.method == "Wilcoxon, normal"
    assert (verdict.statistic, verdict.p) == pytest.approx((judged.statistic, judged.pvalue))


def test_differences_of_zero_are_dropped_and_nothing_else_is_no_difference():
    assert wilcoxon(np.array([0.0, 3, -1, 2])) == wilcoxon(np.array([3.0, -1, 2]))
    assert wilcoxon(np.zeros(5)).p == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: corrected_t(np.array([1.0]), 0.5), "1 differences, at least 2 are needed"),
        (lambda: corrected_t(np.array([1.0, np.nan]), 0.5), "differences hold NaN or infinite values"),
        (lambda: corrected_t(np.array([1.0, 2.0]), -0.1), r"test_over_train=-0\.1 must be at least 0"),
        (lambda: wilcoxon(np.array([])), "0 differences, at least 1 are needed"),
    ],
)
def test_what_cannot_be_tested_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()

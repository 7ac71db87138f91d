import numpy as np
import pytest
from gram_matrices import centred
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.criteria.alignment import (
    Alignment,
    AlignmentC,
    CentredAlignment,
    CentredAlignmentC,
    WeightedAlignment,
    WeightedAlignmentC,
)
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram, gram_and_gradients

ALL = (Alignment, AlignmentC, WeightedAlignment, WeightedAlignmentC, CentredAlignment, CentredAlignmentC)
PLAIN = {AlignmentC: Alignment, WeightedAlignmentC: WeightedAlignment, CentredAlignmentC: CentredAlignment}


def problem(n=20, seed=0, C=2.0, share=0.4, sigma=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) < np.clip(share * n, 1, n - 1), 1, -1)
    K, gradients = gram_and_gradients(Gaussian(sigma), X)
    return SelectionProblem(K, y, C, gradients=gradients)


def cosine(A, B):
    return np.vdot(A, B) / np.linalg.norm(A) / np.linalg.norm(B)


def target(y, is_weighted):
    signed = np.where(y > 0, 1 / (y > 0).sum(), -1 / (y < 0).sum()) if is_weighted else y
    return np.outer(signed, signed)


@given(st.integers(3, 30), st.integers(0, 10**6), st.floats(0.1, 0.9))
@settings(max_examples=30)
def test_each_is_the_cosine_with_its_ideal(n, seed, share):
    judged = problem(n, seed, share=share)
    K_C = judged.K + np.eye(n) / judged.C
    T, T_weighted = target(judged.y, False), target(judged.y, True)
    assert Alignment().value(judged) == pytest.approx(cosine(judged.K, T))
    assert AlignmentC().value(judged) == pytest.approx(cosine(K_C, T))
    assert WeightedAlignment().value(judged) == pytest.approx(cosine(judged.K, T_weighted))
    assert WeightedAlignmentC().value(judged) == pytest.approx(cosine(K_C, T_weighted))
    assert CentredAlignment().value(judged) == pytest.approx(cosine(centred(judged.K), centred(T)))
    assert CentredAlignmentC().value(judged) == pytest.approx(cosine(centred(K_C), centred(T)))


@given(st.integers(3, 25), st.integers(0, 10**6))
@settings(max_examples=20)
def test_alignment_lies_from_0_to_1_and_below_its_bound(n, seed):
    judged = problem(n, seed)
    n1 = (judged.y > 0).sum()
    bound = np.hypot(n1, n - n1) / n
    assert 0 <= Alignment().value(judged) <= bound + 1e-12


@pytest.mark.parametrize("criterion", ALL, ids=lambda c: c.name)
def test_scaling_the_kernel_changes_nothing_but_the_meaning_of_C(criterion):
    judged = problem()
    scaled = SelectionProblem(5 * judged.K, judged.y, judged.C / 5)
    assert criterion().value(scaled) == pytest.approx(criterion().value(judged))


def test_the_ideal_itself_is_aligned():
    y = np.array([1, 1, -1])
    assert Alignment().value(SelectionProblem(np.outer(y, y).astype(float), y)) == pytest.approx(1)
    assert Alignment().value(SelectionProblem(np.zeros((3, 3)), y)) == 0


def test_sides_of_equal_size_need_no_weights():
    judged = problem(20, share=0.5)
    assert WeightedAlignment().value(judged) == pytest.approx(Alignment().value(judged))


@pytest.mark.parametrize("criterion", PLAIN, ids=lambda c: c.name)
def test_a_large_C_gives_the_plain_criterion(criterion):
    judged = problem(C=1e12)
    assert criterion().value(judged) == pytest.approx(PLAIN[criterion]().value(judged))


def test_a_small_C_gives_one_over_the_root_of_n():
    assert AlignmentC().value(problem(C=1e-12)) == pytest.approx(1 / np.sqrt(20))


def test_a_constant_added_to_the_kernel_is_not_seen_from_the_means():
    judged = problem()
    raised = SelectionProblem(judged.K + 3, judged.y)
    assert CentredAlignment().value(raised) == pytest.approx(CentredAlignment().value(judged))


def test_three_labels_are_aligned_with_their_own_target():
    y = np.repeat([0, 1, 2], [3, 4, 5])
    K = gram(Gaussian(), np.random.default_rng(1).normal(size=(12, 2)))
    T = np.where(y[:, None] == y[None, :], 1.0, -0.5)
    judged = SelectionProblem(K, y, 2.0)
    assert Alignment().value(judged) == pytest.approx(cosine(K, T))
    assert AlignmentC().value(judged) == pytest.approx(cosine(K + np.eye(12) / 2, T))
    counts = np.array([3, 4, 5])[y]
    assert WeightedAlignment().value(judged) == pytest.approx(cosine(K, T / np.outer(counts, counts)))


@pytest.mark.parametrize("criterion", ALL, ids=lambda c: c.name)
def test_derivatives_agree_with_differences_under_weights(criterion):
    weights = np.linspace(0.5, 2, 20)

    def at(sigma, C):
        judged = problem(sigma=sigma, C=C)
        return SelectionProblem(judged.K, judged.y, C, gradients=judged.gradients, weights=weights)

    slopes = criterion().gradient(at(0.8, 2.0))
    assert set(slopes) == ({"sigma", "C"} if criterion.is_adjusted else {"sigma"})
    h = 1e-5
    by_sigma = (criterion().value(at(0.8 + h, 2.0)) - criterion().value(at(0.8 - h, 2.0))) / (2 * h)
    assert slopes["sigma"] == pytest.approx(by_sigma, abs=1e-8)
    by_C = (criterion().value(at(0.8, 2.0 + h)) - criterion().value(at(0.8, 2.0 - h))) / (2 * h)
    assert slopes.get("C", 0.0) == pytest.approx(by_C, abs=1e-8)

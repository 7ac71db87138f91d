"""Criteria that need a trained machine: their order, their definitions, their derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from audioclass.criteria.bounds import SupportVectors, XiAlpha
from audioclass.criteria.errors import ExactLeaveOneOut, KFoldError, ValidationError
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.radius import delta
from audioclass.criteria.radius_margin import RadiusMargin
from audioclass.criteria.span import SmoothedSpan, Span
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram, gram_and_gradients
from audioclass.problems import Task
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.svm import SVM

EXACT = SVM(tolerance=1e-8)


def problem(n=30, seed=0, sigma=1.0, C=1.0, noise=0.8, learner=EXACT):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1, -1)
    K, gradients = gram_and_gradients(Gaussian(sigma), X)
    return SelectionProblem(K, y, C, gradients=gradients, folds=np.arange(n) % 5, learner=learner)


def has_free(judged, rows):
    """Whether the machine of some of the examples has a free vector."""
    part = judged.restricted(rows)
    return len(part.dual.optimum(np.zeros(len(rows))).free) > 0


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.3, 3), st.sampled_from([0.3, 1.0, 10.0]))
def test_leave_one_out_is_below_xi_alpha_below_the_number_of_support_vectors(seed, sigma, C):
    judged = problem(20, seed, sigma, C)
    assume(min((judged.y > 0).sum(), (judged.y < 0).sum()) > 1)
    assert XiAlpha().value(judged) <= SupportVectors().value(judged)
    assert XiAlpha(radius="ball").value(judged) >= XiAlpha().value(judged)
    everyone = np.arange(20)
    still_free = np.array([has_free(judged, np.delete(everyone, p)) for p in everyone]) & has_free(judged, everyone)
    assert (2 * judged.alpha * delta(judged.K) + judged.slacks >= 1 - 1e-6)[judged.lost & still_free].all()


def test_xi_alpha_is_no_bound_where_no_vector_is_left_free():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([1, -1], 20)
    judged = SelectionProblem(gram(Gaussian(1.0), X), y, 0.1, learner=EXACT)
    assert ExactLeaveOneOut().value(judged) == 1 > XiAlpha().value(judged)


def test_ball_radius_alone_would_miss_an_error():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.04, 1.0]])  # the third is lost when left out, yet 2αR² is 0.6
    y = np.array([-1, 1, 1])
    judged = SelectionProblem(gram(Linear(), X), y, 1e4, learner=EXACT)
    assert ExactLeaveOneOut().value(judged) == 1
    assert 2 * judged.alpha[2] * judged.ball.squared_radius == pytest.approx(0.603, abs=0.01)
    assert XiAlpha().value(judged) == XiAlpha(radius="ball").value(judged) == 1


def fold_error(judged, fold):
    kept = judged.folds != fold
    task = Task(judged.y[kept], judged.C, judged.weights[kept], None, K=judged.K[np.ix_(kept, kept)])
    return np.mean(judged.y[~kept] * EXACT.fit(task).scores(judged.K[np.ix_(~kept, kept)]) < 0)


def test_folds_are_held_out_one_by_one():
    judged = problem()
    errors = [fold_error(judged, fold) for fold in range(5)]
    assert KFoldError().value(judged) == pytest.approx(np.mean(errors))
    assert ValidationError().value(judged) == errors[0]


def test_folds_that_leave_one_side_alone_are_passed_over():
    judged = replace(problem(), folds=np.where(problem().y > 0, 0, 1))
    assert np.isnan(KFoldError().value(judged))
    assert np.isnan(ValidationError().value(judged))
    with pytest.raises(ValueError, match="needs folds, the problem was given none"):
        KFoldError().value(replace(judged, folds=None))


def test_span_is_near_the_exact_error():
    judged = problem(60)
    assert Span().value(judged) == pytest.approx(ExactLeaveOneOut().value(judged), abs=3 / 60)
    assert Span().value(judged) <= SupportVectors().value(judged)


def left_out(judged):
    """(n,) scores of each example by the machine that the trainer fits without it."""
    scores = []
    for p in range(len(judged.y)):
        rest = np.delete(np.arange(len(judged.y)), p)
        scores.append(judged.restricted(rest).machine.scores(judged.K[p : p + 1, rest])[0])
    return np.array(scores)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_and_span_of_squared_slacks(seed, C):
    judged = problem(30, seed, C=C, learner=L2SVM())
    lost = judged.y * left_out(judged) < 0
    np.testing.assert_array_equal(judged.lost, lost)
    assert ExactLeaveOneOut().value(judged) == lost.mean()
    assert Span().value(judged) == pytest.approx(lost.mean(), abs=2 / 30)
    assert SmoothedSpan(eta=1e-9, steepness=1e6).value(judged) == pytest.approx(Span().value(judged), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_and_span_of_hard_margins(seed):
    judged = problem(30, seed, sigma=0.5, learner=HardMargin())
    lost = judged.y * left_out(judged) < 0
    np.testing.assert_array_equal(judged.lost, lost)
    assert ExactLeaveOneOut().value(judged) == lost.mean() > 0
    assert Span().value(judged) == pytest.approx(lost.mean(), abs=2 / 30)
    assert replace(judged, C=7.0).lost.tolist() == judged.lost.tolist()


def test_a_steep_smooth_span_without_smoothing_is_the_count():
    judged = problem(40)
    assert SmoothedSpan(eta=1e-12, steepness=1e6).value(judged) == pytest.approx(Span().value(judged), abs=1e-6)


def test_radius_margin_is_the_product_of_its_parts():
    judged = problem(learner=L2SVM())
    K_C = judged.K + np.eye(30) / judged.C
    signed = judged.alpha * judged.y
    R2 = judged.l2_ball.squared_radius
    assert RadiusMargin().value(judged) == pytest.approx(R2 * (signed @ K_C @ signed) / 30)


def test_radius_margin_does_not_change_with_the_scale_of_the_kernel():
    judged = problem(learner=L2SVM())
    scaled = replace(judged, K=7 * judged.K, C=judged.C / 7)
    assert RadiusMargin().value(scaled) == pytest.approx(RadiusMargin().value(judged))


@pytest.mark.parametrize("seed", range(3))
def test_four_times_radius_margin_bounds_the_errors_of_hard_margins(seed):
    X = np.random.default_rng(seed).normal(size=(20, 2))
    X[:10, 0] += 4
    y = np.repeat([1, -1], 10)
    K = gram(Linear(), X)
    machine = HardMargin().fit(Task(y, 1.0, np.ones(20), None, K=K))
    judged = SelectionProblem(K, y, 1e6, learner=EXACT)
    squared_norm = np.abs(machine.coefficients).sum()
    assert judged.lost.sum() <= 4 * judged.ball.squared_radius * squared_norm


@pytest.mark.parametrize("seed", range(3))
def test_radius_margin_derivatives_agree_with_differences(seed):
    slopes, h = RadiusMargin().gradient(problem(seed=seed, learner=L2SVM())), 1e-5

    def value(**changes):
        return RadiusMargin().value(problem(seed=seed, learner=L2SVM(), **changes))

    assert slopes["sigma"] == pytest.approx((value(sigma=1 + h) - value(sigma=1 - h)) / (2 * h), rel=1e-5)
    assert slopes["C"] == pytest.approx((value(C=1 + h) - value(C=1 - h)) / (2 * h), rel=1e-5)

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from audioclass.criteria.held_out import (
    LeaveGroupOutError,
    LeaveGroupOutLogLoss,
    LeaveGroupOutSquaredError,
    LeaveOneOutError,
    LeaveOneOutLogLoss,
    LeaveOneOutSquaredError,
)
from audioclass.criteria.logistic import best_log_loss, smoothed_targets
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram_and_gradients
from audioclass.numerics import log_loss, softmax
from audioclass.problems import Task
from audioclass.trainers.least_squares import LeastSquares

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=40) > 0.4, 1, -1)
GROUPS = RNG.integers(0, 9, 40)
WEIGHTS = RNG.uniform(0.5, 2, 40)
SMOOTH = (LeaveOneOutSquaredError, LeaveOneOutLogLoss, LeaveGroupOutSquaredError, LeaveGroupOutLogLoss)


def problem(sigma=1.0, C=2.0, groups=GROUPS):
    K, gradients = gram_and_gradients(Gaussian(sigma), X)
    return SelectionProblem(K, Y, C, gradients=gradients, weights=WEIGHTS, groups=groups)


def retrained(judged, groups):
    scores = np.empty(40)
    for group in np.unique(groups):
        kept = groups != group
        task = Task(Y[kept], judged.C, WEIGHTS[kept], RNG, K=judged.K[np.ix_(kept, kept)])
        scores[~kept] = LeastSquares().fit(task).scores(judged.K[np.ix_(~kept, kept)])
    return scores


@pytest.mark.parametrize(
    ("error", "squared", "groups"),
    [
        (LeaveOneOutError, LeaveOneOutSquaredError, np.arange(40)),
        (LeaveGroupOutError, LeaveGroupOutSquaredError, GROUPS),
    ],
    ids=["examples", "groups"],
)
def test_errors_are_those_of_training_again(error, squared, groups):
    scores, share = retrained(problem(), groups), WEIGHTS / WEIGHTS.sum()
    assert error().value(problem()) == pytest.approx(share @ (Y * scores < 0))
    assert squared().value(problem()) == pytest.approx(share @ (Y - scores) ** 2)


@pytest.mark.parametrize("criterion", SMOOTH, ids=lambda c: c.name)
@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
def test_derivatives_agree_with_differences(criterion, sigma):
    slopes, h = criterion().gradient(problem(sigma)), 1e-5
    by_sigma = (criterion().value(problem(sigma + h)) - criterion().value(problem(sigma - h))) / (2 * h)
    by_C = (criterion().value(problem(sigma, 2 + h)) - criterion().value(problem(sigma, 2 - h))) / (2 * h)
    assert slopes["sigma"] == pytest.approx(by_sigma, rel=1e-5, abs=1e-8)
    assert slopes["C"] == pytest.approx(by_C, rel=1e-5, abs=1e-8)


LABELS = 2 * (X[:, 0] > 0) + (X[:, 1] + 0.5 * RNG.normal(size=40) > 0)


def labels_problem(sigma=1.0, C=2.0):
    return replace(problem(sigma, C), y=LABELS, learner=LeastSquares())


def test_scores_of_labels_are_those_of_each_against_the_rest():
    scores = labels_problem().held_out_scores
    for label in range(4):
        alone = replace(problem(), y=np.where(label == LABELS, 1, -1))
        np.testing.assert_allclose(scores[:, label], alone.held_out_scores, rtol=0, atol=1e-10)


def test_labels_are_judged_by_the_softmax_of_their_scores_at_the_best_temperature():
    scores = labels_problem().held_out_scores
    losses = [log_loss(softmax(scores, T), LABELS, WEIGHTS) for T in np.geomspace(0.01, 100, 400)]
    value = LeaveGroupOutLogLoss().value(labels_problem())
    assert value <= min(losses) + 1e-12
    assert value == pytest.approx(min(losses), rel=1e-3)


def test_derivatives_of_labels_agree_with_differences():
    criterion, h = LeaveGroupOutLogLoss(), 1e-5
    slopes = criterion.gradient(labels_problem())
    by_sigma = (criterion.value(labels_problem(1 + h)) - criterion.value(labels_problem(1 - h))) / (2 * h)
    by_C = (criterion.value(labels_problem(C=2 + h)) - criterion.value(labels_problem(C=2 - h))) / (2 * h)
    assert slopes["sigma"] == pytest.approx(by_sigma, rel=1e-4, abs=1e-8)
    assert slopes["C"] == pytest.approx(by_C, rel=1e-4, abs=1e-8)


def test_groups_of_one_are_examples():
    assert LeaveGroupOutLogLoss().value(problem(groups=np.arange(40))) == LeaveOneOutLogLoss().value(problem())


def test_all_in_one_group_cannot_be_judged():
    with pytest.raises(ValueError, match="one group holds every example"):
        LeaveGroupOutLogLoss().value(problem(groups=np.zeros(40)))


def test_the_logistic_map_is_the_best_one():
    scores, targets = retrained(problem(), GROUPS), smoothed_targets(Y)

    def loss(map_):
        z = map_[0] * scores + map_[1]
        return (WEIGHTS / WEIGHTS.sum()) @ (np.logaddexp(0, z) - targets * z)

    assert best_log_loss(scores, targets, WEIGHTS)[0] == pytest.approx(minimize(loss, [1.0, 0.0]).fun, abs=1e-9)


def test_scores_that_fall_as_they_should_rise_tell_nothing():
    value, slope = best_log_loss(-Y.astype(float), smoothed_targets(Y), np.ones(40))
    share = smoothed_targets(Y).mean()
    assert value == pytest.approx(-share * np.log(share) - (1 - share) * np.log(1 - share))
    assert not slope.any()


def test_sides_that_scores_separate_keep_a_finite_map():
    value, slope = best_log_loss(Y * np.linspace(1, 2, 40), smoothed_targets(Y), np.ones(40))
    assert 0 < value < 0.3
    assert np.isfinite(slope).all()

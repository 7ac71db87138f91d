import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
from answers import drawn, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.evaluation.calibration import (
    Binning,
    LabelBinnings,
    brier,
    brier_scores,
    label_reliability,
    top_label_reliability,
)
from audioclass.numerics import log_loss, log_losses


@settings(max_examples=40)
@given(examples())
def test_scikit_learn_agrees_on_losses(sample):
    y, P, weights = sample
    labels = range(P.shape[1])
    assert log_loss(P, y, weights) == pytest.approx(
        sklearn.metrics.log_loss(y, P, sample_weight=weights, labels=labels)
    )
    np.testing.assert_allclose(brier_scores(P, y), ((P - np.eye(P.shape[1])[y]) ** 2).sum(axis=1), atol=1e-15)


def test_scikit_learn_agrees_on_the_brier_score():
    y, P = drawn(50)
    weights = np.arange(1.0, 51)
    judged = sklearn.metrics.brier_score_loss(y, P, sample_weight=weights, labels=range(3), scale_by_half=False)
    assert brier(P, y, weights) == pytest.approx(judged)


def test_certain_and_wrong_costs_much_but_not_infinitely_much():
    P = np.array([[1.0, 0.0]])
    assert log_losses(P, np.array([1]))[0] == pytest.approx(36.04, abs=0.01)
    assert log_losses(P, np.array([0]))[0] == pytest.approx(0, abs=1e-15)
    assert brier_scores(P, np.array([1]))[0] == 2


def test_bins_by_hand():
    y, P = np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.94, 0.06], [0.7, 0.3]])
    curve = top_label_reliability(P, y, P.argmax(axis=1), n_bins=10)
    assert list(curve.weights) == [0] * 6 + [1, 0, 1, 1]
    assert curve.stated[[6, 8, 9]] == pytest.approx([0.7, 0.9, 0.94])
    assert list(curve.observed[[6, 8, 9]]) == [0, 1, 1]
    assert curve.error == pytest.approx((0.7 + 0.1 + 0.06) / 3)
    assert curve.maximum_error == pytest.approx(0.7)


def test_a_bin_holds_its_upper_edge_and_the_first_holds_zero():
    binning = Binning.of(np.array([0.0, 0.2, 0.4, 1.0]), np.zeros(4, bool), 5)
    assert list(binning.bins) == [0, 0, 1, 4]


@settings(max_examples=40)
@given(examples())
def test_scikit_learn_agrees_on_the_curve_of_a_label(sample):
    y, P, _ = sample
    curve = label_reliability(P, y, 0)
    observed, stated = sklearn.calibration.calibration_curve(y == 0, P[:, 0], n_bins=15)
    full = curve.weights > 0
    np.testing.assert_allclose(curve.observed[full], observed)
    np.testing.assert_allclose(curve.stated[full], stated)


@given(examples())
def test_repeating_an_example_is_giving_it_weight(sample):
    y, P, weights = sample
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    given_weight = top_label_reliability(P, y, P.argmax(axis=1), weights)
    repeated = top_label_reliability(P[rows], y[rows], P[rows].argmax(axis=1))
    assert given_weight.error == pytest.approx(repeated.error)
    assert log_loss(P, y, weights) == pytest.approx(log_loss(P[rows], y[rows]))
    assert brier(P, y, weights) == pytest.approx(brier(P[rows], y[rows]))


@given(examples())
def test_error_is_at_most_the_largest_and_at_least_the_gap_of_the_means(sample):
    y, P, weights = sample
    curve = top_label_reliability(P, y, P.argmax(axis=1), weights)
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    overall = abs(np.average(confidence - right, weights=weights))
    assert overall - 1e-12 <= curve.error <= curve.maximum_error + 1e-12


@given(examples())
def test_errors_of_all_labels_at_once_are_those_of_each(sample):
    y, P, weights = sample
    each = [label_reliability(P, y, label, weights).error for label in range(P.shape[1])]
    np.testing.assert_allclose(LabelBinnings.of(P, y).errors(weights), each, atol=1e-12)


@given(st.integers(1, 40))
def test_posteriors_that_come_true_as_often_as_they_say_have_no_error(n):
    came_true = np.arange(10) < 7
    curve = Binning.of(np.full(10, 0.7), came_true, n).reliability()
    assert curve.error == pytest.approx(0)


def test_without_weight_nothing_is_known():
    curve = Binning.of(np.array([0.5]), np.array([True])).reliability(np.zeros(1))
    assert np.isnan([curve.error, curve.maximum_error]).all()
    assert np.isnan(LabelBinnings.of(np.array([[0.5, 0.5]]), np.array([0])).errors(np.zeros(1))).all()

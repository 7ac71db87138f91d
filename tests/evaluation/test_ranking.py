import numpy as np
import pytest
import sklearn.metrics
from answers import drawn, examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from audioclass.evaluation.ranking import auc, hand_till_auc, label_aucs, one_vs_rest_auc, roc_curve

SCORED = st.lists(st.tuples(st.integers(-4, 4), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30)


def columns(scored):
    scores, positive, weights = map(np.array, zip(*scored, strict=True))
    assume(0 < positive.sum() < len(positive))
    return scores.astype(float), positive, weights.astype(float)


@settings(max_examples=40)
@given(SCORED)
def test_scikit_learn_draws_the_same_curve(scored):
    scores, positive, weights = columns(scored)
    curve = roc_curve(scores, positive, weights)
    judged = sklearn.metrics.roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    for ours, other in zip(
        (curve.false_positive_rates, curve.true_positive_rates, curve.thresholds), judged, strict=True
    ):
        np.testing.assert_allclose(ours, other)
    assert curve.area == pytest.approx(sklearn.metrics.roc_auc_score(positive, scores, sample_weight=weights))


@given(SCORED)
def test_one_point_for_each_distinct_score_from_corner_to_corner(scored):
    scores, positive, weights = columns(scored)
    curve = roc_curve(scores, positive, weights)
    assert len(curve.thresholds) == len(np.unique(scores)) + 1
    assert (curve.false_positive_rates[0], curve.true_positive_rates[0]) == (0, 0)
    assert (curve.false_positive_rates[-1], curve.true_positive_rates[-1]) == (1, 1)


@given(SCORED)
def test_area_is_the_chance_that_a_positive_scores_higher(scored):
    scores, positive, weights = columns(scored)
    above = np.sign(scores[positive][:, None] - scores[~positive][None]) / 2 + 0.5
    pairs = weights[positive][:, None] * weights[~positive][None]
    assert auc(scores, positive, weights) == pytest.approx((above * pairs).sum() / pairs.sum())


@given(SCORED)
def test_turning_scores_round_turns_the_area_round(scored):
    scores, positive, weights = columns(scored)
    assert auc(scores, positive, weights) + auc(-scores, positive, weights) == pytest.approx(1)


@given(SCORED)
def test_increasing_maps_leave_the_area_alone(scored):
    scores, positive, weights = columns(scored)
    assert auc(np.exp(scores / 3) - 7, positive, weights) == auc(scores, positive, weights)


@given(SCORED)
def test_corners_keep_the_area(scored):
    scores, positive, weights = columns(scored)
    curve = roc_curve(scores, positive, weights)
    assert len(curve.corners().thresholds) <= len(curve.thresholds)
    assert curve.corners().area == pytest.approx(curve.area)


def test_points_on_a_straight_line_are_no_corners():
    curve = roc_curve(np.array([4.0, 3, 2, 1]), np.array([True, True, False, False])).corners()
    assert list(zip(curve.false_positive_rates, curve.true_positive_rates, strict=True)) == [(0, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize("positive", [[True, True], [False, False]], ids=["positive only", "negative only"])
def test_one_side_alone_has_no_area(positive):
    assert np.isnan(auc(np.array([0.1, 0.2]), np.array(positive)))


@pytest.mark.parametrize("n_labels", [3, 5])
def test_scikit_learn_agrees_on_several_labels(n_labels):
    y, P = drawn(60, n_labels, seed=n_labels)
    assert one_vs_rest_auc(P, y) == pytest.approx(sklearn.metrics.roc_auc_score(y, P, multi_class="ovr"))
    assert hand_till_auc(P, y) == pytest.approx(sklearn.metrics.roc_auc_score(y, P, multi_class="ovo"))


@settings(max_examples=40)
@given(examples())
def test_repeating_an_example_is_giving_it_weight(sample):
    y, P, weights = sample
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    for measure in (label_aucs, one_vs_rest_auc, hand_till_auc):
        np.testing.assert_allclose(measure(P, y, weights), measure(P[rows], y[rows]))


def test_a_label_without_examples_is_left_out_of_the_mean():
    y, P = np.array([0, 0, 1, 1]), np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.1, 0.8, 0.1], [0.2, 0.7, 0.1]])
    np.testing.assert_array_equal(label_aucs(P, y), [1, 1, np.nan])
    assert one_vs_rest_auc(P, y) == 1
    assert hand_till_auc(P, y) == 1

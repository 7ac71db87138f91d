import numpy as np
import pytest
from audioclass_msvm.posteriors import apply_posteriors, fit_posteriors, pair_scores
from sklearn.linear_model import LogisticRegression

from audioclass.calibrators.platt import Platt
from audioclass.numerics import log_loss


def held_out(n_labels=4, n=400, seed=0):
    """Scores whose softmax at temperature 0.5 is the truth."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_labels))
    P = np.exp(2 * scores)
    P /= P.sum(axis=1, keepdims=True)
    return scores, np.array([rng.choice(n_labels, p=row) for row in P]), P


@pytest.mark.parametrize("way", ["pairs", "temperature"])
def test_posteriors_come_near_the_truth(way):
    scores, y, P = held_out(n=4000)
    fitted = fit_posteriors(way, scores, y)
    assert np.abs(apply_posteriors(scores, fitted) - P).mean() < 0.01
    assert log_loss(apply_posteriors(scores, fitted), y) < log_loss(apply_posteriors(scores, {}), y)


@pytest.mark.parametrize("way", ["pairs", "temperature"])
def test_only_differences_of_scores_count(way):
    scores, y, _ = held_out()
    moved = scores + np.random.default_rng(1).normal(size=(len(y), 1))
    P, same = (apply_posteriors(s, fit_posteriors(way, s, y)) for s in (scores, moved))
    np.testing.assert_allclose(P, same, atol=1e-6)


@pytest.mark.parametrize("way", ["pairs", "temperature"])
def test_order_of_labels_does_not_matter(way):
    scores, y, _ = held_out()
    order = np.array([2, 0, 3, 1])
    other = np.empty_like(scores)
    other[:, order] = scores
    P = apply_posteriors(other, fit_posteriors(way, other, order[y]))
    np.testing.assert_allclose(P[:, order], apply_posteriors(scores, fit_posteriors(way, scores, y)), atol=1e-6)


def test_two_labels_are_one_sigmoid_of_the_difference():
    scores, y, _ = held_out(n_labels=2)
    fitted = fit_posteriors("pairs", scores, y)
    f = scores[:, 0] - scores[:, 1]
    platt = Platt().fit(f, 1 - 2 * y, np.ones(len(y)))
    P = apply_posteriors(scores, fitted)
    np.testing.assert_allclose(P[:, 0], Platt().probabilities(f, platt), atol=1e-6)
    judge = LogisticRegression(C=1e6).fit(f[:, None], y == 0)
    assert np.abs(judge.predict_proba(f[:, None])[:, 1] - P[:, 0]).max() < 0.02


def test_pairs_of_a_label_without_held_out_score_share_a_sigmoid():
    scores, y, _ = held_out()
    known = y < 2
    fitted = fit_posteriors("pairs", scores[known], y[known])
    assert len(fitted["slopes"]) == 6
    assert len(set(fitted["slopes"][1:])) == 1
    P = apply_posteriors(scores, fitted)
    assert (P.argmax(axis=1) == scores.argmax(axis=1)).mean() > 0.9
    assert set(P.argmax(axis=1)) == {0, 1, 2, 3}


def test_pairs_are_in_order():
    np.testing.assert_array_equal(pair_scores(np.array([[1.0, 10.0, 100.0]])), [[-9, -99, -90]])

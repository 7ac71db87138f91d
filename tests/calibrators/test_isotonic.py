import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.isotonic import IsotonicRegression

from audioclass.calibrators.isotonic import Isotonic, pool_adjacent, register_calibrators
from audioclass.testing import check_calibrator

ISOTONIC = Isotonic()


def spread_blocks(totals, weights):
    """The mean of its block for each value."""
    starts = pool_adjacent(totals, weights)
    means = np.add.reduceat(totals, starts) / np.add.reduceat(weights, starts)
    return np.repeat(means, np.diff(starts, append=len(totals)))


def test_it_keeps_the_contract():
    (cls,) = register_calibrators()
    check_calibrator(cls())


@given(arrays(np.float64, 25, elements=st.floats(-10, 10)), st.integers(0, 100))
def test_scikit_learn_agrees_on_the_pooled_values(values, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(values))
    expected = IsotonicRegression().fit_transform(np.arange(len(values)), values, sample_weight=weights)
    np.testing.assert_allclose(spread_blocks(values * weights, weights), expected, atol=1e-10)


def test_scikit_learn_agrees_on_the_values_of_the_knots():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=300).round(1), rng.uniform(0.5, 2, 300)  # with ties
    positive = scores + rng.normal(size=300) > 0
    values = IsotonicRegression().fit(scores, positive, sample_weight=weights).predict(np.unique(scores))
    above, below = weights[positive].sum(), weights[~positive].sum()
    expected = 1 / (below + 2) + values * ((above + 1) / (above + 2) - 1 / (below + 2))
    fitted = ISOTONIC.fit(scores, np.where(positive, 1, -1), weights)
    np.testing.assert_allclose(fitted["values"], np.unique(expected.round(12)), atol=1e-11)


def test_knots_worked_out_by_hand():
    # − − + − + +: blocks {0,1}, {2,3}, {4,5} of share 0, ½, 1; the targets are 4/5 and 1/5.
    # The outer knots stand halfway from their centres, 0.5 and 4.5, to the edges 1 and 4.
    fitted = ISOTONIC.fit(np.arange(6.0), np.array([-1, -1, 1, -1, 1, 1]), np.ones(6))
    assert fitted["scores"] == pytest.approx([0.75, 2.5, 4.25])
    assert fitted["values"] == pytest.approx([0.2, 0.5, 0.8])
    P = ISOTONIC.probabilities(np.array([-9, 0.75, 1.625, 2.5, 9]), fitted)
    np.testing.assert_allclose(P, [0.2, 0.2, 0.35, 0.5, 0.8])


def test_equal_scores_are_one():
    fitted = ISOTONIC.fit(np.array([0.0, 0.0, 1.0, 1.0]), np.array([1, -1, 1, 1]), np.ones(4))
    assert fitted["scores"] == [0, 1]
    assert fitted["values"][0] == pytest.approx((1 / 3 + 4 / 5) / 2)


@given(
    arrays(np.float64, 20, elements=st.floats(-5, 5)),
    arrays(np.int64, 20, elements=st.sampled_from([-1, 1])),
    arrays(np.float64, 20, elements=st.floats(0.01, 5)),
)
@pytest.mark.filterwarnings("ignore:isotonic")
def test_the_map_rises_and_stays_between_the_targets(scores, y, weights):
    fitted = ISOTONIC.fit(scores, y, weights)
    P = ISOTONIC.probabilities(np.linspace(-6, 6, 101), fitted)
    assert (np.diff(fitted["scores"]) > 0).all()
    assert (np.diff(fitted["values"]) > 0).all()
    assert (np.diff(P) >= 0).all()
    assert 1 / (weights[y < 0].sum() + 2) - 1e-12 <= P.min()
    assert P.max() <= 1 - 1 / (weights[y > 0].sum() + 2) + 1e-12


def test_the_log_loss_stays_finite_on_separated_scores():
    y = np.repeat([-1, 1], 8)
    P = ISOTONIC.probabilities(np.array([-1e9, 1e9]), ISOTONIC.fit(y * 1.0, y, np.ones(16)))
    np.testing.assert_allclose(P, [0.1, 0.9])

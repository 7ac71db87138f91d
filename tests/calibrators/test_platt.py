import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.calibration import _sigmoid_calibration

from audioclass.calibrators.platt import TOGETHER, Platt, register_calibrators
from audioclass.testing import check_calibrator

PLATT = Platt()


def scored(n, seed=0, slope=2.0):
    """Scores that rise with the labels, and weights."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.2, 1.0, n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-slope * scores)), 1, -1)
    return scores, y, rng.uniform(0.2, 3, n)


def targets(y, weights):
    n_positive, n_negative = weights[y > 0].sum(), weights[y < 0].sum()
    return np.where(y > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def test_it_keeps_the_contract():
    (cls,) = register_calibrators()
    check_calibrator(cls())


@given(st.integers(40, 300), st.integers(0, 1000), st.floats(2, 50))
def test_sums_of_probabilities_and_targets_are_equal_at_the_optimum(n, seed, slope):
    scores, y, weights = scored(n, seed, slope)
    P, t = PLATT.probabilities(scores, PLATT.fit(scores, y, weights)), targets(y, weights)
    assert weights @ P == pytest.approx(weights @ t, abs=1e-8)
    assert weights @ (P * scores) == pytest.approx(weights @ (t * scores), abs=1e-8)


@pytest.mark.parametrize("n", [3, 50, 2000])
def test_a_general_minimiser_agrees(n):
    scores, y, weights = scored(n, seed=1)
    t = targets(y, weights)

    def loss(line):
        z = line[0] * scores + line[1]
        return weights @ (np.logaddexp(0, z) - (1 - t) * z)

    expected = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).x
    fitted = PLATT.fit(scores, y, weights)
    np.testing.assert_allclose([fitted["slope"], fitted["offset"]], expected, atol=1e-5)  # Nelder-Mead's own


@pytest.mark.parametrize("n", [50, 200, 2000])
def test_scikit_learn_agrees(n):
    scores, y, _ = scored(n)
    fitted = PLATT.fit(scores, y, np.ones(n))
    np.testing.assert_allclose([fitted["slope"], fitted["offset"]], _sigmoid_calibration(scores, y), atol=1e-4)


@given(st.floats(1e-6, 1e6), st.integers(0, 50))
def test_a_factor_on_the_scores_divides_the_slope(c, seed):
    scores, y, weights = scored(80, seed)
    plain, scaled = PLATT.fit(scores, y, weights), PLATT.fit(c * scores, y, weights)
    assert scaled["slope"] * c == pytest.approx(plain["slope"], rel=1e-7)
    assert scaled["offset"] == pytest.approx(plain["offset"], abs=1e-7)


def test_exchanging_the_sides_mirrors_the_probabilities():
    scores, y, weights = scored(100)
    P, Q = (PLATT.probabilities(side * scores, PLATT.fit(side * scores, side * y, weights)) for side in (1, -1))
    np.testing.assert_allclose(P + Q, 1, atol=1e-10)


def test_two_separated_scores_reach_their_targets():
    # N₊ = N₋ = 1: the targets 2/3 and 1/3 are met at ±1 by log-odds of ±log 2.
    fitted = PLATT.fit(np.array([-1.0, 1.0]), np.array([-1, 1]), np.ones(2))
    assert fitted["slope"] == pytest.approx(-np.log(2))
    assert fitted["offset"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("side", "expected"), [(1, 6 / 7), (-1, 1 / 7)])
def test_one_side_only_gives_the_rule_of_succession(side, expected):
    fitted = PLATT.fit(np.arange(5.0), np.full(5, side), np.ones(5))
    np.testing.assert_allclose(PLATT.probabilities(np.array([-9.0, 2.0, 9.0]), fitted), expected, atol=1e-9)


def test_constant_scores_give_the_mean_target():
    y = np.repeat([1, -1], [6, 2])
    fitted = PLATT.fit(np.full(8, 0.7), y, np.ones(8))
    assert fitted["slope"] == 0
    assert PLATT.probabilities(np.zeros(1), fitted)[0] == pytest.approx((6 * 7 / 8 + 2 * 1 / 4) / 8)


def test_scores_that_fall_with_the_labels_give_the_same_constant_and_a_warning():
    y = np.repeat([1, -1], [6, 2])
    with pytest.warns(UserWarning, match="platt: the positive side has no higher scores; the probability is the same"):
        fitted = PLATT.fit(-y * np.arange(1.0, 9.0), y, np.ones(8))
    np.testing.assert_allclose(PLATT.probabilities(np.arange(3.0), fitted), (6 * 7 / 8 + 2 * 1 / 4) / 8)


def test_separated_scores_have_a_finite_slope_whatever_their_size():
    y = np.repeat([-1, 1], 50)
    for size in (1e-8, 1.0, 1e8):
        fitted = PLATT.fit(size * y * np.linspace(1, 2, 100), y, np.ones(100))
        assert -20 < fitted["slope"] * size < -1


def test_examples_without_weight_do_not_count():
    scores, y, weights = scored(60)
    weights[:20] = 0
    with_them, without = PLATT.fit(scores, y, weights), PLATT.fit(scores[20:], y[20:], weights[20:])
    assert with_them["slope"] == pytest.approx(without["slope"], rel=1e-9)


def test_many_at_once_are_each_as_alone():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=(150, 120)), rng.uniform(0.5, 2, 150)
    Y = np.where(scores + rng.normal(size=scores.shape) > 0, 1, -1) * (rng.random(scores.shape) < 0.7)
    scores[Y == 0] = np.nan
    assert np.count_nonzero(Y) > TOGETHER  # more than one round
    expected = [PLATT.fit(scores[row, j], Y[row, j], weights[row]) for j, row in enumerate((Y != 0).T)]
    assert PLATT.fit_many(scores, Y, weights) == expected


def test_many_at_once_say_how_many_fall():
    scores = np.arange(6.0)[:, None] * [1, -1, 1]
    with pytest.warns(UserWarning, match="platt, 1 of 3 dichotomies: the positive side"):
        PLATT.fit_many(scores, np.repeat([-1, 1], 3)[:, None] * np.ones((1, 3)), np.ones(6))


@pytest.mark.parametrize(
    ("scores", "Y", "match"),
    [
        (np.ones((3, 2)), np.array([[1, 0], [1, 0], [-1, 0]]), "dichotomy 1 has no score"),
        (np.ones((3, 2)), np.ones((3, 1)), "must be examples by dichotomies"),
        (np.full((3, 1), np.nan), np.ones((3, 1)), "scores hold NaN"),
    ],
)
def test_wrong_tables_are_refused(scores, Y, match):
    with pytest.raises(ValueError, match=match):
        PLATT.fit_many(scores, Y, np.ones(3))


def test_single_precision_scores_give_single_precision_probabilities():
    P = PLATT.probabilities(np.linspace(-3, 3, 7, dtype=np.float32), {"slope": -2.0, "offset": 0.1})
    assert P.dtype == np.float32

import numpy as np
import pytest
from scipy.optimize import minimize

from audioclass.calibrators.beta import Beta, register_calibrators
from audioclass.calibrators.platt import Platt
from audioclass.testing import check_calibrator

BETA = Beta()
GRID = np.linspace(-4, 4, 41)


def scored(kind, n=300, seed=0):
    """Scores with log-odds that are even, bent at 0, or steep on one side and falling on the other; and weights."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    odds = {
        "even": 2 * scores + 0.3,
        "bent": np.where(scores > 0, 4 * scores, scores),
        "falling above": np.where(scores > 0, -2 * scores, 4 * scores) + 1,
        "falling below": np.where(scores > 0, 4 * scores, -2 * scores) - 1,
    }[kind]
    return scores, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), 1, -1), rng.uniform(0.5, 2, n)


def loss_of(scores, y, weights, scale):
    """The objective, as a function of a, b and c, written from the paper and Platt's targets."""
    s = 1 / (1 + np.exp(-scores / scale))
    columns = np.stack([np.log(s), -np.log(1 - s), np.ones(len(s))])
    above, below = weights[y > 0].sum(), weights[y < 0].sum()
    t = np.where(y > 0, (above + 1) / (above + 2), 1 / (below + 2))

    def loss(abc):
        z = abc @ columns
        return weights @ (np.logaddexp(0, z) - t * z), columns @ (weights * (1 / (1 + np.exp(-z)) - t))

    return loss


def test_it_keeps_the_contract():
    (cls,) = register_calibrators()
    check_calibrator(cls())


@pytest.mark.parametrize("kind", ["even", "bent", "falling above", "falling below"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bounded_minimiser_agrees(kind, seed):
    scores, y, weights = scored(kind, seed=seed)
    fitted = BETA.fit(scores, y, weights)
    loss = loss_of(scores, y, weights, fitted["scale"])
    bounds = [(0, None), (0, None), (None, None)]
    found = minimize(loss, np.zeros(3), jac=True, bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    ours = np.array([fitted["a"], fitted["b"], fitted["c"]])
    assert loss(ours)[0] <= found.fun + 1e-9
    np.testing.assert_allclose(ours, found.x, atol=1e-3)  # the minimiser's own


@pytest.mark.parametrize(("kind", "zero"), [("falling above", "b"), ("falling below", "a")])
def test_a_slope_that_would_be_negative_is_zero(kind, zero):
    fitted = BETA.fit(*scored(kind, 2000))
    assert fitted[zero] == 0
    assert fitted["a"] + fitted["b"] > 0


def test_the_gradient_is_zero_at_the_optimum():
    scores, y, weights = scored("bent")
    fitted = BETA.fit(scores, y, weights)
    _, gradient = loss_of(scores, y, weights, fitted["scale"])(np.array([fitted[key] for key in "abc"]))
    np.testing.assert_allclose(gradient, 0, atol=1e-8)


def test_equal_slopes_are_a_sigmoid_of_the_score():
    P = BETA.probabilities(GRID, {"scale": 2.0, "a": 3.0, "b": 3.0, "c": 0.5})
    np.testing.assert_allclose(P, 1 / (1 + np.exp(-1.5 * GRID - 0.5)), atol=1e-14)


def test_value_worked_out_by_hand():
    # Score 0 is s = ½: log-odds −a ln 2 + b ln 2 + c.
    P = BETA.probabilities(np.zeros(1), {"scale": 1.0, "a": 1.0, "b": 2.0, "c": 0.0})
    assert P[0] == pytest.approx(2 / 3)


def test_it_fits_bent_log_odds_better_than_one_sigmoid():
    losses = {}
    new_scores, new_y, _ = scored("bent", 20_000, seed=9)
    for calibrator in (BETA, Platt()):
        P = calibrator.probabilities(new_scores, calibrator.fit(*scored("bent", 5000)))
        losses[calibrator.name] = -np.log(np.where(new_y > 0, P, 1 - P)).mean()
    assert losses["beta"] < losses["platt"] - 0.002


@pytest.mark.parametrize("c", [1e-6, 1e6])
def test_a_factor_on_the_scores_changes_no_probability(c):
    scores, y, weights = scored("bent")
    plain, scaled = BETA.fit(scores, y, weights), BETA.fit(c * scores, y, weights)
    np.testing.assert_allclose(BETA.probabilities(c * GRID, scaled), BETA.probabilities(GRID, plain), atol=1e-9)


def test_scores_of_zero_give_the_mean_target():
    fitted = BETA.fit(np.zeros(8), np.repeat([1, -1], [6, 2]), np.ones(8))
    np.testing.assert_allclose(BETA.probabilities(GRID, fitted), (6 * 7 / 8 + 2 * 1 / 4) / 8)

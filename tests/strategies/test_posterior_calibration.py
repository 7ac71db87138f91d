"""The last step of a strategy: posteriors that come true as often as they say, with the order of labels as it was."""

import numpy as np
import pytest
from answers import examples
from hypothesis import given
from scipy.optimize import minimize

from audioclass.evaluation.calibration import Binning
from audioclass.numerics import log_loss, softmax
from audioclass.strategies.posterior_calibration import PosteriorCalibration, fit_posterior_calibration


def drawn(n, n_labels=6, seed=0):
    """Posteriors that are exactly right, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    P = softmax(2 * rng.normal(size=(n, n_labels)))
    return P, (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_labels - 1)


def ece(P, y):
    return Binning.of(P.max(axis=1), P.argmax(axis=1) == y).reliability().error


SPOILT = {
    "too faint": lambda P: softmax(np.log(P), 3.0),
    "too sure": lambda P: softmax(np.log(P), 0.3),
    "vote shares": lambda P: (P[:, :, None] > P[:, None, :]).sum(axis=2) / 15,
    "now and then quite wrong": lambda P: np.where(np.arange(len(P))[:, None] % 4 == 0, np.roll(P, 1, axis=1), P),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_spoilt_posteriors_come_true_again(spoilt):
    P, y = drawn(12_000)
    wrong = SPOILT[spoilt](P)
    half = np.arange(len(y)) // 4 % 2 == 0
    calibration = fit_posterior_calibration(wrong[half], y[half])
    mended = calibration.apply(wrong[~half])
    assert ece(wrong[~half], y[~half]) > 0.05 > 0.03 > ece(mended, y[~half])
    assert log_loss(mended, y[~half]) < log_loss(wrong[~half], y[~half])
    np.testing.assert_allclose(mended.sum(axis=1), 1)


@given(examples(), examples())
def test_the_largest_stays_the_largest(known, new):
    y, P, weights = known
    calibration = fit_posterior_calibration(P, y, weights)
    for Q in (P, new[1], np.eye(P.shape[1]), np.ones((1, P.shape[1])) / P.shape[1]):
        mended = calibration.apply(Q)
        assert (mended >= 0).all()
        np.testing.assert_allclose(mended.sum(axis=1), 1)
        np.testing.assert_array_equal(mended.argmax(axis=1), Q.argmax(axis=1))


def test_labels_keep_their_order():
    P, y = drawn(200)
    mended = fit_posterior_calibration(SPOILT["too faint"](P), y).apply(P)
    np.testing.assert_array_equal(np.argsort(mended, axis=1), np.argsort(P, axis=1))


def test_temperature_and_shares_are_those_of_the_lowest_log_loss():
    P, y = drawn(400)
    wrong = SPOILT["now and then quite wrong"](SPOILT["too sure"](P))
    weights = np.random.default_rng(1).uniform(0.2, 3, len(y))
    calibration = fit_posterior_calibration(wrong, y, weights)

    def loss(theta):
        rest, uniform, decision = softmax(np.array([0.0, *theta[1:]]))
        mixed = rest * softmax(np.log(np.maximum(wrong, 1e-6)), np.exp(theta[0])) + uniform / 6
        mixed += decision * np.eye(6)[wrong.argmax(axis=1)]
        return log_loss(mixed, y, weights)

    best = minimize(loss, [1.0, -2.0, -2.0], method="Nelder-Mead", options={"maxiter": 2000, "fatol": 1e-12})
    shares = np.array([calibration.uniform_share, calibration.decision_share])
    theta = [np.log(calibration.temperature), *np.log(np.maximum(shares, 1e-12) / (1 - shares.sum()))]
    assert loss(theta) == pytest.approx(best.fun, abs=1e-5)


def test_defaults_change_nothing():
    P, _ = drawn(50)
    np.testing.assert_allclose(PosteriorCalibration().apply(P), P, atol=1e-12)


def test_perfect_posteriors_keep_a_finite_fit():
    y = np.arange(30) % 3
    calibration = fit_posterior_calibration(np.eye(3)[y], y)
    assert 0.85 < calibration.apply(np.eye(3)).max() < 1


def test_it_comes_back_from_plain_numbers():
    P, y = drawn(100)
    calibration = fit_posterior_calibration(P, y)
    assert PosteriorCalibration.of_plain(calibration.to_plain()) == calibration


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.0}, "temperature and scale must be positive"),
        ({"uniform_share": 0.5, "decision_share": 0.5}, "shares must be at least 0 and together below 1"),
        ({"exponent": float("nan")}, "exponent=nan must be a finite number"),
        ({"scale": "2"}, "scale='2' must be a finite number"),
    ],
)
def test_wrong_numbers_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        PosteriorCalibration.of_plain({**PosteriorCalibration().to_plain(), **changes})


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match="'T' must be temperature, uniform_share, decision_share, scale, exponent"):
        PosteriorCalibration.of_plain({"T": 1.0})

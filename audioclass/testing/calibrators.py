"""The contract of a calibrator (specification 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.contracts import CalibratesMany
from audioclass.plain import is_plain
from audioclass.testing.checks import (
    COMMON,
    Check,
    repeated,
    require,
    require_close,
    require_refusal,
    skip_unless,
    unchanged,
)


def _scored(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores whose true log-odds are twice the score, labels drawn by them, weights of one."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.2, 1.0, n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * scores)), 1, -1)
    return scores, y, np.ones(n)


def fitted_numbers_are_plain(calibrator: Any) -> None:
    """What it learns is plain numbers that JSON can hold."""
    fitted = unchanged(_scored(), lambda: calibrator.fit(*_scored()))
    require(is_plain(dict(fitted)), f"{fitted} holds something that JSON cannot")


def probabilities_are_probabilities(calibrator: Any) -> None:
    """Every score, however large, gets a number from 0 to 1 that never falls as the score rises."""
    fitted = calibrator.fit(*_scored())
    grid = np.concatenate([[-1e6, -50], np.linspace(-4, 4, 201), [50, 1e6]])
    P = repeated(lambda: unchanged([grid], lambda: calibrator.probabilities(grid, fitted)), "probabilities")
    require(P.shape == grid.shape, f"shape {P.shape} for scores of shape {grid.shape}")
    require(((P >= 0) & (P <= 1)).all(), f"values from {P.min()} to {P.max()}")
    require((np.diff(P) >= -1e-12).all(), "a higher score got a lower probability")


def probabilities_fit_the_labels(calibrator: Any) -> None:
    """On honest scores it predicts labels better than their frequency does, and as often as they come."""
    fitted = calibrator.fit(*_scored(2000))
    scores, y, _ = _scored(2000, seed=1)
    P = np.clip(calibrator.probabilities(scores, fitted), 1e-7, 1 - 1e-7)
    loss, prior = -np.mean(np.log(np.where(y == 1, P, 1 - P))), np.mean(y == 1)
    entropy = -prior * np.log(prior) - (1 - prior) * np.log(1 - prior)
    require(loss < 0.9 * entropy, f"log-loss {loss:.3f}, {entropy:.3f} without any score")
    require(abs(P.mean() - prior) < 0.05, f"mean probability {P.mean():.3f}, frequency {prior:.3f}")


def weight_two_is_twice(calibrator: Any) -> None:
    """An example of weight 2 counts as two examples."""
    scores, y, weights = _scored(60)
    weights[:20] = 2
    twice = np.repeat(np.arange(60), weights.astype(int))
    weighted = calibrator.fit(scores, y, weights)
    repeated_ = calibrator.fit(scores[twice], y[twice], np.ones(len(twice)))
    grid = np.linspace(-3, 3, 31)
    require_close(
        calibrator.probabilities(grid, weighted), calibrator.probabilities(grid, repeated_), 1e-3, "probabilities"
    )


def odd_scores_are_survived(calibrator: Any) -> None:
    """Constant scores, perfectly separated ones and two examples all give finite probabilities."""
    separated = np.concatenate([np.full(10, -2.0), np.full(10, 2.0)])
    y = np.repeat([-1, 1], 10)
    for scores, labels in ((np.full(20, 0.7), y), (separated, y), (separated[9:11], y[9:11])):
        fitted = calibrator.fit(scores, labels, np.ones(len(labels)))
        P = calibrator.probabilities(np.array([-2.0, 0.0, 0.7, 2.0]), fitted)
        require(((P >= 0) & (P <= 1)).all(), f"{P} for scores {np.unique(scores)}")


def many_are_as_if_each_were_alone(calibrator: Any) -> None:
    """Several dichotomies fitted together are fitted as if each were alone."""
    skip_unless(isinstance(calibrator, CalibratesMany), "it has no fit_many(…)")
    scores, y, weights = _scored(60)
    both, Y = np.stack([scores, -(scores**3) - 0.1], axis=1), np.stack([y, -y], axis=1)
    Y[:15, 0], weights[20:30] = 0, 2
    grid = np.linspace(-3, 3, 31)
    for column, fitted in enumerate(calibrator.fit_many(both, Y, weights)):
        rows = Y[:, column] != 0
        alone = calibrator.fit(both[rows, column], Y[rows, column], weights[rows])
        P, expected = (calibrator.probabilities(grid, each) for each in (fitted, alone))
        require_close(P, expected, 1e-9, "probabilities")


def bad_scores_are_refused(calibrator: Any) -> None:
    """NaN scores and no scores at all are a ValueError."""
    scores, y, weights = _scored(20)
    scores[3] = np.nan
    require_refusal(lambda: calibrator.fit(scores, y, weights), "NaN")
    require_refusal(lambda: calibrator.fit(scores[:0], y[:0], weights[:0]), "no score")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    fitted_numbers_are_plain,
    probabilities_are_probabilities,
    probabilities_fit_the_labels,
    weight_two_is_twice,
    many_are_as_if_each_were_alone,
    odd_scores_are_survived,
    bad_scores_are_refused,
)

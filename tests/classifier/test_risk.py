"""Sets of labels by a hand-worked threshold, and their coverage."""

import numpy as np
import pytest

from audioclass.classifier.risk import Risk, members_of, nonconformities, sets_of
from audioclass.training.risk import HeldOutPosteriors, fit_risk


def risk_of(values, weights=None):
    values = np.array(values, np.float32)
    weights = np.ones(len(values), np.float32) if weights is None else np.array(weights, np.float32)
    return Risk(values, weights, values, weights)


def test_the_nonconformity_of_the_likeliest_label_is_none():
    P = np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
    assert nonconformities(P, np.array([0, 1])) == pytest.approx([0, 0.7])


def test_the_threshold_leaves_a_standard_error_less_than_the_risk_of_groups_beyond_it():
    risk = risk_of(np.arange(1, 20) / 20)
    # The standard error of 0.5 is 0.115: (1 − 0.385) · (19 + 1) = 12.3 of 19 must be within.
    assert risk.threshold(0.5) == pytest.approx(0.65)
    assert risk.threshold(0.2) == pytest.approx(0.9)  # (1 − 0.2 + 0.092) · 20 = 17.8
    assert risk.threshold(0.1) == pytest.approx(0.95)  # 0.1 − 0.069 is less than one of 20
    assert risk.threshold(0.05) == pytest.approx(0.95)
    assert risk.threshold(0.04) == float("inf")  # 19 groups cannot promise less than 1 of 20
    assert risk.n_groups == 19


def test_clips_of_one_group_count_as_one():
    risk = risk_of([0.1, 0.2, 0.3, 0.4], [1, 1, 0.5, 0.5])
    assert risk.threshold(0.9) == pytest.approx(0.2)  # (1 − 0.9 + 0.173) · 4 = 1.1
    assert risk.threshold(0.6) == pytest.approx(0.4)  # (1 − 0.6 + 0.283) · 4 = 2.7


def test_a_set_holds_the_likeliest_label_and_all_that_reach_the_threshold():
    P, labels = np.array([[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]), ("a", "b", "c")
    assert sets_of(P, labels, members_of(P, 0.7)) == (("b", "c"), ("a", "b", "c"))
    assert sets_of(P, labels, members_of(P, 0.1)) == (("b",), ("a",))
    assert sets_of(P, labels, members_of(P, float("inf")))[0] == ("b", "c", "a")
    assert sets_of(P[:0], labels, members_of(P[:0], 0.7)) == ()


def test_sets_grow_as_the_risk_falls():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(6) / 2, 200)
    risk = fit_risk(HeldOutPosteriors(P, rng.integers(6, size=200), np.arange(200), [str(i) for i in range(200)]))
    sizes = [members_of(P, risk.threshold(level)).sum(axis=1) for level in (0.3, 0.1, 0.02)]
    assert (sizes[0] <= sizes[1]).all()
    assert (sizes[1] <= sizes[2]).all()


@pytest.mark.parametrize("level", [0.2, 0.1, 0.05])
def test_new_groups_are_covered_as_promised(level):
    rng = np.random.default_rng(1)
    rates = []
    for _ in range(60):
        P = rng.dirichlet(np.ones(8) / 3, 600)
        sharper = P**0.7 / (P**0.7).sum(axis=1, keepdims=True)  # the truth is less sure than the posteriors
        y = (rng.random(600)[:, None] > sharper.cumsum(axis=1)).sum(axis=1).clip(max=7)
        risk = fit_risk(HeldOutPosteriors(P[:200], y[:200], np.arange(200), [str(i) for i in range(200)]))
        inside = members_of(P[200:], risk.threshold(level))
        rates.append(inside[np.arange(400), y[200:]].mean())
    error = np.sqrt(level * (1 - level) / 200)
    assert np.mean(rates) == pytest.approx(1 - level + error, abs=0.012)
    assert np.mean(np.array(rates) >= 1 - level) > 0.65  # five of six, but for the 400 that they are measured on


def test_windows_and_clips_are_calibrated_apart():
    P = np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2], [0.6, 0.4]])
    risk = fit_risk(HeldOutPosteriors(P, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), ["a", "a", "b", "b"]))
    assert risk.windows == pytest.approx([0, 0.6, 0.7, 0.8])
    # The means of the clips are 0.6, which is right, and 0.7 of the wrong label.
    assert risk.clips == pytest.approx([0, 0.7])
    assert risk.clip_weights.tolist() == [1, 1]


def test_a_single_group_promises_nothing():
    assert fit_risk(HeldOutPosteriors(np.eye(2), np.array([0, 1]), np.zeros(2), ["a", "b"])) is None


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("clips", np.array([0.5, 0.2], np.float32)),
        ("clips", np.array([0.5, 1.2], np.float32)),
        ("clip_weights", np.array([1.0], np.float32)),
        ("clip_weights", np.array([1.0, -1.0], np.float32)),
        ("windows", np.zeros(0, np.float32)),
        ("windows", np.zeros(2, np.int32)),
    ],
)
def test_arrays_that_are_no_risk_are_refused(name, array):
    with pytest.raises(ValueError, match=r"arrays of|must rise"):
        Risk.of_arrays(risk_of([0.1, 0.4]).arrays() | {name: array})

"""The second stage: what it minimises, what it learns, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from audioclass.numerics import log_loss, softmax
from audioclass.strategies.second_stage import (
    OFFSET_PENALTY,
    SecondStage,
    StageProblem,
    fit_second_stage,
    logarithms,
    penalty_by_rule,
)


def confused(n=600, n_labels=4, seed=0):
    """Posteriors of labels of which the first is often taken for the second, with a column that tells them apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_labels, size=n)
    taken_for = np.where((y == 0) & (rng.random(n) < 0.7), 1, y)
    P = softmax(1.5 * np.eye(n_labels)[taken_for] + rng.normal(size=(n, n_labels)))
    return P, y, ((y == 0) + rng.normal(0, 0.3, n))[:, None]


def problem(columns=True, penalty=0.1):
    P, y, E = confused(40)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    return StageProblem.of(logarithms(P), y, weights, E if columns else None, penalty)


@pytest.mark.parametrize("columns", [False, True])
def test_the_gradient_is_that_of_the_loss(columns):
    one = problem(columns)
    theta = np.random.default_rng(2).normal(0, 0.3, len(one.start))
    expected = approx_fprime(theta, lambda at: one.loss(at)[0], 1e-7)
    np.testing.assert_allclose(one.loss(theta)[1], expected, atol=1e-5)


def test_a_case_of_two_rows_and_two_labels_worked_out_by_hand():
    one = StageProblem.of(np.log([[0.8, 0.2], [0.4, 0.6]]), np.array([0, 1]), np.array([3.0, 1.0]), None, 0.5)
    at_start = -(3 * np.log(0.8) + np.log(0.6)) / 4
    assert one.loss(one.start)[0] == pytest.approx(at_start)
    theta = np.array([1.0, 0.2, -0.1, 0.0, 0.0, 0.0, 0.0])  # a = 1, b = (0.2, −0.1), W = 0
    shifted = [0.8 * np.exp(0.2), 0.2 * np.exp(-0.1)], [0.4 * np.exp(0.2), 0.6 * np.exp(-0.1)]
    right = [shifted[0][0] / sum(shifted[0]), shifted[1][1] / sum(shifted[1])]
    penalised = -(3 * np.log(right[0]) + np.log(right[1])) / 4 + OFFSET_PENALTY * 0.05
    assert one.loss(theta)[0] == pytest.approx(penalised)
    theta[3] = 0.3  # W of the first label for itself
    moved = (np.log([0.8, 0.4]) - (3 * np.log(0.8) + np.log(0.4)) / 4) * 0.3
    first = np.array([shifted[0][0], shifted[1][0]]) * np.exp(moved)
    second = np.array([shifted[0][1], shifted[1][1]])
    right = first[0] / (first[0] + second[0]), second[1] / (first[1] + second[1])
    expected = -(3 * np.log(right[0]) + np.log(right[1])) / 4 + OFFSET_PENALTY * 0.05 + 0.5 * 0.09
    assert one.loss(theta)[0] == pytest.approx(expected)


def test_it_finds_what_another_method_finds():
    P, y, _ = confused(60, 3)
    one = StageProblem.of(logarithms(P), y, np.ones(60), None, 0.05)
    expected = minimize(lambda at: one.loss(at)[0], one.start, method="BFGS", jac=lambda at: one.loss(at)[1]).fun
    stage = fit_second_stage(P, y, 0.05)
    theta = np.concatenate([stage.scale, stage.offsets, stage.weights.ravel()])
    assert one.loss(theta)[0] == pytest.approx(expected, abs=1e-6)


def test_what_labels_attract_is_learnt_and_helps_on_new_rows():
    P, y, _ = confused()
    new, truth, _ = confused(seed=1)
    stage = fit_second_stage(P, y, 0.01)
    assert log_loss(stage.apply(new), truth) < log_loss(new, truth) - 0.02
    assert stage.weights[1, 0] == stage.weights[~np.eye(4, dtype=bool)].max()  # who says 1 may mean 0


def test_a_large_penalty_leaves_a_temperature_and_offsets():
    P, y, _ = confused()
    stage = fit_second_stage(P, y, 1e5)
    assert np.abs(stage.weights).max() < 1e-5
    L = logarithms(P)
    np.testing.assert_allclose(stage.apply(P), softmax(stage.scale * L + stage.offsets), atol=1e-5)
    assert log_loss(stage.apply(P), y) < log_loss(P, y) - 0.001


def test_the_start_is_the_posteriors_themselves():
    P, y, _ = confused()
    one = StageProblem.of(logarithms(P), y, np.ones(len(y)), None, 1.0)
    np.testing.assert_allclose(one.stage(one.start).apply(P), P, atol=1e-12)


def test_further_columns_help_where_they_tell_more():
    P, y, E = confused()
    new, truth, more = confused(seed=1)
    with_columns, without = fit_second_stage(P, y, 0.01, columns=E), fit_second_stage(P, y, 0.01)
    assert log_loss(with_columns.apply(new, more), truth) < log_loss(without.apply(new), truth) - 0.02
    with pytest.raises(ValueError, match="further scores have shape None, must be"):
        with_columns.apply(new)


def test_permuting_labels_permutes_everything():
    P, y, E = confused()
    order = np.array([2, 0, 3, 1])
    one, other = (fit_second_stage(Q, z, 0.05, columns=E) for Q, z in ((P, y), (P[:, order], np.argsort(order)[y])))
    np.testing.assert_allclose(other.apply(P[:, order], E), one.apply(P, E)[:, order], atol=1e-4)
    np.testing.assert_allclose(other.weights, one.weights[np.ix_(order, order)], atol=2e-3)


def test_weights_are_repeated_rows():
    P, y, E = confused(120)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weights)
    one = fit_second_stage(P, y, 0.05, weights.astype(float), E)
    other = fit_second_stage(P[twice], y[twice], 0.05, columns=E[twice])
    np.testing.assert_allclose(one.apply(P, E), other.apply(P, E), atol=1e-4)


def test_the_rule_asks_for_less_the_more_rows_there_are():
    assert penalty_by_rule(1600) == 0.025
    assert penalty_by_rule(0) == penalty_by_rule(1) == 40


def test_posteriors_of_zero_and_no_rows_are_survived():
    stage = fit_second_stage(*confused()[:2], 0.1)
    for P in (np.eye(4), np.empty((0, 4))):
        mended = stage.apply(P)
        assert np.isfinite(mended).all()
        np.testing.assert_allclose(mended.sum(axis=1), 1)


def test_arrays_come_back():
    P, y, E = confused()
    stage = fit_second_stage(P, y, 0.1, columns=E)
    np.testing.assert_array_equal(SecondStage.of_arrays(stage.arrays()).apply(P, E), stage.apply(P, E))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("weights", np.zeros((4, 3)), r"weights has shape \(4, 3\)"),
        ("weights", np.zeros(16), "weights has shape"),
        ("offsets", np.zeros(3), "means has shape|weights has shape"),
        ("column_weights", np.zeros((1, 4)), "column_weights has shape"),
        ("scale", np.array([np.nan]), "scale must hold finite numbers"),
        ("means", np.full(4, 1e30), "means must hold finite numbers of at most 1e"),
        ("scale", np.zeros(0), "scale has shape"),
    ],
)
def test_hostile_arrays_are_refused(name, array, message):
    stage = fit_second_stage(*confused()[:2], 0.1)
    with pytest.raises(ValueError, match=message):
        SecondStage.of_arrays({**stage.arrays(), name: array})
    with pytest.raises(ValueError, match="must be column_means"):
        SecondStage.of_arrays({"W": array})
    with pytest.raises(ValueError, match="of floats"):
        replace(stage, scale=np.array(["1"]))


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.inf, np.nan])
def test_a_penalty_is_positive(penalty):
    with pytest.raises(ValueError, match="must be positive and finite"):
        fit_second_stage(*confused()[:2], penalty)

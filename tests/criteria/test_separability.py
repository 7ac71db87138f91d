import numpy as np
import pytest
from gram_matrices import centred

from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.separability import (
    ClassSeparability,
    ClassSeparabilityC,
    RegularisedSeparability,
    RegularisedSeparabilityC,
    scatter,
)
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram_and_gradients

RNG = np.random.default_rng(0)
X = RNG.normal(size=(18, 3))
LABELS = np.repeat([0, 1, 2], 6)
SIDES = np.where(LABELS == 0, 1, -1)
NOTHING = np.zeros(18)
PAIRS = [(ClassSeparabilityC, ClassSeparability), (RegularisedSeparabilityC, RegularisedSeparability)]


def problem(y=SIDES, sigma=1.0, C=2.0):
    K, gradients = gram_and_gradients(Gaussian(sigma), X)
    return SelectionProblem(K, y, C, gradients=gradients)


@pytest.mark.parametrize("y", [SIDES, LABELS], ids=["two", "three"])
def test_scatters_of_a_linear_kernel_are_those_of_the_points(y):
    between, within, trace = scatter(X @ X.T, NOTHING, y)
    means = {label: X[y == label].mean(axis=0) for label in np.unique(y)}
    assert within == pytest.approx(sum(((X[y == label] - m) ** 2).sum() for label, m in means.items()))
    own = [(y == label).sum() * ((m - X.mean(axis=0)) ** 2).sum() for label, m in means.items()]
    assert between == pytest.approx(sum(own))
    assert trace == pytest.approx((X**2).sum())


def test_scatters_add_up_to_the_centred_trace():
    judged = problem()
    between, within, _ = scatter(judged.K, NOTHING, judged.y)
    assert between + within == pytest.approx(np.trace(centred(judged.K)))


def test_wide_kernels_see_what_the_points_are():
    between, within, _ = scatter(X @ X.T, NOTHING, SIDES)
    assert ClassSeparability().value(problem(sigma=1e3)) == pytest.approx(between / within, rel=1e-3)
    assert RegularisedSeparability().value(problem(sigma=1e3)) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("y", [SIDES, LABELS], ids=["two", "three"])
def test_the_identity_gives_the_count_alone(y):
    Q = len(np.unique(y))
    assert ClassSeparability().value(SelectionProblem(np.eye(18), y)) == pytest.approx((Q - 1) / (18 - Q))
    assert ClassSeparabilityC().value(problem(y, C=1e-12)) == pytest.approx((Q - 1) / (18 - Q))


@pytest.mark.parametrize(("adjusted", "plain"), PAIRS)
def test_adjusted_forms_are_the_plain_ones_of_K_plus_a_ridge(adjusted, plain):
    judged = problem()
    ridged = SelectionProblem(judged.K + np.eye(18) / 2, judged.y)
    assert adjusted().value(judged) == pytest.approx(plain().value(ridged))
    assert adjusted().value(problem(C=1e12)) == pytest.approx(plain().value(judged))


def test_labels_whose_examples_coincide_are_infinitely_apart():
    y = np.array([1, 1, -1, -1])
    assert ClassSeparability().value(SelectionProblem(np.outer(y, y).astype(float), y)) == np.inf
    assert ClassSeparability().value(SelectionProblem(np.zeros((4, 4)), y)) == 0


@pytest.mark.parametrize("criterion", [criterion for pair in PAIRS for criterion in pair])
def test_derivatives_agree_with_differences_for_three_labels(criterion):
    slopes, h = criterion().gradient(problem(LABELS)), 1e-5
    ways = {"sigma": [problem(LABELS, sigma=1 + s) for s in (h, -h)], "C": [problem(LABELS, C=2 + s) for s in (h, -h)]}
    for name, slope in slopes.items():
        up, down = (criterion().value(judged) for judged in ways[name])
        assert slope == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-9)

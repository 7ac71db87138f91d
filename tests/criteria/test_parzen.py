import numpy as np
import pytest

from audioclass.criteria.parzen import ParzenSeparability, ParzenSeparabilityC
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.gaussian_scaled import window_of
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram, gram_and_gradients

X = np.random.default_rng(0).normal(size=(15, 2))
Y = np.where(np.arange(15) < 6, 1, -1)


def problem(sigma=0.7, C=2.0):
    K, gradients = gram_and_gradients(UnscaledGaussian(sigma), X)
    return SelectionProblem(K, Y, C, gradients=gradients, parameters={"sigma": sigma}, window=sigma)


def density(x, among, sigma):
    return np.mean(np.exp(-((x - among) ** 2).sum(axis=1) / (2 * sigma**2))) / (np.sqrt(2 * np.pi) * sigma)


def test_it_is_own_density_less_the_other_side_by_side():
    own = [Y[j] * (density(X[j], X[Y > 0], 0.7) - density(X[j], X[Y < 0], 0.7)) for j in range(15)]
    expected = sum(np.mean(np.array(own)[side == Y]) for side in (1, -1))
    assert ParzenSeparability().value(problem()) == pytest.approx(expected)


def test_densities_of_more_dimensions_are_normalised_for_them():
    window = np.sqrt(2 * np.pi) * 0.7
    in_one = ParzenSeparability().value(problem())
    assert ParzenSeparability(dimension=2).value(problem()) == pytest.approx(in_one / window)


def test_left_out_of_its_own_density_an_example_does_not_blow_it_up():
    assert ParzenSeparability().value(problem(sigma=1e-4)) > 100
    assert ParzenSeparability(leave_one_out=True).value(problem(sigma=1e-4)) == pytest.approx(0)


def test_the_adjusted_form_adds_the_ridge():
    extra = 15 / (6 * 9 * 2.0) / (np.sqrt(2 * np.pi) * 0.7)
    assert ParzenSeparabilityC().value(problem()) == pytest.approx(ParzenSeparability().value(problem()) + extra)


def test_a_kernel_that_is_no_gaussian_is_refused():
    with pytest.raises(ValueError, match="parzen_separability needs a Gaussian kernel, which alone is a Parzen window"):
        ParzenSeparability().value(SelectionProblem(np.eye(15), Y, parameters={"sigma": 2.0}))


def test_the_sigma_of_a_feature_becomes_that_of_all():
    in_five = np.random.default_rng(1).normal(size=(15, 5))
    scaled, plain = Gaussian(0.7), UnscaledGaussian(0.7 * (5 / 2) ** 0.5)
    values = [
        ParzenSeparability().value(SelectionProblem(gram(kernel, in_five), Y, window=window_of(kernel, 5)))
        for kernel in (scaled, plain)
    ]
    assert values[0] == pytest.approx(values[1])
    assert window_of(Linear(), 5) is None


@pytest.mark.parametrize(
    "criterion",
    [ParzenSeparability(dimension=3), ParzenSeparability(leave_one_out=True), ParzenSeparabilityC()],
    ids=["three_dimensions", "leave_one_out", "adjusted"],
)
def test_derivatives_agree_with_differences(criterion):
    slopes, h = criterion.gradient(problem()), 1e-5
    by_sigma = (criterion.value(problem(0.7 + h)) - criterion.value(problem(0.7 - h))) / (2 * h)
    by_C = (criterion.value(problem(C=2 + h)) - criterion.value(problem(C=2 - h))) / (2 * h)
    assert slopes["sigma"] == pytest.approx(by_sigma, rel=1e-6)
    assert slopes.get("C", 0.0) == pytest.approx(by_C, abs=1e-8)


def test_left_out_of_its_own_density_the_adjusted_form_does_not_depend_on_C():
    adjusted = ParzenSeparabilityC(leave_one_out=True)
    assert adjusted.value(problem(C=1.0)) == adjusted.value(problem(C=9.0))
    assert adjusted.depends_on == frozenset()
    assert ParzenSeparabilityC().depends_on == {"C"}

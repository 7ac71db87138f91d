"""The optimum is proven by what any optimum fulfils, so no other solver is needed to judge it."""

import numpy as np
import pytest

from audioclass.criteria.dual import Dual
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram


def examples(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1, -1)


def violation(dual, optimum):
    """By how much two examples disagree on the bias, in units of the margin; at most 0 at the optimum."""
    e = dual.y - dual.A @ optimum.beta
    np.testing.assert_allclose(optimum.e, e, atol=1e-9)
    assert (dual.low <= optimum.beta).all()
    assert (optimum.beta <= dual.high).all()
    assert optimum.beta.sum() == pytest.approx(0, abs=1e-9)
    return e[optimum.beta < dual.high].max() - e[optimum.beta > dual.low].min()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", "copies"])
def test_from_nothing_it_ends_at_the_optimum(loss, C, kernel):
    X, y = examples()
    X = np.round(X) if kernel == "copies" else X
    K = gram(Gaussian(), X) if kernel == "gaussian" else X @ X.T
    dual = Dual.of(K, y, C, np.random.default_rng(1).uniform(0.5, 2, len(y)), loss)
    optimum = dual.optimum(np.zeros(len(y)))
    assert violation(dual, optimum) < 1e-8
    np.testing.assert_allclose(optimum.e[optimum.free], optimum.b, atol=1e-8)


def test_hard_margins_reach_1():
    X, y = examples()
    X[:, 0] = np.abs(X[:, 0]) * y + y
    dual = Dual.of(X @ X.T, y, 1.0, np.ones(len(y)), "hard_margin")
    optimum = dual.optimum(np.zeros(len(y)))
    margins = y * (dual.A @ optimum.beta + optimum.b)
    assert margins.min() == pytest.approx(1)
    np.testing.assert_allclose(margins[optimum.free], 1)


def test_where_no_margin_separates_there_is_no_hard_margin():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, -1, 1])
    with pytest.raises(ValueError, match="no margin separates"):
        Dual.of(X @ X.T, y, 1.0, np.ones(3), "hard_margin").optimum(np.zeros(3))


def test_without_a_free_vector_the_bias_is_the_middle_of_its_interval():
    X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([-1, -1, 1, 1])
    optimum = Dual.of(X @ X.T, y, 0.01, np.ones(4)).optimum(np.zeros(4))
    np.testing.assert_allclose(np.abs(optimum.beta), 0.01)
    assert len(optimum.free) == 0
    assert optimum.b == pytest.approx((-1 + 0.6) / 2)  # w = 0.08: b from −1, of x = 0, to 1 − 5w, of x = 5


def test_a_loss_without_support_vectors_is_refused():
    with pytest.raises(ValueError, match="loss 'squared' has no support vectors, must be one of hinge"):
        Dual.of(np.eye(2), np.array([1, -1]), 1.0, np.ones(2), "squared")

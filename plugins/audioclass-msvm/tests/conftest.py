import numpy as np
import pytest
from audioclass_msvm.solver import Problem

from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.polynomial import Polynomial
from audioclass.kernels.statistics import gram


def _random_problem(seed: int, C: float, slack: str = "sum", *, bias: bool = True, n_labels: int | None = None):
    """Groups of points that may overlap or lie apart, of unequal sizes, under one of three kernels."""
    rng = np.random.default_rng(seed)
    n_labels = n_labels or int(rng.integers(2, 6))
    n, d = int(rng.integers(2 * n_labels, 45)), int(rng.integers(1, 5))
    y = np.concatenate([np.arange(n_labels), rng.choice(n_labels, n - n_labels, p=rng.dirichlet(np.ones(n_labels)))])
    X = rng.normal(size=(n, d)) + rng.choice([0, 1, 3]) * rng.normal(size=(n_labels, d))[y]
    kernel = (Linear(), Gaussian(10 ** rng.uniform(-0.3, 0.7)), Polynomial(degree=2))[rng.integers(3)]
    return Problem(gram(kernel, X), y, np.full(n, C), slack, bias)


def _separable_problem(seed: int, n_labels: int | None = None):
    """A few points under a kernel that separates any labels of them."""
    rng = np.random.default_rng(seed)
    n_labels = n_labels or int(rng.integers(2, 5))
    y = np.concatenate([np.arange(n_labels), np.arange(n_labels), rng.integers(0, n_labels, 6)])
    X = rng.normal(size=(len(y), 2)) + 1.5 * rng.normal(size=(n_labels, 2))[y]
    return Problem(gram(Gaussian(rng.uniform(0.3, 0.8)), X), y, np.full(len(y), np.inf), "sum", True)


@pytest.fixture(scope="session")
def random_problem():
    return _random_problem


@pytest.fixture(scope="session")
def separable_problem():
    return _separable_problem

import numpy as np
import pytest
from audioclass_msvm.rows import Boxes, nearest_row
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

seeds = st.integers(0, 10**6)


def drawn(seed, total):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 7))
    y = rng.integers(0, n_labels, 1)
    boxes = Boxes.of(y, n_labels, np.array([10 ** rng.uniform(-2, 2)]), total or n_labels - 1)
    return 10 ** rng.uniform(-2, 2) * rng.normal(size=n_labels), boxes.lower[0], boxes.upper[0]


@given(seeds, st.sampled_from([0, 1]))
def test_the_nearest_row_is_allowed_and_stays_where_it_is(seed, total):
    target, lower, upper = drawn(seed, total)
    row = nearest_row(target, lower, upper)
    assert (row >= lower).all()
    assert (row <= upper).all()
    assert row.sum() == pytest.approx(0, abs=1e-12 * np.abs(target).sum())
    np.testing.assert_allclose(nearest_row(row, lower, upper), row, atol=1e-12 * np.abs(target).max())


@pytest.mark.parametrize("total", [0, 1], ids=["sum", "largest"])
@pytest.mark.parametrize("seed", range(5))
def test_a_general_optimiser_finds_no_nearer_row(seed, total):
    target, lower, upper = drawn(seed, total)
    equal = {"type": "eq", "fun": np.sum}
    bounds = list(zip(lower, upper, strict=True))
    found = minimize(lambda x: ((x - target) ** 2).sum(), 0 * target, bounds=bounds, constraints=equal, tol=1e-12)
    distance = ((nearest_row(target, lower, upper) - target) ** 2).sum()
    assert distance <= found.fun * (1 + 1e-6) + 1e-9


def test_rows_without_bounds_are_centred():
    row = nearest_row(np.array([3.0, -1.0, -1.0]), np.array([0, -np.inf, -np.inf]), np.array([np.inf, 0, 0]))
    np.testing.assert_allclose(row, [8 / 3, -4 / 3, -4 / 3])


def test_a_row_worked_out_by_hand():
    # α = (1, 0.2) of C = 1: the first is cut off at C, the other keeps its place in the middle
    row = nearest_row(np.array([1.2, -4.0, -0.2]), np.array([0, -1.0, -1.0]), np.array([2.0, 0, 0]))
    np.testing.assert_allclose(row, [1.2, -1, -0.2], atol=1e-12)


def test_violations_are_the_missing_margin_at_zero():
    boxes = Boxes.of(np.array([0]), 3, np.ones(1), 2)
    scores = np.array([[0.5, 0.2, -0.4]])
    pulls = np.eye(3)[[0]] - scores
    assert boxes.violations(np.zeros((1, 3)), pulls) == pytest.approx(1 - (0.5 - 0.2))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.squared_hinge import best_step, solve_squared_hinge


def overlapping(n_each=30, seed=0):
    X, labels = blobs(n_each=n_each, spread=1.5, seed=seed)
    return binary_task("gram", X, 1 - 2 * labels)


@given(st.integers(0, 100))
def test_no_other_step_is_better(seed):
    rng = np.random.default_rng(seed)
    w, v, slacks, change, costs = *rng.normal(size=(4, 6)), rng.uniform(0.1, 2, 6)

    def objective(t):
        return (w + t * v) @ (w + t * v) / 2 + costs @ np.maximum(slacks - t * change, 0) ** 2 / 2

    found = minimize_scalar(objective, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert objective(best_step((w @ v, v @ v), slacks, change, costs)) <= found.fun + 1e-9


@given(st.integers(0, 20), st.sampled_from([1e-6, 1e-2, 10.0]))
def test_the_start_does_not_matter(seed, ridge):
    task = overlapping(seed=seed)
    cold = solve_squared_hinge(task.K, task.y, np.full(60, ridge))
    start = solve_squared_hinge(task.K, task.y, np.full(60, 1.0))
    warm = solve_squared_hinge(task.K, task.y, np.full(60, ridge), start)
    np.testing.assert_allclose(warm.f, cold.f, atol=1e-7)


@given(st.integers(0, 20), st.sampled_from([1e-6, 1e-2, 10.0]))
def test_each_pull_is_the_slack_times_its_cost(seed, ridge):
    task = overlapping(seed=seed)
    found = solve_squared_hinge(task.K, task.y, np.full(60, ridge))
    np.testing.assert_allclose(found.w, task.y * np.maximum(1 - task.y * found.f, 0) / ridge, rtol=1e-4, atol=1e-4)
    assert found.w.sum() == pytest.approx(0, abs=1e-7)


def test_running_out_of_steps_is_reported(monkeypatch):
    monkeypatch.setattr("audioclass.trainers.squared_hinge.MOST_STEPS", 1)
    task = overlapping()
    with pytest.raises(ValueError, match="no optimum within 1 Newton steps; repair K or lower C"):
        solve_squared_hinge(task.K, task.y, np.full(60, 1e-4))

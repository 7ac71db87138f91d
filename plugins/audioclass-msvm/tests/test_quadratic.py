import numpy as np
import pytest
from audioclass_msvm.quadratic import Quadratic
from scipy.optimize import minimize


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 12)), int(rng.integers(0, 3))
    B = rng.normal(size=(int(rng.integers(1, n + 1)), n))
    upper, A = rng.uniform(0.5, 2, n), rng.normal(size=(m, n))
    a = A @ (upper * rng.uniform(0.2, 0.8, n))
    upper[: n // 3] = np.inf
    return Quadratic(B.T @ B, np.abs(rng.normal(size=n)) - 0.3 * (upper < np.inf), A, a, upper)


@pytest.mark.parametrize("seed", range(10))
def test_scipy_agrees(seed):
    program = drawn(seed)
    x = program.minimum()
    equal = {"type": "eq", "fun": lambda x: program.A @ x - program.a, "jac": lambda x: program.A}
    found = minimize(
        program.value, np.minimum(program.upper / 2, 1), jac=lambda x: program.H @ x + program.g, method="SLSQP",
        bounds=[(0, u if u < np.inf else None) for u in program.upper], options={"ftol": 1e-13, "maxiter": 1000},
        constraints=equal if len(program.a) else (),
    )  # fmt: skip
    assert program.value(x) == pytest.approx(found.fun, abs=1e-8)
    np.testing.assert_allclose(program.A @ x, program.a, atol=1e-9)
    assert (x >= 0).all()
    assert (x <= program.upper).all()


def test_a_program_worked_out_by_hand():
    # min x² + y² − y on x + y = 2, y ≤ 1: y is held at 1
    program = Quadratic(2 * np.eye(2), np.array([0, -1.0]), np.ones((1, 2)), np.array([2.0]), np.array([np.inf, 1]))
    np.testing.assert_allclose(program.minimum(), [1, 1], atol=1e-9)


def test_a_program_without_solution_is_refused():
    program = Quadratic(np.eye(2), np.zeros(2), np.ones((1, 2)), np.array([5.0]), np.ones(2))
    with pytest.raises(ValueError, match="no optimum of a quadratic program"):
        program.minimum()

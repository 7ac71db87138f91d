"""Small dense convex quadratic programs by a primal-dual interior point method (Mehrotra's predictor and corrector)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_STEPS = 100
TOLERANCE = 1e-12  # of the mean complementarity, and of the residuals, relative to the size of the data
LOOSE = 1e-8  # what is still an optimum where rounding ends the walk
NEAREST = 1e-30  # to a bound
RIDGE = 1e-13  # of the size of the data: where H says nothing and no bound is near, a step stays short
BACK = 0.995  # how far towards a bound a step may go


@dataclass(frozen=True, eq=False)
class Quadratic:
    """min ½x'Hx + g'x with Ax = a and 0 ≤ x ≤ upper; an upper bound may be infinite."""

    H: np.ndarray
    g: np.ndarray
    A: np.ndarray
    a: np.ndarray
    upper: np.ndarray

    def value(self, x: np.ndarray) -> float:
        """The objective."""
        return float(0.5 * x @ self.H @ x + self.g @ x)

    def minimum(self) -> np.ndarray:
        """The x of the least value; a ValueError where no step comes near it."""
        walk = _Walk(self)
        for _ in range(MOST_STEPS):
            if walk.is_over(TOLERANCE) or not walk.is_inside():
                break
            walk.step()
        if not walk.is_over(LOOSE):
            raise ValueError(f"no optimum of a quadratic program within {MOST_STEPS} steps")
        return np.clip(walk.x, 0, self.upper)


class _Walk:
    """x with the multipliers `low` of x ≥ 0 and `high` of x ≤ upper, and those of Ax = a in `free`."""

    def __init__(self, program: Quadratic) -> None:
        self.program, self.bounded = program, np.isfinite(program.upper)
        self.size = 1 + max(np.abs(program.H).max(), np.abs(program.g).max(), np.abs(program.a).max(initial=0))
        self.x = np.where(self.bounded, program.upper / 2, 1.0)
        self.low, self.high = np.full(len(self.x), self.size), np.where(self.bounded, self.size, 0.0)
        self.free = np.zeros(len(program.a))

    @property
    def room(self) -> np.ndarray:
        """Distance to the upper bounds."""
        return self.program.upper - self.x

    def is_over(self, tolerance: float) -> bool:
        """Whether the residuals and the complementarity are small enough."""
        dual, primal = self._residuals()
        worst = max(self._complementarity(), np.abs(dual).max(), np.abs(primal).max(initial=0))
        return bool(worst <= tolerance * self.size)

    def is_inside(self) -> bool:
        """Whether rounding leaves room to go on; where no x keeps all constraints it ends at the bounds."""
        return bool(min(self.x.min(), self.room.min()) > NEAREST and np.isfinite(self.low).all())

    def step(self) -> None:
        """Where the linearised conditions would lead, then corrected for what they leave out."""
        mu = self._complementarity()
        room = np.where(self.bounded, self.room, 1.0)
        dx, dlow, dhigh, _ = self._direction(room, 0.0, 0.0, 0.0)
        reach = self._reach(room, dx, dlow, dhigh)
        ahead = (self.x + reach * dx) @ (self.low + reach * dlow) + (room - reach * dx) @ (self.high + reach * dhigh)
        centre = mu * (ahead / (len(self.x) + self.bounded.sum()) / mu) ** 3
        dx, dlow, dhigh, dfree = self._direction(room, centre, dx * dlow, -dx * dhigh)
        reach = self._reach(room, dx, dlow, dhigh)
        self.x, self.free = self.x + reach * dx, self.free + reach * dfree
        self.low, self.high = self.low + reach * dlow, self.high + reach * dhigh

    def _residuals(self) -> tuple[np.ndarray, np.ndarray]:
        p = self.program
        return p.H @ self.x + p.g - p.A.T @ self.free - self.low + self.high, p.A @ self.x - p.a

    def _complementarity(self) -> float:
        total = self.x @ self.low + np.where(self.bounded, self.room, 0) @ self.high
        return float(total / (len(self.x) + self.bounded.sum()))

    def _direction(
        self, room: np.ndarray, centre: float, low: np.ndarray | float, high: np.ndarray | float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Changes of x and of the multipliers that solve the linearised conditions; `low`, `high` are second orders."""
        p = self.program
        dual, primal = self._residuals()
        at_low = centre - self.x * self.low - low
        at_high = np.where(self.bounded, centre - room * self.high - high, 0)
        M = p.H + np.diag(self.low / self.x + self.high / room + RIDGE * self.size)
        inverse = np.linalg.solve(M, np.column_stack([p.A.T, -dual + at_low / self.x - at_high / room]))
        schur = p.A @ inverse[:, :-1]
        dfree = np.linalg.lstsq(schur, -primal - p.A @ inverse[:, -1], rcond=1e-13)[0] if len(p.a) else self.free
        dx = inverse[:, -1] + inverse[:, :-1] @ dfree
        return dx, (at_low - self.low * dx) / self.x, (at_high + self.high * dx) / room, dfree

    def _reach(self, room: np.ndarray, dx: np.ndarray, dlow: np.ndarray, dhigh: np.ndarray) -> float:
        """The longest step, at most 1, that keeps x and the multipliers inside."""
        shares = [1.0]
        for value, change in ((self.x, dx), (self.low, dlow), (room, -dx * self.bounded), (self.high, dhigh)):
            falls = (change < 0) & (value > 0)
            shares.append(BACK * (value[falls] / -change[falls]).min(initial=np.inf))
        return min(shares)

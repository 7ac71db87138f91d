"""Decomposition of the dual of a multi-class machine: blocks of the worst examples, each row solved exactly in turn.

The dual is max Σ_i β_{i,y_i} − ½ Σ_k β_k'Kβ_k over rows in their boxes (`rows`). The sums s_k = Σ_i β_ik, which a bias
wants to be 0, are drawn there by an augmented Lagrangian: − b's − ½ weight ‖s‖². So b + weight·s acts as the bias.
"""

from __future__ import annotations

import numpy as np

from audioclass_msvm.faces import face_step, free_entries
from audioclass_msvm.rows import Boxes, nearest_row

BLOCK = 64  # examples that join at a time; those of the block before stay, or two blocks would undo each other's work
VISITS = 5  # for each example of a block, before the others are looked at again
SHRINK_EVERY = 10  # blocks
ROWS_TOGETHER = 512  # of the Gram matrix in a product
MOST_FREE = 400  # entries that Newton steps are worth for
HARDLY, GROWTH = 0.8, 3.0  # sums that fall by less than this make their weight grow: with small C they need much
FACES = 20  # steps, from face to face, before rows are looked at again


class Descent:
    """The coefficients `beta` (n, Q) of a dual on their way, with F = Kβ.

    The Gram matrix is read by its rows, so it must be symmetric. The `weight` of the sums is 0 for a machine without
    bias.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, boxes: Boxes, weight: float) -> None:
        self.K, self.boxes = K, boxes
        diagonal = K.diagonal().astype(np.float64)
        self.curvature = np.maximum(diagonal, 1e-12 * np.abs(diagonal).max() + 1e-300)
        self.targets = np.eye(boxes.lower.shape[1])[y]
        self.beta, self.F = np.zeros_like(self.targets), np.zeros_like(self.targets)
        self.bias, self.weight, self._last_sum = np.zeros(self.targets.shape[1]), weight, np.inf
        self.n_visits = 0
        self._active = np.arange(len(y))
        self._block = self._active[:0]

    @property
    def sums(self) -> np.ndarray:
        """Σ_i β_ik of each label."""
        return np.asarray(self.beta.sum(axis=0))

    def move_bias(self) -> float:
        """Take over the bias that acted, and say how far it moved; the weight grows where the sums hardly fell."""
        largest = np.abs(self.sums).max()
        step = self.weight * largest
        self.bias = self.bias + self.weight * self.sums
        if largest > HARDLY * self._last_sum:
            self.weight *= GROWTH
        self._last_sum = largest
        return float(step)

    def lengthen(self) -> None:
        """Take the best multiple of β, for boxes without end: where no margin exists, it grows beyond all limits."""
        norm = (self.beta * self.F).sum() + self.weight * (self.sums**2).sum()
        gain = (self.beta * self.targets).sum() - self.bias @ self.sums
        if gain > 0 and norm > 0:
            self.beta, self.F = gain / norm * self.beta, gain / norm * self.F

    def walk(self, enough: float, most_visits: int) -> None:
        """Climb until no row violates its optimality by more than `enough`, or so many rows were visited.

        Rows that sit at their bounds with more to spare than the worst row lacks are left aside until the others agree.
        """
        step = 0
        while self.n_visits < most_visits:
            violations = self.boxes.of_rows(self._active).violations(self.beta[self._active], self._pulls(self._active))
            worst = violations.max()
            if worst <= enough and len(self._active) == len(self.beta):
                return
            if worst <= enough:
                self._take_all_back()
                continue
            self._improve(self._active[_largest(violations)], max(0.1 * worst, 0.5 * enough))
            self._walk_faces()
            step += 1
            if step % SHRINK_EVERY == 0:
                self._active = self._active[violations > -worst]
        self._take_all_back()

    def _pulls(self, rows: np.ndarray) -> np.ndarray:
        """The gradient in the rows of β: what the target asks beyond the scores."""
        return np.asarray(self.targets[rows] - self.F[rows] - (self.bias + self.weight * self.sums))

    def _improve(self, worst: np.ndarray, enough: float) -> None:
        """Solve the worst rows and those of the last block for each other, the rest staying."""
        stay = self._block[~np.isin(self._block, worst) & np.isin(self._block, self._active)]
        self._block = block = np.concatenate([worst, stay[:BLOCK]])
        rows = self.K[block].astype(np.float64, copy=False)
        beta, n_visits = _solve_block(
            rows[:, block] + self.weight,
            self.curvature[block] + self.weight,
            self.beta[block],
            self._pulls(block),
            self.boxes.of_rows(block),
            enough,
        )
        self.n_visits += 1 + n_visits  # a block is work even where rounding leaves nothing to do
        self.F[self._active] += rows[:, self._active].T @ (beta - self.beta[block])
        self.beta[block] = beta

    def _walk_faces(self) -> None:
        """Newton steps while bounds are met, where few enough entries are free."""
        for _ in range(FACES):
            rows, labels = free_entries(self.beta, self.boxes)
            if not 0 < len(rows) <= MOST_FREE:
                return
            some, rows = np.unique(rows, return_inverse=True)
            K = self.K[some].astype(np.float64, copy=False)
            new, is_optimal = face_step(
                K[:, some] + self.weight, self.beta[some], self._pulls(some), self.boxes.of_rows(some), rows, labels
            )
            self.F[self._active] += K[:, self._active].T @ (new - self.beta[some])
            self.beta[some] = new
            if is_optimal:
                return

    def _take_all_back(self) -> None:
        """Bring the scores of the rows that were left aside up to date."""
        aside = np.setdiff1d(np.arange(len(self.beta)), self._active, assume_unique=True)
        self.F[aside] = product(self.K, self.beta, aside)
        self._active = np.arange(len(self.beta))


def product(K: np.ndarray, beta: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows of Kβ; some at a time, for the Gram matrix may be the largest thing in memory."""
    F = np.empty((len(rows), beta.shape[1]))
    for first in range(0, len(rows), ROWS_TOGETHER):
        F[first : first + ROWS_TOGETHER] = K[rows[first : first + ROWS_TOGETHER]] @ beta
    return F


def _largest(violations: np.ndarray) -> np.ndarray:
    """The rows that join the block."""
    if len(violations) <= BLOCK:
        return np.arange(len(violations))
    return np.argpartition(violations, -BLOCK)[-BLOCK:]


def _solve_block(
    K: np.ndarray, curvature: np.ndarray, beta: np.ndarray, pulls: np.ndarray, boxes: Boxes, enough: float
) -> tuple[np.ndarray, int]:
    """β of a few examples after the row that violates most took its optimum, again and again; and how often."""
    n_visits = 0
    while n_visits < VISITS * len(beta):
        violations = boxes.violations(beta, pulls)
        row = violations.argmax()
        if violations[row] <= enough:
            break
        target = beta[row] + pulls[row] / curvature[row]
        new = nearest_row(target, boxes.lower[row], boxes.upper[row])
        pulls -= K[:, row, None] * (new - beta[row])
        beta[row] = new
        n_visits += 1
    return beta, n_visits

"""A second stage after every strategy: it learns which labels attract others from held-out posteriors.

With L = log P, m the mean of L over the rows that it is fitted on and E further scores, centred in the same way, the
posteriors are softmax(a L + b + (L − m) W + E V). a, b, W and V minimise the mean log-loss + 0.001 |b|² + μ (|W|² +
|V|²) from a = 1, b = 0, W = 0, V = 0 on. Without W and V that is a temperature and an offset for each label; the more
rows there are, the smaller a penalty μ they allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from audioclass.numerics import check_labelled, softmax

FAINTEST = 1e-8  # smaller posteriors count as this: how improbable a label is must not decide between others
OFFSET_PENALTY = 0.001
ROWS_FOR_ONE = 40.0  # by the rule a penalty of 1 goes with so many rows
MOST_STEPS = 300
LARGEST = 1e6  # of any number of a stage; what is fitted stays far below


@dataclass(frozen=True, eq=False)
class SecondStage:
    """What was fitted: a as `scale` (1,), b as `offsets`, m as `means`, W as `weights` (n_labels, n_labels).

    `column_means` (n_columns,) and `column_weights` (n_columns, n_labels), V, go with the further scores; both are
    empty where there are none. `penalty` (1,) is μ.
    """

    scale: np.ndarray
    offsets: np.ndarray
    means: np.ndarray
    weights: np.ndarray
    column_means: np.ndarray
    column_weights: np.ndarray
    penalty: np.ndarray

    def __post_init__(self) -> None:
        n_labels, n_columns = np.shape(self.offsets)[:1], np.shape(self.column_means)[:1]
        shapes = {
            "scale": (1,),
            "offsets": n_labels,
            "means": n_labels,
            "weights": n_labels + n_labels,
            "column_means": n_columns,
            "column_weights": n_columns + n_labels,
            "penalty": (1,),
        }
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}, must be {shape} of floats")
            if not np.isfinite(array).all() or np.abs(array).max(initial=0) > LARGEST:
                raise ValueError(f"{name} must hold finite numbers of at most {LARGEST:g}")

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> SecondStage:
        """From the arrays of a file."""
        names = sorted(field.name for field in fields(cls))
        if sorted(arrays) != names:
            raise ValueError(f"{', '.join(sorted(map(str, arrays)))[:80]!r} must be {', '.join(names)}")
        return cls(**{name: np.asarray(array, np.float64) for name, array in arrays.items()})

    def arrays(self) -> dict[str, np.ndarray]:
        """As a file has them."""
        return dict(vars(self))

    @property
    def n_labels(self) -> int:
        """How many labels its posteriors have."""
        return len(self.offsets)

    @property
    def n_columns(self) -> int:
        """How many further scores it reads."""
        return len(self.column_means)

    def apply(self, P: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Posteriors (n, n_labels) from those before it and, where it reads any, the further scores (n, n_columns)."""
        L = logarithms(P)
        z = self.scale * L + self.offsets + (L - self.means) @ self.weights
        if self.n_columns:
            if columns is None or columns.shape != (len(P), self.n_columns):
                shape = None if columns is None else columns.shape
                raise ValueError(f"further scores have shape {shape}, must be {(len(P), self.n_columns)}")
            z = z + (columns - self.column_means) @ self.column_weights
        return softmax(z) if len(P) else np.asarray(P)


def logarithms(P: np.ndarray) -> np.ndarray:
    """log P, of probabilities of at least `FAINTEST`."""
    return np.asarray(np.log(np.maximum(np.asarray(P, np.float64), FAINTEST)))


def penalty_by_rule(n_rows: float) -> float:
    """μ = 40 / rows: what clean inner folds chose on many labels, for those who cannot afford them."""
    return ROWS_FOR_ONE / max(n_rows, 1.0)


def fit_second_stage(
    P: np.ndarray,
    y: np.ndarray,
    penalty: float,
    weights: np.ndarray | None = None,
    columns: np.ndarray | None = None,
) -> SecondStage:
    """From held-out posteriors (n, n_labels), the label index and the weight of each row, and further scores."""
    from scipy.optimize import minimize  # classification goes without it

    if not 0 < penalty < np.inf:
        raise ValueError(f"penalty={penalty} must be positive and finite")
    P, y, weights = check_labelled(P, y, weights, "P")
    problem = StageProblem.of(logarithms(P), y, weights, columns, float(penalty))
    scale = problem.scale

    def loss(steps: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.loss(problem.start + scale * steps)
        return value, scale * gradient

    options = {"maxiter": MOST_STEPS, "ftol": 1e-9, "gtol": 1e-6}
    steps = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B", options=options).x
    return problem.stage(problem.start + scale * steps)


@dataclass(frozen=True, eq=False)
class StageProblem:
    """What `fit_second_stage` minimises, over a, b and the rows of W and V one after another."""

    L: np.ndarray
    F: np.ndarray
    means: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    penalty: float

    @classmethod
    def of(
        cls, L: np.ndarray, y: np.ndarray, weights: np.ndarray, columns: np.ndarray | None, penalty: float
    ) -> StageProblem:
        """With the centred columns that W and V multiply side by side; the weights get a sum of 1."""
        share = weights / weights.sum()
        both = L if columns is None or not columns.shape[1] else np.hstack([L, columns])
        means = share @ both
        return cls(L, both - means, means, y, share, penalty)

    @property
    def start(self) -> np.ndarray:
        """a = 1, all else 0."""
        return np.asarray(np.eye(1, 1 + self.L.shape[1] * (1 + self.F.shape[1]))[0])

    @property
    def scale(self) -> np.ndarray:
        """1/√ of about the curvature along each number: in these units all are alike, which saves a search steps."""
        P = self.weights @ np.exp(self.L)
        spread = P * (1 - P) + 1e-6
        squares = self.weights @ self.F**2
        W = np.outer(squares, spread) + 2 * self.penalty
        a = squares[: len(P)] @ spread
        return np.asarray(1 / np.sqrt(np.concatenate([[a + 1e-6], spread + 2 * OFFSET_PENALTY, W.ravel()])))

    def parts(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """a, b, and W above V."""
        n_labels = self.L.shape[1]
        return theta[0], theta[1 : 1 + n_labels], theta[1 + n_labels :].reshape(-1, n_labels)

    def loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalised log-loss and its gradient."""
        (a, b, W), rows = self.parts(theta), np.arange(len(self.y))
        z = a * self.L + b + self.F @ W
        z -= z.max(axis=1, keepdims=True)
        G = np.exp(z)
        sums = G.sum(axis=1)
        value = self.weights @ (np.log(sums) - z[rows, self.y])
        G *= (self.weights / sums)[:, None]
        G[rows, self.y] -= self.weights
        slopes = (
            [np.einsum("ij,ij->", G, self.L)],
            G.sum(axis=0) + 2 * OFFSET_PENALTY * b,
            (self.F.T @ G + 2 * self.penalty * W).ravel(),
        )
        return float(value + OFFSET_PENALTY * b @ b + self.penalty * np.sum(W * W)), np.concatenate(slopes)

    def stage(self, theta: np.ndarray) -> SecondStage:
        """The numbers of a point as a stage."""
        n_labels, (a, b, W) = self.L.shape[1], self.parts(theta)
        return SecondStage(
            np.array([a]),
            b.copy(),
            self.means[:n_labels],
            W[:n_labels].copy(),
            self.means[n_labels:],
            W[n_labels:].copy(),
            np.array([self.penalty]),
        )

"""Error-correcting output codes: a row of ±1 and 0 for each label, a machine for each column (specification 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from math import ceil, log2
from typing import ClassVar

import numpy as np

from audioclass.contracts import Fitted, Strategy
from audioclass.errors import UsageError
from audioclass.hookspecs import hookimpl
from audioclass.numerics import softmax
from audioclass.parameters import component, parameter
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.bradley_terry import couple_bradley_terry
from audioclass.taxonomy import Taxonomy

MOST_LABELS = 11  # of an exhaustive code, which then has 1023 columns
LONGEST = 500.0  # a score beyond this counts as this, so that its exponential exists

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda z: np.maximum(1 - z, 0),
    "exponential": lambda z: np.exp(-np.clip(z, -LONGEST, LONGEST)),
    "logistic": lambda z: np.logaddexp(0, -z),
    "linear": lambda z: -z,
}
CODES = ("one_vs_rest", "one_vs_one", "exhaustive", "dense", "sparse")
DECODINGS = ("bradley_terry", "l1", "hard", *LOSSES)


@component
class OutputCode:
    """A machine for each column of a code, and for each example the label whose row its answers are nearest to.

    `bradley_terry` gives posteriors. The other decodings give the softmax of minus the distance of each row, which
    orders the labels as the distances do; the last step of a training makes probabilities of it.
    """

    name: ClassVar[str] = "output_code"
    code: str = parameter("dense", choices=CODES, help="how the columns are chosen")
    decoding: str = parameter("bradley_terry", choices=DECODINGS, help="how answers become posteriors")
    draws: int = parameter(200, low=1, help="random codes drawn, of which the best is kept")

    @property
    def is_random(self) -> bool:
        """Whether another seed, or another order of the labels, may give other dichotomies."""
        return self.code in ("dense", "sparse")

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """A dichotomy for each column, +1 against −1."""
        columns = make_code(self.code, len(labels), self.draws, rng).T
        sides = [(np.flatnonzero(column > 0).tolist(), np.flatnonzero(column < 0).tolist()) for column in columns]
        return Plan(len(labels), tuple(Dichotomy(tuple(plus), tuple(minus)) for plus, minus in sides))

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Posteriors by Bradley-Terry with the examples of each machine as weights, or a softmax of −distance."""
        code = code_of(plan)
        if self.decoding == "bradley_terry":
            return couple_bradley_terry(probabilities, code, counts @ np.abs(code))
        answers = 2 * probabilities - 1 if self.decoding == "l1" else scores
        return softmax(-distances(answers, code, self.decoding))


def distances(answers: np.ndarray, code: np.ndarray, decoding: str) -> np.ndarray:
    """(n, Q) from (n, N) answers to the rows of a code (Q, N).

    `l1` is the mean of |f_n − m_cn| over the machines that know the label, best with answers in [−1, 1]; `hard` is
    `l1` of their signs. A loss is summed over all machines, those that leave the label out adding L(0).
    """
    plus, minus, none = ((code == entry).T.astype(np.float64) for entry in (1, -1, 0))
    if decoding in LOSSES:
        loss = LOSSES[decoding]
        return np.asarray(loss(answers) @ plus + loss(-answers) @ minus + loss(np.zeros_like(answers)) @ none)
    answers = np.sign(answers) if decoding == "hard" else answers
    return np.asarray((np.abs(answers - 1) @ plus + np.abs(answers + 1) @ minus) / (plus + minus).sum(axis=0))


def code_of(plan: Plan) -> np.ndarray:
    """(Q, N): +1, −1 or 0 where label c is on the positive side of dichotomy n, on the negative, or left out."""
    code = np.zeros((plan.n_labels, len(plan.dichotomies)))
    for column, dichotomy in zip(code.T, plan.dichotomies, strict=True):
        column[list(dichotomy.positive)] = 1
        column[list(dichotomy.negative)] = -1
    return code


def row_distance(code: np.ndarray) -> float:
    """ρ = min_{c≠d} Σ_n (1 − m_cn m_dn)/2: how far apart the two nearest rows are, a zero counting ½."""
    between = (code.shape[1] - code @ code.T) / 2
    return float(between[~np.eye(len(code), dtype=bool)].min())


def is_valid(code: np.ndarray) -> bool:
    """Whether rows differ and are not all 0, columns have both signs, and none equals or opposes another."""
    n_rows, n_columns = len(np.unique(code, axis=0)), len(_usable(code.T))
    return n_rows == len(code) and n_columns == code.shape[1] and bool(code.any(axis=1).all())


def make_code(kind: str, n_labels: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(Q, N), a valid code of one of the kinds; of the random ones, that of the largest row distance drawn."""
    if kind == "one_vs_rest":
        return (2 * np.eye(n_labels) - 1)[:, : 1 if n_labels == 2 else None]
    if kind == "one_vs_one":
        one = np.eye(n_labels)
        return np.array([one[k] - one[other] for k, other in combinations(range(n_labels), 2)]).T
    if kind == "exhaustive":
        return _every_column(n_labels, (1, -1))
    if kind == "dense":
        return _random_code(n_labels, ceil(10 * log2(n_labels)), 2 ** (n_labels - 1) - 1, (1, -1), draws, rng)
    existing = (3**n_labels - 2 ** (n_labels + 1) + 1) // 2
    return _random_code(n_labels, ceil(15 * log2(n_labels)), existing, (0, 0, 1, -1), draws, rng)


def _every_column(n_labels: int, entries: tuple[int, ...]) -> np.ndarray:
    if n_labels > MOST_LABELS:
        raise UsageError(f"exhaustive code: {n_labels} labels, at most {MOST_LABELS} are possible")
    return _usable(np.array(list(product(sorted(set(entries), reverse=True), repeat=n_labels)), dtype=float)).T


def _random_code(
    n_labels: int, n_columns: int, existing: int, entries: tuple[int, ...], draws: int, rng: np.random.Generator
) -> np.ndarray:
    """The best valid one of `draws`, or all columns there are where those are too few to choose from."""
    if existing <= n_columns:
        return _every_column(n_labels, entries)
    best, farthest = None, -1.0
    for _ in range(draws):
        code = _draw(n_labels, n_columns, entries, rng)
        if row_distance(code) > farthest and is_valid(code):
            best, farthest = code, row_distance(code)
    if best is None:
        raise UsageError(f"output_code: none of {draws} codes of {n_labels} labels is valid; draw more")
    return best


def _draw(n_labels: int, n_columns: int, entries: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """So many usable columns with entries drawn alike."""
    columns = np.empty((0, n_labels))
    while len(columns) < n_columns:
        more = rng.choice(np.array(entries, dtype=float), size=(n_columns + 8, n_labels))
        columns = _usable(np.concatenate([columns, more]))
    return columns[:n_columns].T


def _usable(columns: np.ndarray) -> np.ndarray:
    """Those of (N, Q) columns that have both signs, the first +1, each kept once, in order."""
    columns = columns[(columns > 0).any(axis=1) & (columns < 0).any(axis=1)]
    leading = columns[np.arange(len(columns)), (columns != 0).argmax(axis=1)]
    columns = columns * leading[:, None]
    return columns[np.sort(np.unique(columns, axis=0, return_index=True)[1])]


@hookimpl
def register_strategies() -> list[type[Strategy]]:
    """Output codes."""
    return [OutputCode]

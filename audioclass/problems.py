"""What is asked of the components that learn, and what they answer: plans, binary tasks and machines, searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from audioclass.data import frozen_array

Entries = Callable[[np.ndarray, np.ndarray], np.ndarray]
Link = Literal["score", "vote", "probability"]
LINKS: tuple[Link, ...] = get_args(Link)


@dataclass(frozen=True)
class Dichotomy:
    """A set of labels against another, as indices into the labels; labels in neither are left out of it."""

    positive: tuple[int, ...]
    negative: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.positive or not self.negative:
            raise ValueError(f"dichotomy {self.positive} against {self.negative}: a side is empty")
        if set(self.positive) & set(self.negative):
            raise ValueError(f"dichotomy {self.positive} against {self.negative}: a label is on both sides")


@dataclass(frozen=True)
class Plan:
    """The dichotomies of a strategy over `n_labels` labels, and what its combination needs, as plain values."""

    n_labels: int
    dichotomies: tuple[Dichotomy, ...]
    structure: Mapping[str, Any] = field(default_factory=dict)

    def places(self, smaller: Plan) -> list[int]:
        """Where the dichotomies of a smaller plan stand among those of this one: the columns of its answers."""
        place = {dichotomy: i for i, dichotomy in enumerate(self.dichotomies)}
        foreign = [dichotomy for dichotomy in smaller.dichotomies if dichotomy not in place]
        if foreign:
            raise ValueError(f"dichotomy {foreign[0].positive} against {foreign[0].negative} is not in the plan")
        return [place[dichotomy] for dichotomy in smaller.dichotomies]


@dataclass(frozen=True, eq=False)
class Round:
    """More dichotomies for a plan whose own are trained: the plan with both, and who counts in the new ones.

    `importance` is (n, n_new): how much each example counts in each new dichotomy, 0 to leave it out; without it all
    count. The sides keep their labels: a round says which of their examples a machine should learn from, in a filter
    tree those whose label won below.
    """

    plan: Plan
    importance: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Geometry:
    """The labels as seen by a kernel: how many examples each has, how far apart and how wide they lie.

    `counts` is (Q,), `squared_distances` (Q, Q) between label centres in kernel space, `scatter` (Q,) the mean
    squared distance of a label's examples to their centre.
    """

    counts: np.ndarray
    squared_distances: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of_gram(cls, K: np.ndarray, y: np.ndarray, n_labels: int) -> Geometry:
        """Read off a Gram matrix: ‖μ_k−μ_l‖² = mean K_kk + mean K_ll − 2 mean K_kl (specification 7.3)."""
        counts = np.bincount(y, minlength=n_labels)
        if not counts.all():
            raise ValueError(f"label {int(np.argmin(counts))} has no example")
        membership = np.eye(n_labels)[y] / counts[y][:, None]
        means = membership.T @ K @ membership
        within = means.diagonal()
        squared = np.maximum(within[:, None] + within[None, :] - 2 * means, 0)
        np.fill_diagonal(squared, 0)
        return cls(counts, squared, np.maximum(membership.T @ K.diagonal() - within, 0))


@dataclass(frozen=True, eq=False)
class Task:
    """One dichotomy to be fitted: `y` in ±1 and what its trainer wants of the examples.

    That is the Gram matrix `K` (n, n); or `entries`, a function of row and column indices that gives a part of it, for
    trainers that must not form the whole; or the features `X` (n, d). `weights` multiply the error factor `C` of each
    example; all randomness comes from `rng`.
    """

    y: np.ndarray
    C: float
    weights: np.ndarray
    rng: np.random.Generator
    K: np.ndarray | None = None
    X: np.ndarray | None = None
    entries: Entries | None = None

    def __post_init__(self) -> None:
        _check_examples(self)
        if set(np.unique(self.y)) != {-1, 1}:
            raise ValueError(f"y holds {np.unique(self.y)[:5]}, must hold both -1 and +1")


@dataclass(frozen=True, eq=False)
class LabelTask:
    """All labels to be fitted at once: `y` in 0..n_labels-1 and one of `K`, `entries` and `X`, as for a `Task`."""

    y: np.ndarray
    n_labels: int
    C: float
    weights: np.ndarray
    rng: np.random.Generator
    K: np.ndarray | None = None
    X: np.ndarray | None = None
    entries: Entries | None = None

    def __post_init__(self) -> None:
        _check_examples(self)
        if self.n_labels < 2 or set(np.unique(self.y)) != set(range(self.n_labels)):
            raise ValueError(f"y holds {np.unique(self.y)[:5]}, must hold every label from 0 to {self.n_labels - 1}")


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """What a strategy says of the labels of some rows: posteriors `P` (n, n_labels), and scores where it has them.

    `scores` are (n, n_labels), of targets ±1; `columns` (n, n_columns), further scores such as those of groups.
    """

    P: np.ndarray
    scores: np.ndarray | None = None
    columns: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> LabelEvidence:
        """Some of the rows."""
        parts = (None if part is None else part[rows] for part in (self.scores, self.columns))
        return LabelEvidence(self.P[rows], *parts)


@dataclass(frozen=True, eq=False)
class Members:
    """How machines over the same rows are combined: each one's slope·score + offset, through a link, then their mean.

    The link is the value z itself (`score`), its sign (`vote`) or 2/(1+e^−z) − 1, twice a probability less 1
    (`probability`). `slopes` and `offsets` are (n_members,).
    """

    link: Link
    slopes: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise ValueError(f"link {str(self.link)[:40]!r} of members must be {', '.join(LINKS)}")
        for name in ("slopes", "offsets"):
            array = getattr(self, name)
            if array.ndim != 1 or not len(array) or len(array) != len(self.slopes) or array.dtype.kind != "f":
                raise ValueError(f"{name} of members have shape {array.shape}, must be a number for each of some")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} of members hold NaN or infinite values")
        if (self.slopes < 0).any():
            raise ValueError(f"slopes of members must be at least 0, one is {self.slopes.min():g}")

    @classmethod
    def plain(cls, link: Link, n_members: int) -> Members:
        """Members whose scores go through the link as they are."""
        return cls(link, np.ones(n_members), np.zeros(n_members))

    @classmethod
    def joined(cls, several: Sequence[Members]) -> Members:
        """The members of several, one after another; all have the same link."""
        [link] = {each.link for each in several}
        slopes, offsets = (np.concatenate([getattr(each, name) for each in several]) for name in ("slopes", "offsets"))
        return cls(link, slopes, offsets)

    def take(self, which: np.ndarray) -> Members:
        """Some of them, by their numbers."""
        return Members(self.link, self.slopes[which], self.offsets[which])

    def astype(self, dtype: np.dtype | type) -> Members:
        """The same in another precision."""
        return Members(self.link, self.slopes.astype(dtype), self.offsets.astype(dtype))

    def combine(self, scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """(n, n_machines) from the scores of all members, (n, n_members); each machine has those from its start on.

        >>> Members.plain("vote", 3).combine(np.array([[0.2, 3.0, -9.0]]), np.array([0])).round(4).tolist()
        [[0.3333]]
        """
        linked = scores * self.slopes + self.offsets
        if self.link == "vote":
            linked = np.sign(linked)
        elif self.link == "probability":
            linked = np.tanh(linked / 2)  # the same, without overflow
        counts = np.diff(starts, append=scores.shape[1]).astype(linked.dtype)
        return np.asarray(np.add.reduceat(linked, starts, axis=1) / counts)


@dataclass(frozen=True, eq=False)
class Machine:
    """A fitted kernel machine over the rows of its task: score(x) = Σ coefficients_i k(x_support_i, x) + intercept.

    `coefficients` is (n_support,) for one dichotomy, (n_support, n_outputs) for several over the same rows;
    `intercept` is a number or (n_outputs,). Where there are `members` these outputs are theirs, and the machine is one
    dichotomy: its score is what they combine to.
    """

    support: np.ndarray
    coefficients: np.ndarray
    intercept: np.ndarray | float
    members: Members | None = None

    def __post_init__(self) -> None:
        if self.members is None:
            return
        n, shape = len(self.members.slopes), np.shape(self.coefficients)
        if shape != (len(self.support), n) or np.shape(self.intercept) != (n,):
            raise ValueError(
                f"coefficients of shape {shape} and intercepts of shape {np.shape(self.intercept)} for {n} members on"
                f" {len(self.support)} rows"
            )

    def scores(self, K: np.ndarray) -> np.ndarray:
        """Scores of new rows from their Gram matrix (m, n) against all rows of the task."""
        return self.scores_by_support(K[:, self.support])

    def scores_by_support(self, K: np.ndarray) -> np.ndarray:
        """The same from their Gram matrix (m, n_support) against the support alone."""
        scores = np.asarray(K @ self.coefficients + self.intercept)
        return scores if self.members is None else self.members.combine(scores, np.zeros(1, int))[:, 0]


@dataclass(frozen=True, eq=False)
class FeatureMachine:
    """A fitted machine that is no kernel expansion: named arrays that its own trainer evaluates.

    Names are lower-case letters, digits and underscores: a model file has a member for each.
    """

    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Axis:
    """One parameter to search: its interval, whether steps are equal in value or in logarithm, and where to begin.

    Without a `start` a search that begins somewhere begins in the middle.
    """

    name: str
    low: float
    high: float
    scale: str = "linear"
    start: float | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"{self.name}: low {self.low} must be below high {self.high}")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"{self.name}: low {self.low} must be positive on a log scale")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise ValueError(f"{self.name}: start {self.start} must lie from {self.low} to {self.high}")

    def at(self, fraction: float) -> float:
        """The value at a fraction of the way, 0 being low and 1 high."""
        if self.scale == "log":
            return float(min(max(self.low * (self.high / self.low) ** fraction, self.low), self.high))
        return self.low + fraction * (self.high - self.low)

    def fraction(self, value: float) -> float:
        """The inverse of `at`."""
        if self.scale == "log":
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return (value - self.low) / (self.high - self.low)


Space = Sequence[Axis]
Point = Mapping[str, float]


@dataclass(frozen=True)
class Objective:
    """What a search makes as small as it can; NaN means that the point cannot be evaluated and is skipped."""

    value: Callable[[Point], float]
    gradient: Callable[[Point], Mapping[str, float]] | None = None


@dataclass(frozen=True)
class Trial:
    """One point that a search looked at."""

    point: Point
    value: float


@dataclass(frozen=True)
class Found:
    """The best point of a search, its value, every point it looked at in order, and whether it ended by itself."""

    point: Point
    value: float
    trace: tuple[Trial, ...]
    converged: bool = True


def _check_examples(task: Task | LabelTask) -> None:
    """What both kinds of task promise to whoever fits them; arrays become read-only."""
    n = len(task.y)
    if n == 0:
        raise ValueError("a task needs examples, y is empty")
    if not 0 < task.C < np.inf:
        raise ValueError(f"C={task.C} must be positive and finite")
    if sum(given is not None for given in (task.K, task.X, task.entries)) != 1:
        raise ValueError("a task needs one of a Gram matrix K, its entries, or features X")
    for name, ndim in (("y", 1), ("weights", 1), ("K", 2), ("X", 2)):
        array = getattr(task, name)
        if array is None:
            continue
        if len(array) != n or (name == "K" and array.shape != (n, n)):
            raise ValueError(f"{name} has shape {array.shape} for {n} examples")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinite values")
        object.__setattr__(task, name, frozen_array(array, ndim, name))
    if (task.weights < 0).any():
        raise ValueError("weights must be at least 0")

"""How far apart systems are that classified the same examples in the same folds, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from audioclass.evaluation.bootstrap import Resampling, bootstrap
from audioclass.evaluation.comparison import Comparison, Pair, System
from audioclass.evaluation.multi_label import LabelPredictions
from audioclass.evaluation.paired import HypothesisTest, corrected_t, holm, mcnemar, wilcoxon
from audioclass.evaluation.predictions import Pool, Predictions
from audioclass.evaluation.ranks import ALPHA, Ranked, rank_systems
from audioclass.evaluation.summary import LOWER_IS_BETTER, MEASURES, Measures, summary_measures

NOT_THE_SAME = "systems {!r} and {!r} did not predict the same examples"
C = TypeVar("C", bound="Contestant")


def compare(
    systems: Mapping[str, Predictions],
    folds: Any = None,
    *,
    measure: str = "accuracy",
    costs: Mapping[str, Mapping[str, float]] | None = None,
    pool: Pool | None = None,
    resampling: Resampling | None = None,
    alpha: float = ALPHA,
) -> Comparison:
    """Compare predictions of the same examples, by recording where files are known: windows are no independent trials.

    `folds` is the test fold of each example, the same for all systems; with two folds or more the differences of
    `measure` in each of them are tested too, and three systems or more are ranked.
    """
    one = _checked(systems)
    folds = _folds(folds, len(one))
    if one.files:
        folds = folds[[rows[0] for rows in one.recordings()]]
        systems = {name: predictions.per_recording(pool) for name, predictions in systems.items()}
    contest = _Contest({name: OneLabel(each) for name, each in systems.items()}, folds, measure)
    return contest.comparison(costs or {}, resampling, alpha)


def compare_labels(
    systems: Mapping[str, LabelPredictions],
    folds: Any = None,
    *,
    measure: str = "mean_average_precision",
    costs: Mapping[str, Mapping[str, float]] | None = None,
    resampling: Resampling | None = None,
    alpha: float = ALPHA,
) -> Comparison:
    """The same for labels of which several hold at once, over windows; log-losses are tested by recording."""
    _check_several(systems)
    (first, one), *others = systems.items()
    for name, other in others:
        if one.labels != other.labels or not np.array_equal(one.holds, other.holds) or one.files != other.files:
            raise ValueError(NOT_THE_SAME.format(first, name))
    return _Contest(systems, _folds(folds, len(one)), measure).comparison(costs or {}, resampling, alpha)


class Contestant(Protocol):
    """What a system predicted, as it is compared."""

    @property
    def groups(self) -> np.ndarray:
        """The group of each prediction."""

    def __len__(self) -> int: ...

    def measures(self, only: str | None = None) -> Measures:
        """Every measure, or one, for any multiplicities of the predictions."""

    def tests_against(self, other: Self) -> dict[str, HypothesisTest]:
        """Whether two differ on the same examples, by the names of the tests."""


@dataclass(frozen=True, eq=False)
class OneLabel:
    """Predictions of one label at a time."""

    predictions: Predictions

    @property
    def groups(self) -> np.ndarray:
        """The group of each."""
        return self.predictions.groups

    def __len__(self) -> int:
        return len(self.predictions)

    def measures(self, only: str | None = None) -> Measures:
        """Those of a summary."""
        return summary_measures(self.predictions, only=MEASURES if only is None else {only})

    def tests_against(self, other: OneLabel) -> dict[str, HypothesisTest]:
        """McNemar's, of who is right where."""
        return {"mcnemar": mcnemar(self.predictions.is_right, other.predictions.is_right)}


@dataclass(frozen=True, eq=False)
class _Contest(Generic[C]):
    """What all systems predicted, and the fold of each prediction."""

    predictions: Mapping[str, C]
    folds: np.ndarray
    measure: str

    def comparison(
        self, costs: Mapping[str, Mapping[str, float]], resampling: Resampling | None, alpha: float
    ) -> Comparison:
        """All systems, pairs and ranks."""
        values = self.values()
        known = next(iter(values.values()))
        if self.measure not in known:
            raise ValueError(f"unknown measure {self.measure!r}; known: {', '.join(known)}")
        return Comparison(
            self.measure,
            tuple(System(name, of_system, costs.get(name, {})) for name, of_system in values.items()),
            _adjusted(self.pairs(resampling)),
            self.ranked(alpha),
        )

    @cached_property
    def measures_of(self) -> dict[str, Measures]:
        """What gives the measure compared by, for any multiplicities of the predictions, of each system."""
        return {name: each.measures(self.measure) for name, each in self.predictions.items()}

    def values(self) -> dict[str, dict[str, float]]:
        """Every measure of each system over all predictions."""
        return {name: each.measures()(np.ones(len(each))) for name, each in self.predictions.items()}

    def scores(self) -> np.ndarray:
        """The measure compared by, (n_folds, n_systems)."""
        columns = self.measures_of.values()
        return np.array(
            [[each(self.folds == fold)[self.measure] for each in columns] for fold in np.unique(self.folds)]
        )

    def pairs(self, resampling: Resampling | None) -> list[Pair]:
        """Each pair with its interval and tests, before any correction."""
        groups = next(iter(self.predictions.values())).groups
        scores = dict(zip(self.predictions, self.scores().T, strict=True))
        values, intervals = self._differences(np.ones(len(groups))), bootstrap(self._differences, groups, resampling)
        return [
            Pair(*pair, values[pair], intervals[pair], self._tests(*pair, scores[pair[0]] - scores[pair[1]]), {})
            for pair in combinations(self.predictions, 2)
        ]

    def ranked(self, alpha: float) -> Ranked | None:
        """Ranks over the folds; None for two systems, a single fold, or a fold that a measure says nothing of."""
        scores, higher = self.scores(), self.measure not in LOWER_IS_BETTER
        if scores.shape[0] < 2 or scores.shape[1] < 3 or not np.isfinite(scores).all():
            return None
        return rank_systems(tuple(self.predictions), scores, block="fold", higher_is_better=higher, alpha=alpha)

    def _differences(self, multiplicities: np.ndarray) -> dict[tuple[str, str], float]:
        """First minus second of each pair; one resample serves all systems."""
        values = {name: each(multiplicities)[self.measure] for name, each in self.measures_of.items()}
        return {(one, other): values[one] - values[other] for one, other in combinations(values, 2)}

    def _tests(self, one: str, other: str, differences: np.ndarray) -> dict[str, HypothesisTest]:
        tests = self.predictions[one].tests_against(self.predictions[other])
        if len(differences) < 2 or not np.isfinite(differences).all():
            return tests
        test_over_train = 1 / (len(differences) - 1)
        return tests | {"corrected_t": corrected_t(differences, test_over_train), "wilcoxon": wilcoxon(differences)}


def _adjusted(pairs: list[Pair]) -> tuple[Pair, ...]:
    """Each test's p values corrected over all pairs that it was made for."""
    tests = list(dict.fromkeys(name for pair in pairs for name in pair.tests))
    p = {name: holm([pair.tests[name].p if name in pair.tests else np.nan for pair in pairs]) for name in tests}
    return tuple(
        replace(pair, adjusted={name: float(p[name][row]) for name in pair.tests}) for row, pair in enumerate(pairs)
    )


def _checked(systems: Mapping[str, Predictions]) -> Predictions:
    """The predictions of the first system, once all are known to be of the same examples."""
    _check_several(systems)
    (first, one), *others = systems.items()
    for name, other in others:
        if one.labels != other.labels or not np.array_equal(one.y, other.y) or one.files != other.files:
            raise ValueError(NOT_THE_SAME.format(first, name))
    return one


def _check_several(systems: Mapping[str, object]) -> None:
    if len(systems) < 2:
        raise ValueError(f"{len(systems)} given, at least 2 systems are needed to compare")


def _folds(folds: Any, n_examples: int) -> np.ndarray:
    """The fold of each example; one for all where none are stated."""
    of_examples = np.zeros(n_examples) if folds is None else np.asarray(folds)
    if len(of_examples) != n_examples:
        raise ValueError(f"{len(of_examples)} folds for {n_examples} examples")
    return of_examples

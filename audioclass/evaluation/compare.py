"""How far apart systems are that classified the same examples in the same folds, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from audioclass.evaluation.bootstrap import Resampling, bootstrap
from audioclass.evaluation.comparison import Comparison, Pair, System
from audioclass.evaluation.paired import HypothesisTest, corrected_t, holm, mcnemar, wilcoxon
from audioclass.evaluation.predictions import Pool, Predictions
from audioclass.evaluation.ranks import ALPHA, Ranked, rank_systems
from audioclass.evaluation.summary import LOWER_IS_BETTER, Measures, summary_measures


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
    contest = _Contest.of(systems, folds, measure, pool)
    return Comparison(
        measure,
        tuple(System(name, values, (costs or {}).get(name, {})) for name, values in contest.values().items()),
        _adjusted(contest.pairs(resampling)),
        contest.ranked(alpha),
    )


@dataclass(frozen=True, eq=False)
class _Contest:
    """What all systems predicted, gathered by recording, and the fold of each prediction."""

    predictions: Mapping[str, Predictions]
    folds: np.ndarray
    measure: str

    @classmethod
    def of(cls, systems: Mapping[str, Predictions], folds: Any, measure: str, pool: Pool | None) -> _Contest:
        one = _checked(systems)
        folds = np.zeros(len(one)) if folds is None else np.asarray(folds)
        if len(folds) != len(one):
            raise ValueError(f"{len(folds)} folds for {len(one)} examples")
        if one.files:
            folds = folds[[rows[0] for rows in one.recordings()]]
            systems = {name: predictions.per_recording(pool) for name, predictions in systems.items()}
        contest = cls(systems, folds, measure)
        known = next(iter(contest.values().values()))
        if measure not in known:
            raise ValueError(f"unknown measure {measure!r}; known: {', '.join(known)}")
        return contest

    @cached_property
    def measures_of(self) -> dict[str, Measures]:
        """What gives the measure compared by, for any multiplicities of the predictions, of each system."""
        return {name: summary_measures(each, only={self.measure}) for name, each in self.predictions.items()}

    def values(self) -> dict[str, dict[str, float]]:
        """Every measure of each system over all predictions."""
        return {name: summary_measures(each)(np.ones(len(each))) for name, each in self.predictions.items()}

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
        tests = {"mcnemar": mcnemar(self.predictions[one].is_right, self.predictions[other].is_right)}
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
    if len(systems) < 2:
        raise ValueError(f"{len(systems)} given, at least 2 systems are needed to compare")
    (first, one), *others = systems.items()
    for name, other in others:
        if one.labels != other.labels or not np.array_equal(one.y, other.y) or one.files != other.files:
            raise ValueError(f"systems {first!r} and {name!r} did not predict the same examples")
    return one

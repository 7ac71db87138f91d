"""Kernels that compete on a subsample: each is searched, and the one that the criterion likes best is chosen."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import Criterion, HasGradient, HasGradients, Kernel, Search
from audioclass.kernels.statistics import Statistic, gram_of_statistic, pairwise, statistic_of
from audioclass.parameters import parameters_of
from audioclass.problems import Axis, Found, Trial
from audioclass.searches.pattern import Pattern
from audioclass.training.config import ErrorFactorRule, TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.objective import C_AXIS, CriterionObjective, SelectionSample, axis_of
from audioclass.training.refinement import as_unscaled, thin_features
from audioclass.training.stored_selection import Selected
from audioclass.training.subsampling import Subsample
from audioclass.training.widening import Limits, reaching, search_widening

SHARED_ROWS = 4000  # rows up to which one statistic is computed for all dichotomies


@dataclass(frozen=True, eq=False)
class SharedStatistics:
    """Statistics over all rows that any dichotomy looks at, for want of computing them again for each."""

    rows: np.ndarray
    matrices: Mapping[Statistic, np.ndarray]

    def among(self, statistic: Statistic | None, rows: np.ndarray) -> np.ndarray | None:
        """Those among some of the rows; None where they are not at hand."""
        if statistic is None or statistic not in self.matrices:
            return None
        places = np.searchsorted(self.rows, rows)
        return self.matrices[statistic][np.ix_(places, places)]


def shared_statistics(
    examples: Examples, subsamples: Sequence[Subsample], kernels: Sequence[Kernel]
) -> SharedStatistics:
    """Computed where several dichotomies read them and they are few enough."""
    rows = np.unique(np.concatenate([*(subsample.rows for subsample in subsamples), np.empty(0, int)])).astype(int)
    if len(subsamples) < 2 or len(rows) > SHARED_ROWS:
        return SharedStatistics(rows, {})
    X = np.asarray(examples.statistics.X[rows], np.float64)
    statistics = [statistic for statistic in map(statistic_of, kernels) if statistic is not None]
    return SharedStatistics(rows, {statistic: pairwise(statistic, X) for statistic in statistics})


@dataclass(frozen=True, eq=False)
class Competition:
    """The work on one subsample: the best of the kernels, made finer where that is asked for."""

    config: TrainingConfig
    criterion: Criterion
    search: Search
    seed: int
    examples: Examples
    shared: SharedStatistics

    def __call__(self, subsample: Subsample) -> Selected:
        """The choice, with notes of kernels that could not be evaluated."""
        sample = SelectionSample(
            X=np.asarray(self.examples.statistics.X[subsample.rows], np.float64),
            targets=subsample.targets,
            weights=subsample.weights,
            groups=self.examples.to_rows(self.examples.groups)[subsample.rows],
            n_folds=self.config.selection_folds,
        )
        candidates, notes = [], []
        for kernel in self.config.kernels:
            objective = CriterionObjective(
                sample,
                kernel,
                self.criterion,
                C=self.config.C,
                c_rule=self._c_rule,
                S=self.shared.among(statistic_of(kernel), subsample.rows),
                climbs=self.search.needs_gradient,
            )
            try:
                candidates.append(self._searched(objective))
            except ValueError as error:
                notes.append(f"{kernel.name}: {objective.failure or error}")
        note = "; ".join(notes)
        if not candidates:
            as_given = f"nothing could be evaluated, taken as given: {note}"
            return Selected(self.config.kernels[0], self.config.C, note=as_given)
        sign = 1 if self.criterion.better == "lower" else -1
        best = min(candidates, key=lambda candidate: sign * candidate.value)
        best = replace(best, note="; ".join(filter(None, [note, best.note])))
        return self._thinned(sample, best)

    def _searched(self, objective: CriterionObjective) -> Selected:
        """The best parameters and C of one kernel; a ValueError where nothing can be evaluated."""
        if objective.climbs and not isinstance(self.criterion, HasGradient):
            raise ValueError(f"{self.criterion.name} has no derivatives, which search {self.search.name} needs")
        axes = objective.axes(_climbable(objective.kernel) if objective.climbs else None) + self._c_axes(objective.C)
        is_blind = self._c_rule != self.config.c_rule
        note = f"{self.criterion.name} does not depend on C, Joachims' value is taken" if is_blind else ""
        result, at_end = self._search(self.search, objective, axes) if axes else (_as_it_is(objective), "")
        kernel, C = objective.at(result.point)
        note = "; ".join(filter(None, [note, at_end]))
        return Selected(kernel, C, _trace(objective, result), note, objective.shown(result.value))

    def _search(self, search: Search, objective: CriterionObjective, axes: Sequence[Axis]) -> tuple[Found, str]:
        """The best point, of wider ranges where it lies at an end, and a note where these end too."""
        known = {p.name: Limits.of(p) for p in parameters_of(type(objective.kernel))} | {C_AXIS: Limits(low=0.0)}
        limits = {axis.name: known[axis.name] for axis in axes}
        limits |= {
            axis.name: Limits.stated(axis) for axis in axes if axis.name == C_AXIS and self.config.states_c_range
        }
        return search_widening(search, axes, objective.objective, limits, seed=self.seed)

    @property
    def _c_rule(self) -> ErrorFactorRule:
        """As configured, but nothing is searched where the criterion cannot tell one C from another."""
        rule = self.config.c_rule
        return "joachims" if rule == "searched" and "C" not in self.criterion.depends_on else rule

    def _c_axes(self, start: float) -> list[Axis]:
        return [axis_of(C_AXIS, self.config.c_range, "log", start)] if self._c_rule == "searched" else []

    def _thinned(self, sample: SelectionSample, chosen: Selected) -> Selected:
        """The choice on the features that tell the sides apart, where that is asked for and better."""
        kernel = as_unscaled(chosen.kernel, sample.X.shape[1])
        if not self.config.feature_shares or kernel is None:
            return chosen
        search = Pattern() if self.search.needs_gradient else self.search
        for thin in thin_features(sample, kernel, self.config.feature_shares):
            objective = CriterionObjective(sample, thin, self.criterion, C=chosen.C, c_rule=self._c_rule)
            axes = [reaching(axis, thin.sigma) for axis in objective.axes()]
            axes += [reaching(axis, chosen.C) for axis in self._c_axes(chosen.C)]
            with contextlib.suppress(ValueError):  # nothing on these features can be evaluated
                chosen = _better(chosen, objective, *self._search(search, objective, axes))
        return chosen


def _better(chosen: Selected, objective: CriterionObjective, result: Found, note: str = "") -> Selected:
    """The choice, or the result with its note where the criterion likes that better; both leave their trace."""
    trace = chosen.trace + _trace(objective, result)
    if result.value >= objective.shown(chosen.value):  # turned: smaller is better
        return replace(chosen, trace=trace)
    kernel, C = objective.at(result.point)
    notes = "; ".join(filter(None, [chosen.note, note]))
    return Selected(kernel, C, trace, notes, objective.shown(result.value))


def _trace(objective: CriterionObjective, result: Found) -> tuple[Trial, ...]:
    """Every point that was looked at, with values as the criterion states them."""
    return tuple(Trial(trial.point, objective.shown(trial.value)) for trial in result.trace)


def _as_it_is(objective: CriterionObjective) -> Found:
    """The result of a search where there is nothing to search."""
    value = objective.value({})
    if math.isnan(value):
        raise ValueError("the criterion is NaN")
    return Found({}, value, (Trial({}, value),))


def _climbable(kernel: Kernel) -> list[str]:
    """The parameters that a kernel has derivatives by."""
    if statistic_of(kernel) is None or not isinstance(kernel, HasGradients):
        return []
    S = np.zeros((1, 1))
    return list(kernel.gradients(S, gram_of_statistic(kernel, S)))

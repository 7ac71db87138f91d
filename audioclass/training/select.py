"""A kernel with its parameters and an error factor for every dichotomy, by a criterion and a search."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import (
    Criterion,
    HasGradient,
    HasGradients,
    JoinsMachines,
    Kernel,
    Search,
    StatesLoss,
    TakesLabels,
)
from audioclass.criteria.judging import check_judges
from audioclass.kernels.statistics import Statistic, gram_of_statistic, pairwise, statistic_of
from audioclass.parameters import parameters_of
from audioclass.problems import Axis, Dichotomy, Found, Trial
from audioclass.run import Run
from audioclass.searches.pattern import Pattern
from audioclass.storage import Store
from audioclass.threads import one_thread
from audioclass.training.config import ErrorFactorRule, TrainingConfig
from audioclass.training.dichotomies import count_sets, problem_for
from audioclass.training.direct import labels_problem_for
from audioclass.training.examples import Examples, digest_of, spread_rows
from audioclass.training.held_out import ClosedForm, HeldOutScoring
from audioclass.training.objective import C_AXIS, CriterionObjective, SelectionSample, SelectionTarget, axis_of
from audioclass.training.parallel import map_on_one_thread
from audioclass.training.problem import Problem
from audioclass.training.refinement import as_unscaled, thin_features
from audioclass.training.selection_scores import SampleHoldOut
from audioclass.training.stored_selection import Selected, restored
from audioclass.training.widening import Limits, reaching, search_widening

SHARED_ROWS = 4000  # rows up to which one statistic is computed for all dichotomies


@one_thread()
def select(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Selected]:
    """One choice for each dichotomy, wherever the work is done; without a criterion the first kernel and C as given.

    The kernels compete, each from the parameters it has; one that cannot be evaluated is noted and passed over. Where
    none can, the first is taken as it is. C is searched with the kernel's parameters, is Joachims' value for each
    kernel, or fixed; a criterion that states no dependence on C gets Joachims' value in the place of a search.
    The criterion is given what training will use: its trainer, weights and held-out method; a UsageError where it does
    not judge that trainer. Each dichotomy has its own choice, shares one with those of the same of the `levels`, or
    with those of the same labels, as the configuration says; dichotomies over the same rows that share one are trained
    by one factorisation. Where each label has a machine against the rest, a criterion that joins machines judges them
    by what they say together. `importance` (n, n_dichotomies) leaves out the examples where it is 0.

    A Gaussian kernel can then be made finer: with `feature_shares`, as many of the features stay as the criterion likes
    best.
    """
    if config.criterion is None:
        return [Selected(config.kernels[0], config.C)] * len(dichotomies)
    subsamples = subsamples_of(dichotomies, examples, config, importance, levels)
    chosen: dict[int, Selected] = {}
    for subsample, choice in zip(subsamples, _compete(subsamples, examples, config, run), strict=True):
        chosen |= dict.fromkeys(subsample.numbers, choice)
    return [chosen[number] for number in range(len(dichotomies))]


@one_thread()
def select_for_labels(examples: Examples, n_labels: int, config: TrainingConfig, run: Run) -> Selected:
    """One choice for a strategy that fits all labels at once.

    A criterion that takes labels is given them all, with that strategy; another the mean over each label against the
    rest, without a machine: those that need one are refused.
    """
    if config.criterion is None:
        return Selected(config.kernels[0], config.C)
    subsample = labels_subsample(examples, n_labels, config)
    [choice] = _compete([subsample], examples, config, run)
    return choice


def stored_selection(
    store: Store | None,
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Selected]:
    """What `select` chose before, where a store has it, else what it chooses now; the same to the bit."""

    def choose() -> list[Selected]:
        return select(dichotomies, examples, config, run, importance=importance, levels=levels)

    def key() -> str:
        counted = None if importance is None else digest_of(importance)
        scope = (tuple(dichotomies), config.selection_scope, None if levels is None else tuple(levels), counted)
        return _key(examples, config, run, (*scope, config.trainer, config.large, config.large_rows))

    return restored(store, key, config.kernels, choose)


def stored_selection_for_labels(
    store: Store | None,
    examples: Examples,
    n_labels: int,
    config: TrainingConfig,
    run: Run,
) -> Selected:
    """What `select_for_labels` chose before, where a store has it, else what it chooses now; the same to the bit."""

    def choose() -> list[Selected]:
        return [select_for_labels(examples, n_labels, config, run)]

    def key() -> str:
        return _key(examples, config, run, ("all labels", n_labels, config.strategy))

    [choice] = restored(store, key, config.kernels, choose)
    return choice


def _key(examples: Examples, config: TrainingConfig, run: Run, targets: tuple[object, ...]) -> str:
    """All that a choice depends on."""
    choices = (
        config.kernels,
        config.C,
        config.criterion,
        config.search,
        config.c_rule,
        config.c_range,
        config.states_c_range,
    )
    sizes = (config.selection_rows, config.selection_folds, run.seed)
    method = (config.held_out, config.folds, config.balance)
    return f"{examples.fingerprint}\n{(targets, choices, sizes, method, config.feature_shares)!r}"


def _compete(
    subsamples: Sequence[Subsample],
    examples: Examples,
    config: TrainingConfig,
    run: Run,
) -> Iterator[Selected]:
    """The choice for each subsample, in their order."""
    if config.criterion is None:
        raise ValueError("a competition needs a criterion, the configuration has none")
    shared = _shared_statistics(examples, subsamples, config.kernels)
    work = _Competition(config, config.criterion, config.search or Pattern(), run.seed, examples, shared)
    return map_on_one_thread(run, "selection", work, subsamples)


# --- the rows that are looked at ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Subsample:
    """Rows that are looked at for the targets of some `numbers`, with their weights; targets have places among them."""

    rows: np.ndarray
    weights: np.ndarray
    targets: tuple[SelectionTarget, ...]
    numbers: tuple[int, ...]


def subsamples_of(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    importance: np.ndarray | None = None,
    levels: Sequence[int] | None = None,
) -> list[Subsample]:
    """A few rows for each dichotomy, or for all that share a choice together."""
    together: dict[object, list[int]] = {}
    for number, dichotomy in enumerate(dichotomies):
        counted = b"" if importance is None else importance[:, number].tobytes()
        shared: dict[str, object] = {
            "node": number,
            "level": None if levels is None else levels[number],
            "shared": frozenset(dichotomy.positive + dichotomy.negative),
        }
        together.setdefault((shared[config.selection_scope], counted), []).append(number)
    return [_subsample(numbers, dichotomies, examples, config, importance) for numbers in together.values()]


def _subsample(
    numbers: Sequence[int],
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    config: TrainingConfig,
    importance: np.ndarray | None,
) -> Subsample:
    """Rows spread evenly over the labels, or over the sides of a dichotomy that stands alone.

    They are first versions alone: others of the same windows tell nothing new of a kernel.
    """
    factors = None if importance is None else importance[:, numbers[0]]
    kernel, n_sets = config.kernels[0], count_sets(dichotomies)
    problems = [
        problem_for(dichotomies[number], examples, config, kernel=kernel, C=config.C, n_sets=n_sets, importance=factors)
        for number in numbers
    ]
    takes_part, weights = np.zeros(examples.n_rows, bool), np.zeros(examples.n_rows)
    for problem, _ in problems:
        if config.criterion is not None:
            check_judges(config.criterion, problem.learner)
        takes_part[problem.rows], weights[problem.rows] = True, problem.weights
    first = problems[0][0]
    rows = examples.firsts[takes_part[examples.firsts]]
    strata = examples.to_rows(examples.y)[rows] if len(numbers) > 1 else first.y[np.isin(first.rows, rows)] > 0
    rows = rows[spread_rows(strata, config.selection_rows)]
    targets = tuple(_target(problem, scoring, rows, config) for problem, scoring in problems)
    if _are_joined([dichotomies[number] for number in numbers], targets, config):
        y = examples.to_rows(examples.y)[rows]
        targets = (replace(targets[0], rows=np.arange(len(rows)), y=y),)
    return Subsample(rows, weights[rows], targets, tuple(numbers))


def _are_joined(dichotomies: Sequence[Dichotomy], targets: Sequence[SelectionTarget], config: TrainingConfig) -> bool:
    """Whether the criterion judges the labels together: each has a machine against the rest, in one closed form.

    What is trained in the end says which label it is, not how well each label is told from the rest by itself.
    """
    alone = {side for dichotomy in dichotomies for side in (dichotomy.positive, dichotomy.negative) if len(side) == 1}
    labels = set(dichotomies[0].positive + dichotomies[0].negative)
    if len(labels) < 3 or len(alone) < len(labels) or not isinstance(config.criterion, JoinsMachines):
        return False
    joins = config.criterion.joins
    return all(
        target.hold_out is None
        and not target.balanced
        and isinstance(target.learner, StatesLoss)
        and target.learner.loss in joins
        for target in targets
    )


def labels_subsample(examples: Examples, n_labels: int, config: TrainingConfig) -> Subsample:
    """Rows spread evenly over the labels, for all of them at once or for each against the rest."""
    problem, scoring = labels_problem_for(examples, n_labels, config, kernel=config.kernels[0], C=config.C)
    if config.criterion is not None:
        check_judges(config.criterion, problem.learner)
    windows = spread_rows(examples.y, config.selection_rows)
    rows = examples.firsts[windows]
    if isinstance(config.criterion, TakesLabels) and config.criterion.takes_labels:
        targets = (_target(problem, scoring, rows, config),)
    else:
        y, places = examples.y[windows], np.arange(len(rows))
        sides = (np.where(y == label, 1, -1) for label in range(n_labels))
        targets = tuple(SelectionTarget(rows=places, y=side, balanced=problem.balanced) for side in sides)
    return Subsample(rows, examples.weights[windows], targets, (0,))


def _target(problem: Problem, scoring: HeldOutScoring, rows: np.ndarray, config: TrainingConfig) -> SelectionTarget:
    """What of a problem lies among the rows, to be fitted and held out as the whole will be."""
    learner = problem.learner
    among = np.isin(problem.rows, rows)
    is_closed = isinstance(scoring, ClosedForm) and isinstance(learner, StatesLoss) and learner.loss == "squared"
    return SelectionTarget(
        rows=np.searchsorted(rows, problem.rows[among]),
        y=problem.y[among],
        learner=learner,
        balanced=problem.balanced,
        hold_out=None if is_closed else SampleHoldOut(scoring, config.folds),
    )


@dataclass(frozen=True, eq=False)
class _SharedStatistics:
    """Statistics over all rows that any dichotomy looks at, for want of computing them again for each."""

    rows: np.ndarray
    matrices: Mapping[Statistic, np.ndarray]

    def among(self, statistic: Statistic | None, rows: np.ndarray) -> np.ndarray | None:
        """Those among some of the rows; None where they are not at hand."""
        if statistic is None or statistic not in self.matrices:
            return None
        places = np.searchsorted(self.rows, rows)
        return self.matrices[statistic][np.ix_(places, places)]


def _shared_statistics(
    examples: Examples, subsamples: Sequence[Subsample], kernels: Sequence[Kernel]
) -> _SharedStatistics:
    """Computed where several dichotomies read them and they are few enough."""
    rows = np.unique(np.concatenate([*(subsample.rows for subsample in subsamples), np.empty(0, int)])).astype(int)
    if len(subsamples) < 2 or len(rows) > SHARED_ROWS:
        return _SharedStatistics(rows, {})
    X = np.asarray(examples.statistics.X[rows], np.float64)
    statistics = [statistic for statistic in map(statistic_of, kernels) if statistic is not None]
    return _SharedStatistics(rows, {statistic: pairwise(statistic, X) for statistic in statistics})


# --- the choice for one subsample ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Competition:
    """The work on one subsample: the best of the kernels, made finer where that is asked for."""

    config: TrainingConfig
    criterion: Criterion
    search: Search
    seed: int
    examples: Examples
    shared: _SharedStatistics

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

    def _rng(self) -> np.random.Generator:
        """Each search starts from the seed, so that none depends on those before it."""
        return np.random.default_rng(self.seed)


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

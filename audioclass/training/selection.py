"""A kernel with its parameters and an error factor for every dichotomy, by a criterion and a search."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed

from audioclass.contracts import Criterion, HasGradient, HasGradients, Kernel, Search
from audioclass.criteria.held_out import LeaveGroupOutLogLoss
from audioclass.errors import unknown_name
from audioclass.kernels.statistics import statistic_of
from audioclass.numerics import one_thread
from audioclass.problems import Dichotomy, Found, Trial
from audioclass.searches.lbfgs import LBFGS
from audioclass.searches.pattern import Pattern
from audioclass.training.examples import Examples
from audioclass.training.objective import C_AXIS, CriterionObjective, Problem, axis_of
from audioclass.training.refinement import GroupWeightObjective, as_unscaled, thin_features, weigh_groups
from audioclass.training.subsampling import SharedStatistics, Subsample, shared

Progress = Callable[[int, int], None]  # searches done, searches in all
CRule = Literal["searched", "joachims", "fixed"]
C_RULES = ("searched", "joachims", "fixed")


@dataclass(frozen=True)
class Selection:
    """How kernels and error factors are chosen.

    `c_rule`: C is searched with the kernel's parameters over `c_range`, is Joachims' value for each kernel, or fixed;
    a criterion that does not depend on C gets Joachims' value in the place of a search. With `together`, dichotomies
    over the same rows share one choice, so that one factorisation trains them all. At most `most_rows` rows are looked
    at, spread over the sides. `n_folds` serves criteria that train on folds.

    A Gaussian kernel can then be made finer: with `column_groups`, the group of each feature, the groups get weights by
    the gradient of the criterion; with `feature_shares`, as many of the features are kept as the criterion likes best.
    """

    criterion: Criterion = field(default_factory=LeaveGroupOutLogLoss)
    search: Search = field(default_factory=Pattern)
    c_rule: CRule = "searched"
    c_range: tuple[float, float] = (0.1, 1000.0)
    together: bool = True
    most_rows: int = 400
    n_folds: int = 10
    seed: int = 0
    column_groups: tuple[str, ...] = ()
    feature_shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.c_rule not in C_RULES:
            raise unknown_name("rule for C", self.c_rule, C_RULES)
        if self.most_rows < 2:
            raise ValueError(f"most_rows={self.most_rows} must be at least 2")
        if not all(0 < share <= 1 for share in self.feature_shares):
            raise ValueError(f"feature_shares={self.feature_shares} must lie above 0 and at most at 1")


@dataclass(frozen=True)
class Selected:
    """The kernel and C of a dichotomy, every point that was looked at, and what could not be judged.

    `value` is the criterion's own at the choice, NaN where nothing was judged; the points of `trace` name the
    parameters, C where it was searched, and hold the criterion's values as it says them.
    """

    kernel: Kernel
    C: float
    trace: tuple[Trial, ...] = ()
    note: str = ""
    value: float = math.nan


@one_thread()
def select(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    kernels: Sequence[Kernel],
    C: float,
    selection: Selection,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Selected]:
    """One choice for each dichotomy, whatever the number of processes; `C` counts where it is fixed.

    `kernels` compete, each from the parameters it has; one that cannot be judged is noted and passed over. Where none
    can, the first is taken as it is.
    """
    if not kernels:
        raise ValueError("no kernel to choose from, at least one is needed")
    looked_at = [Subsample.at(own, examples, selection.most_rows) for own in shared(dichotomies, selection.together)]
    statistics = SharedStatistics(examples, [look.rows for look in looked_at], kernels)
    work = (
        (look.problem(examples, selection.n_folds), kernels, C, selection, statistics.of(look.rows))
        for look in looked_at
    )
    chosen: dict[int, Selected] = {}
    for done, (found, look) in enumerate(zip(_run(work, len(looked_at), jobs), looked_at, strict=True), start=1):
        chosen |= dict.fromkeys(look.indices, found)
        if progress is not None:
            progress(done, len(looked_at))
    return [chosen[index] for index in range(len(dichotomies))]


def _run(work: Iterator[tuple], count: int, jobs: int) -> Iterator[Selected]:
    """The choices in order."""
    if jobs == 1 or count < 2:
        return (_compete(*item) for item in work)
    return Parallel(n_jobs=jobs, return_as="generator")(delayed(_compete_apart)(*item) for item in work)


def _compete(
    problem: Problem, kernels: Sequence[Kernel], C: float, selection: Selection, statistics: dict[Any, np.ndarray]
) -> Selected:
    """The best of the kernels; notes of those that could not be judged."""
    found, notes = [], []
    for kernel in kernels:
        judge = CriterionObjective(
            problem, kernel, selection.criterion, selection.c_rule, C, statistics.get(statistic_of(kernel))
        )
        try:
            found.append((judge.shown(1), _search(judge, selection)))
        except ValueError as error:
            notes.append(f"{kernel.name}: {judge.failure or error}")
    note = "; ".join(notes)
    if not found:
        return Selected(kernels[0], C, note=f"nothing could be judged, taken as given: {note}")
    best = min(found, key=lambda pair: pair[0] * pair[1].value)[1]
    best = replace(best, note="; ".join(filter(None, [note, best.note])))
    for refine in (_weighed, _thinned):
        best = refine(problem, best, selection)
    return best


@one_thread()
def _compete_apart(*item: Any) -> Selected:
    """The same in a process of its own, which has its own threads."""
    return _compete(*item)


def _weighed(problem: Problem, chosen: Selected, selection: Selection) -> Selected:
    """The choice with weights for the groups of features, where that is asked for and better."""
    kernel = as_unscaled(chosen.kernel, problem.X.shape[1])
    if not selection.column_groups or kernel is None:
        return chosen
    if not isinstance(selection.criterion, HasGradient):
        return _noted(chosen, f"{selection.criterion.name} has no derivatives to weigh groups by")
    judge = GroupWeightObjective(problem, kernel, chosen.C, selection.column_groups, selection.criterion)
    search = selection.search if selection.search.needs_gradient else LBFGS()
    c_range = selection.c_range if selection.c_rule == "searched" else None
    found = weigh_groups(judge, c_range, search, np.random.default_rng(selection.seed))
    return _better(chosen, judge, found)


def _thinned(problem: Problem, chosen: Selected, selection: Selection) -> Selected:
    """The choice on the features that tell the sides apart, where that is asked for and better."""
    kernel = as_unscaled(chosen.kernel, problem.X.shape[1])
    if not selection.feature_shares or kernel is None:
        return chosen
    search = Pattern() if selection.search.needs_gradient else selection.search
    for thin in thin_features(problem, kernel, selection.feature_shares):
        judge = CriterionObjective(problem, thin, selection.criterion, selection.c_rule, chosen.C)
        more = [axis_of(C_AXIS, selection.c_range, "log", chosen.C)] if C_AXIS in chosen.trace[0].point else []
        with contextlib.suppress(ValueError):  # nothing on these features can be judged
            found = search.search([*judge.axes(), *more], judge.objective, np.random.default_rng(selection.seed))
            chosen = _better(chosen, judge, found)
    return chosen


def _better(chosen: Selected, judge: CriterionObjective, found: Found) -> Selected:
    """The choice, or what was found where the criterion likes that better; both leave their trace."""
    trace = chosen.trace + tuple(Trial(trial.point, judge.shown(trial.value)) for trial in found.trace)
    if found.value >= judge.shown(chosen.value):  # turned: smaller is better
        return replace(chosen, trace=trace)
    kernel, C = judge.at(found.point)
    return Selected(kernel, C, trace, chosen.note, judge.shown(found.value))


def _noted(chosen: Selected, note: str) -> Selected:
    return replace(chosen, note="; ".join(filter(None, [chosen.note, note])))


def _search(judge: CriterionObjective, selection: Selection) -> Selected:
    """The best parameters and C of one kernel; a ValueError where nothing can be judged."""
    judge.climbs = selection.search.needs_gradient
    if judge.climbs and not isinstance(selection.criterion, HasGradient):
        raise ValueError(f"{selection.criterion.name} has no derivatives, which search {selection.search.name} needs")
    axes, note = judge.axes(_climbable(judge.kernel) if judge.climbs else None), ""
    if selection.c_rule == "searched":
        if _depends_on_c(judge, selection.c_range):
            axes.append(axis_of(C_AXIS, selection.c_range, "log", judge.C))
        else:
            judge.follow_joachims()
            note = f"{selection.criterion.name} does not depend on C, Joachims' value is taken"
    rng = np.random.default_rng(selection.seed)
    found = selection.search.search(axes, judge.objective, rng) if axes else _as_it_is(judge)
    kernel, C = judge.at(found.point)
    trace = tuple(Trial(trial.point, judge.shown(trial.value)) for trial in found.trace)
    return Selected(kernel, C, trace, note, judge.shown(found.value))


def _as_it_is(judge: CriterionObjective) -> Found:
    """What a search finds where there is nothing to search."""
    value = judge.value({})
    if math.isnan(value):
        raise ValueError("the criterion is NaN")
    return Found({}, value, (Trial({}, value),))


def _climbable(kernel: Kernel) -> list[str]:
    """The parameters that a kernel has derivatives by."""
    if statistic_of(kernel) is None or not isinstance(kernel, HasGradients):
        return []
    S = np.zeros((1, 1))
    return list(kernel.gradients(S, kernel.of(S)))


def _depends_on_c(judge: CriterionObjective, c_range: tuple[float, float]) -> bool:
    """Whether the criterion differs anywhere among three values of C under the kernel as it is."""
    low, high = c_range
    values = [judge.value({C_AXIS: C}) for C in (low, math.sqrt(low * high), high)]
    known = [value for value in values if not math.isnan(value)]
    return len(set(known)) > 1 or len(known) < len(values)

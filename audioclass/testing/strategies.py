"""The contract of a multi-class strategy (specification 5 to 7)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np

from audioclass.contracts import (
    Decides,
    FitsCombination,
    PlansRounds,
    Prunes,
    ScoresGroups,
    ScoresLabels,
    StatesRandomness,
    TellsLabelsIndependently,
)
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.label_sets import LabelSets
from audioclass.plain import is_plain
from audioclass.problems import Dichotomy, Geometry, Plan, Round
from audioclass.testing.blobs import blobs
from audioclass.testing.checks import COMMON, Check, repeated, require, require_close, skip_unless, unchanged

SIZES = (2, 3, 5, 9)
MOST_ROUNDS = 100


def _planned(strategy: Any, n_labels: int, order: np.ndarray | None = None) -> tuple[Plan, Geometry]:
    """The plan for labels on the corners of a polygon, in their own order or in another."""
    order = np.arange(n_labels) if order is None else order
    X, y = blobs(n_labels, n_each=4, spread=0.8)
    geometry = Geometry.of_gram(gram(Gaussian(), X), np.argsort(order)[y], n_labels)
    labels = [f"label {chr(ord('a') + i)}" for i in order]
    plan = strategy.plan(labels, geometry, None, np.random.default_rng(0))
    return _completed(strategy, plan, geometry, np.argsort(order)[y]), geometry


def _completed(strategy: Any, plan: Plan, geometry: Geometry, y: np.ndarray) -> Plan:
    """The plan after all its rounds, where machines are nearly sure of the labels y and right."""
    P = np.full((len(y), plan.n_labels), 0.01)
    P[np.arange(len(y)), y] = 1.0
    for _ in range(MOST_ROUNDS if isinstance(strategy, PlansRounds) else 0):
        following = strategy.plan_next(plan, *_answers(plan, P), y, geometry.counts)
        if following is None:
            return plan
        require(isinstance(following, Round), f"plan_next gave {type(following).__name__}, must be a Round or None")
        n_trained, importance = len(plan.dichotomies), following.importance
        require(following.plan.dichotomies[:n_trained] == plan.dichotomies, "a round dropped what was trained")
        n_new = len(following.plan.dichotomies) - n_trained
        require(n_new > 0, "a round added no dichotomy, None ends the rounds")
        if importance is not None:
            require(importance.shape == (len(y), n_new), f"importance has shape {importance.shape}")
        plan = following.plan
    require(not isinstance(strategy, PlansRounds), f"it still plans more after {MOST_ROUNDS} rounds")
    return plan


def _answers(plan: Plan, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What perfect machines answer where the posteriors are P: probabilities of the positive side, and log-odds."""
    positive = np.stack([P[:, list(d.positive)].sum(axis=1) for d in plan.dichotomies], axis=1)
    negative = np.stack([P[:, list(d.negative)].sum(axis=1) for d in plan.dichotomies], axis=1)
    return positive / (positive + negative), np.log(positive / negative)


def _settled(strategy: Any, plan: Plan, geometry: Geometry, P: np.ndarray, y: np.ndarray) -> tuple[Plan, Any]:
    """The plan without what the strategy drops, and what it learns for itself, where the truth is P and y."""
    if isinstance(strategy, Prunes):
        plan = strategy.prune(plan, *_answers(plan, P), y, geometry.counts)
    if not isinstance(strategy, FitsCombination):
        return plan, {}
    fitted = strategy.fit_combination(plan, *_answers(plan, P), y, geometry.counts)
    require(is_plain(dict(fitted)), f"fit_combination gave {fitted}, which JSON cannot hold")
    return plan, fitted


def _combined(strategy: Any, plan: Plan, geometry: Geometry, P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Posteriors of the strategy where the truth is P; what it learns for itself it learns from the labels y."""
    plan, fitted = _settled(strategy, plan, geometry, P, y)
    answers = _answers(plan, P)
    given = [*answers, geometry.counts]
    combined: np.ndarray = unchanged(given, lambda: strategy.combine(plan, *answers, geometry.counts, fitted))
    return combined


def _posteriors(n_labels: int, inverse_temperature: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of forty rows, surer where `inverse_temperature` is larger, and the label of the largest in each."""
    rng = np.random.default_rng(seed)
    logits = inverse_temperature * rng.standard_normal((40, n_labels))
    y = np.arange(40) % n_labels
    logits[np.arange(40), y] = logits.max(axis=1) + inverse_temperature
    P = np.exp(logits - logits.max(axis=1, keepdims=True)) + 1e-9
    return P / P.sum(axis=1, keepdims=True), y


def plan_is_sound(strategy: Any) -> None:
    """Every dichotomy names labels that exist, and every label takes part in one."""
    for n_labels in SIZES:
        plan, _ = _planned(strategy, n_labels)
        require(plan.n_labels == n_labels, f"n_labels is {plan.n_labels} for {n_labels} labels")
        require(plan.dichotomies, f"no dichotomy for {n_labels} labels")
        require(all(isinstance(d, Dichotomy) for d in plan.dichotomies), "dichotomies must be of class Dichotomy")
        named = {label for d in plan.dichotomies for label in (*d.positive, *d.negative)}
        require(named == set(range(n_labels)), f"{n_labels} labels, dichotomies over {sorted(named)}")


def plan_is_plain(strategy: Any) -> None:
    """The structure of a plan is plain values, and combining works on what JSON gives back."""
    plan, geometry = _planned(strategy, 5)
    require(is_plain(dict(plan.structure)), f"{plan.structure} holds something that JSON cannot")
    again = Plan(plan.n_labels, plan.dichotomies, json.loads(json.dumps(dict(plan.structure))))
    P, y = _posteriors(5, 1.0)
    expected = _combined(strategy, plan, geometry, P, y)
    require_close(_combined(strategy, again, geometry, P, y), expected, 1e-12, "posteriors after a round trip")


def posteriors_are_posteriors(strategy: Any) -> None:
    """Rows are at least 0 and sum to 1, for sure and unsure machines and any number of labels."""
    for n_labels in SIZES:
        plan, geometry = _planned(strategy, n_labels)
        for inverse_temperature in (0.0, 0.5, 8.0):
            P = _combined(strategy, plan, geometry, *_posteriors(n_labels, inverse_temperature))
            require(P.shape == (40, n_labels), f"shape {P.shape} for 40 rows of {n_labels} labels")
            require((P >= 0).all(), f"a posterior of {P.min()}")
            _require_sums(strategy, P, 1e-9)


def disagreeing_machines_give_posteriors(strategy: Any) -> None:
    """Rows are at least 0 and sum to 1 also where machines contradict one another, as trained ones do."""
    for n_labels in SIZES:
        planned, geometry = _planned(strategy, n_labels)
        plan, fitted = _settled(strategy, planned, geometry, *_posteriors(n_labels, 0.7))
        for what, probabilities in _contradictions(len(plan.dichotomies)).items():
            scores = _log_odds(probabilities)
            P = strategy.combine(plan, probabilities, scores, geometry.counts, fitted)
            shape = (len(probabilities), n_labels)
            require(P.shape == shape, f"shape {P.shape} for {shape[0]} rows of {n_labels} labels")
            require(np.isfinite(P).all(), f"NaN or infinite posteriors where {what}")
            require((P >= 0).all(), f"a posterior of {P.min():.3g} where {what}")
            _require_sums(strategy, P, 1e-6, f" where {what}")


def _require_sums(strategy: Any, P: np.ndarray, tolerance: float, where: str = "") -> None:
    """Rows sum to 1; of labels that are told independently, each is a probability by itself."""
    if isinstance(strategy, TellsLabelsIndependently):
        require((P <= 1).all(), f"a probability of {P.max():.4g}{where}")
        return
    worst = P.sum(axis=1)[np.abs(P.sum(axis=1) - 1).argmax()]
    require(abs(worst - 1) < tolerance, f"a row sums to {worst:.4g}{where}")


def _contradictions(n_machines: int) -> dict[str, np.ndarray]:
    """Probabilities of positive sides that no posteriors could give all at once."""
    rng = np.random.default_rng(0)
    return {
        "machines answer at random": rng.random((40, n_machines)),
        "machines are sure at random": rng.integers(0, 2, (40, n_machines)).astype(float),
        "every machine says yes": np.ones((2, n_machines)),
        "every machine says no": np.zeros((2, n_machines)),
    }


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Scores of calibrated machines; those of machines that are sure are large."""
    clipped = np.clip(probabilities, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(clipped / (1 - clipped)))


def sure_machines_give_sure_answers(strategy: Any) -> None:
    """Where every machine knows the label, it is the one decided on."""
    for n_labels in SIZES:
        planned, geometry = _planned(strategy, n_labels)
        truth, y = _posteriors(n_labels, 12.0)
        plan, fitted = _settled(strategy, planned, geometry, truth, y)
        answers = _answers(plan, truth)
        P = strategy.combine(plan, *answers, geometry.counts, fitted)
        decided = strategy.decide(plan, P, answers[1]) if isinstance(strategy, Decides) else P.argmax(axis=1)
        require((decided == y).all(), f"{np.mean(decided == y):.0%} right with {n_labels} labels")


def decisions_are_labels(strategy: Any) -> None:
    """A decision of its own is the index of a label for each row, by that row alone and the same twice."""
    skip_unless(isinstance(strategy, Decides), "it has no decide(…)")
    for n_labels in SIZES:
        planned, geometry = _planned(strategy, n_labels)
        truth, y = _posteriors(n_labels, 0.7)
        plan, fitted = _settled(strategy, planned, geometry, truth, y)
        probabilities, scores = _answers(plan, truth)
        P = strategy.combine(plan, probabilities, scores, geometry.counts, fitted)
        scores = scores + np.random.default_rng(1).standard_normal(scores.shape)  # machines that contradict one another
        decide = partial(strategy.decide, plan, P, scores)
        decided = repeated(partial(unchanged, [P, scores], decide), "decisions")
        require(decided.shape == (40,) and decided.dtype.kind in "iu", f"{decided.dtype} of shape {decided.shape}")
        require(((decided >= 0) & (decided < n_labels)).all(), f"{decided.max()} among {n_labels} labels")
        alone = [strategy.decide(plan, P[i : i + 1], scores[i : i + 1])[0] for i in range(8)]
        require((decided[:8] == alone).all(), "rows one by one are decided otherwise")


def rows_do_not_meet(strategy: Any) -> None:
    """A row's posteriors do not depend on the rows beside it."""
    planned, geometry = _planned(strategy, 5)
    P, y = _posteriors(5, 1.0)
    plan, fitted = _settled(strategy, planned, geometry, P, y)
    answers = _answers(plan, P)
    together = strategy.combine(plan, *answers, geometry.counts, fitted)
    alone = [strategy.combine(plan, *(a[i : i + 1] for a in answers), geometry.counts, fitted)[0] for i in range(8)]
    require_close(np.array(alone), together[:8], 1e-9, "rows one by one")


def pruning_only_drops(strategy: Any) -> None:
    """Pruning keeps dichotomies of the plan, in its order, and a plain structure; the same answers, the same plan."""
    skip_unless(isinstance(strategy, Prunes), "it has no prune(…)")
    for n_labels in SIZES:
        plan, geometry = _planned(strategy, n_labels)
        truth, y = _posteriors(n_labels, 0.7)
        first, second = (strategy.prune(plan, *_answers(plan, truth), y, geometry.counts) for _ in range(2))
        require(first == second, "the pruned plan differs the second time")
        require(first.n_labels == n_labels and first.dichotomies, f"nothing is left for {n_labels} labels")
        require(is_plain(dict(first.structure)), f"{first.structure} holds something that JSON cannot")
        left = set(first.dichotomies)
        in_order = tuple(d for d in plan.dichotomies if d in left)
        require(first.dichotomies == in_order, "pruning added a dichotomy or changed their order")


def order_of_labels_does_not_matter(strategy: Any) -> None:
    """Permuting the labels permutes the columns and changes nothing else."""
    draws = isinstance(strategy, StatesRandomness) and strategy.is_random
    skip_unless(not draws, "it states is_random = True: another order draws other dichotomies")
    order = np.array([3, 0, 4, 1, 2])
    truth, y = _posteriors(5, 0.7)
    plain = _combined(strategy, *_planned(strategy, 5), truth, y)
    moved = _combined(strategy, *_planned(strategy, 5, order), truth[:, order], np.argsort(order)[y])
    what = "posteriors of permuted labels (if it draws its dichotomies, it must state is_random = True)"
    require_close(moved, plain[:, order], 1e-6, what)


def same_seed_same_plan(strategy: Any) -> None:
    """The same seed gives the same plan."""
    first, second = (_planned(strategy, 5)[0] for _ in range(2))
    require(first == second, "the plan differs the second time")


def scores_of_labels_are_by_row(strategy: Any) -> None:
    """Its scores of labels and of groups, where it has any, are finite, a column for each, and each row by itself."""
    skip_unless(isinstance(strategy, (ScoresLabels, ScoresGroups)), "it has no label_scores(…) or group_scores(…)")
    for n_labels in SIZES:
        plan, _ = _planned(strategy, n_labels)
        scores = np.random.default_rng(0).normal(size=(5, len(plan.dichotomies)))
        if isinstance(strategy, ScoresLabels) and (by_label := strategy.label_scores(plan, scores)) is not None:
            require(by_label.shape == (5, n_labels), f"label_scores gave shape {by_label.shape} for {n_labels} labels")
            require_close(strategy.label_scores(plan, scores[:2]), by_label[:2], 1e-12, "label_scores of some rows")
        if isinstance(strategy, ScoresGroups) and (by_group := strategy.group_scores(plan, scores)) is not None:
            require(by_group.ndim == 2 and len(by_group) == 5, f"group_scores gave shape {by_group.shape} for 5 rows")
            require_close(strategy.group_scores(plan, scores[:2]), by_group[:2], 1e-12, "group_scores of some rows")


def sets_of_labels_are_told(strategy: Any) -> None:
    """Labels that are told independently: a column for each of them, whatever sets occur, and a threshold for each."""
    skip_unless(isinstance(strategy, TellsLabelsIndependently), "it tells labels apart that exclude one another")
    names = ["", "a", "a+b", "b+c"]
    X, y = blobs(len(names), n_each=4, spread=0.8)
    geometry = Geometry.of_gram(gram(Gaussian(), X), y, len(names))
    plan = strategy.plan(names, geometry, None, np.random.default_rng(0))
    truth, y = _posteriors(len(names), 12.0)
    plan, fitted = _settled(strategy, plan, geometry, truth, y)
    P = strategy.combine(plan, *_answers(plan, truth), geometry.counts, fitted)
    require(P.shape == (40, 3), f"shape {P.shape} for 40 rows of 3 labels")
    thresholds = np.asarray(strategy.thresholds(fitted))
    require(thresholds.shape == (3,) and bool(((thresholds >= 0) & (thresholds <= 1)).all()), f"{thresholds}")
    holds = LabelSets.of_names(names).membership[y]
    require(((thresholds <= P) == holds).all(), "machines that know the labels are not followed")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    plan_is_sound,
    plan_is_plain,
    posteriors_are_posteriors,
    disagreeing_machines_give_posteriors,
    sure_machines_give_sure_answers,
    decisions_are_labels,
    rows_do_not_meet,
    pruning_only_drops,
    order_of_labels_does_not_matter,
    same_seed_same_plan,
    scores_of_labels_are_by_row,
    sets_of_labels_are_told,
)

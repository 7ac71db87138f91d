"""Kinds of last steps judged out of fold: by the log-loss of posteriors that nothing of them has seen.

In each inner fold the calibrations of the dichotomies, the combination, and the last step of every kind that competes
are fitted on the scores inside, and give the posteriors outside.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.contracts import CalibratesMany, Calibrator, FitsCombination, FitsDirectCombination, Fitted
from audioclass.numerics import log_loss
from audioclass.problems import Dichotomy, LabelEvidence, Plan
from audioclass.strategies.last_step import LastStep, StepKind


@dataclass(frozen=True, eq=False)
class InnerFold:
    """The mask of the examples `inside`, on which is fitted, and scores (n, n_scores) of all; the others are judged."""

    inside: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True, eq=False)
class StepView:
    """An inner fold as last steps see it: what the strategy says inside and outside, combined by what is inside."""

    inside: np.ndarray
    fitted_on: LabelEvidence
    judged_on: LabelEvidence

    @classmethod
    def of(
        cls, classifier: Classifier, fold: InnerFold, y: np.ndarray, weights: np.ndarray, *, refits: bool = True
    ) -> StepView:
        """Without `refits` calibrations and combination stay as they are."""
        inside, known = fold.inside, fold.scores[fold.inside]
        if refits:
            classifier = recombined(classifier, known, y[inside], weights[inside])
        return cls(inside, classifier.evidence(known), classifier.evidence(fold.scores[~inside]))


class StepContest:
    """The posteriors and log-losses of kinds of last steps, each computed when it is first asked for."""

    def __init__(
        self,
        classifier: Classifier,
        folds: Sequence[InnerFold],
        y: np.ndarray,
        weights: np.ndarray,
        *,
        refits: bool = True,
    ) -> None:
        bare = classifier.with_last_step(LastStep())
        with _no_repeated_warnings():
            self.views = [StepView.of(bare, fold, y, weights, refits=refits) for fold in folds]
        self.y, self.weights = y, weights
        self.posteriors: dict[StepKind, np.ndarray] = {}
        self.losses: dict[StepKind, float] = {}
        self._first: dict[StepKind, list[LastStep]] = {}  # without a second stage, fitted once for all penalties

    @property
    def strategy_posteriors(self) -> np.ndarray:
        """What the strategy itself says of every row, calibrated and combined without its fold."""
        P = np.zeros((len(self.y), self.views[0].judged_on.P.shape[1]))
        for view in self.views:
            P[~view.inside] = view.judged_on.P
        return P

    def loss(self, kind: StepKind) -> float:
        """The log-loss of a kind outside the folds."""
        if kind not in self.losses:
            P = np.zeros((len(self.y), self.views[0].judged_on.P.shape[1]))
            with _no_repeated_warnings():
                for view, step in zip(self.views, self._steps(kind), strict=True):
                    P[~view.inside] = step.posteriors(view.judged_on)
            self.posteriors[kind] = P
            self.losses[kind] = log_loss(P, self.y, self.weights)
        return self.losses[kind]

    def best(self, kinds: Iterable[StepKind]) -> StepKind:
        """The kind of the lowest log-loss, the first of equals."""
        return min(kinds, key=self.loss)

    def _steps(self, kind: StepKind) -> list[LastStep]:
        if kind.has_stage:
            first = self._steps(kind.without_stage)
            return [self._fit(kind.with_stage, view, step) for view, step in zip(self.views, first, strict=True)]
        if kind not in self._first:
            self._first[kind] = [self._fit(kind.fit, view) for view in self.views]
        return self._first[kind]

    def _fit(self, fit: Callable[..., LastStep], view: StepView, *before: LastStep) -> LastStep:
        return fit(*before, view.fitted_on, self.y[view.inside], self.weights[view.inside])


@contextlib.contextmanager
def _no_repeated_warnings() -> Iterator[None]:
    """That scores tell little of a label is said once, where all of them are fitted, and not for each fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def recombined(classifier: Classifier, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Classifier:
    """With the calibrations and the combination fitted anew on `scores` (n, n_scores), and the last step as it is.

    A dichotomy of which a side has no example keeps the calibration that it had.
    """
    if classifier.plan is None:
        if not isinstance(classifier.strategy, FitsDirectCombination):
            return classifier
        return replace(classifier, fitted=classifier.strategy.fit_combination(scores, y))
    calibrations = _calibrations(classifier, classifier.plan, scores, y, weights)
    renewed = replace(classifier, calibrations=calibrations)
    if not isinstance(renewed.strategy, FitsCombination):
        return renewed
    fitted = renewed.strategy.fit_combination(classifier.plan, renewed.probabilities(scores), scores, y, renewed.counts)
    return replace(renewed, fitted=fitted)


def _calibrations(
    classifier: Classifier, plan: Plan, scores: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[Fitted, ...]:
    calibrator, calibrations = classifier.calibrator, list(classifier.calibrations)
    if calibrator is None:
        return classifier.calibrations
    Y = np.stack([_sides(dichotomy, y) for dichotomy in plan.dichotomies], axis=1)
    known = np.flatnonzero((Y > 0).any(axis=0) & (Y < 0).any(axis=0))
    if isinstance(calibrator, CalibratesMany):
        fitted = calibrator.fit_many(scores[:, known], Y[:, known], weights) if len(known) else []
    else:
        fitted = [_calibration(calibrator, scores[:, column], Y[:, column], weights) for column in known]
    for column, numbers in zip(known.tolist(), fitted, strict=True):
        calibrations[column] = numbers
    return tuple(calibrations)


def _sides(dichotomy: Dichotomy, y: np.ndarray) -> np.ndarray:
    """1 and −1 for the examples of its sides, 0 for the others."""
    return np.asarray(np.isin(y, dichotomy.positive).astype(int) - np.isin(y, dichotomy.negative))


def _calibration(calibrator: Calibrator, scores: np.ndarray, sides: np.ndarray, weights: np.ndarray) -> Fitted:
    rows = sides != 0
    return calibrator.fit(scores[rows], sides[rows], weights[rows])

"""Held-out scores of a selection problem by the method that training will use: criteria judge what will be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.contracts import DirectStrategy, Kernel
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.linear import Linear
from audioclass.training.examples import Examples
from audioclass.training.held_out import Folds, HeldOutScoring, InSample, folds_for
from audioclass.training.problem import DichotomyProblem, LabelsProblem, Problem
from audioclass.training.statistics import PairwiseStatistics


@dataclass(frozen=True, eq=False)
class SampleHoldOut:
    """The held-out method of a problem, applied to a sample of its rows; folds are drawn anew among these."""

    scoring: HeldOutScoring
    n_folds: int

    def __call__(self, problem: SelectionProblem) -> np.ndarray:
        """(n,) or (n, n_labels); a ValueError where no group can be held out."""
        examples = Examples(_GivenGram(problem.K), problem.labels, problem.weights, problem.groups)
        sample = _problem_of(problem)
        scoring = self.scoring
        if isinstance(scoring, (Folds, InSample)):
            scoring = folds_for(sample, self.n_folds)
        if isinstance(scoring, InSample):
            raise ValueError("a side or a label has a single group, so nothing can be held out")
        if isinstance(scoring, Folds):
            return scoring.joined([scoring.scores_without(fold, sample, examples) for fold in scoring.trainable])
        _, scores = scoring.fit(sample, examples)
        if scores is None:
            raise ValueError(f"{scoring.name} gave no held-out scores")
        return scores


class _GivenGram(PairwiseStatistics):
    """Stands for the statistics of examples whose Gram matrix is at hand, whatever the kernel."""

    def __init__(self, K: np.ndarray) -> None:
        super().__init__(np.empty((len(K), 0)))
        self.K = K

    def gram(self, kernel: Kernel, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Entries of the matrix."""
        return np.asarray(self.K[np.ix_(rows, rows if columns is None else columns)])


def _problem_of(problem: SelectionProblem) -> Problem:
    """What training would fit, on the rows of the sample."""
    learner = problem.learner
    if learner is None:
        raise ValueError("the problem was given no trainer to hold out with")
    common: dict[str, Any] = {
        "rows": np.arange(len(problem.y)),
        "weights": problem.weights,
        "groups": problem.groups,
        "kernel": Linear(),  # nobody asks it: the Gram matrix is given
        "C": problem.C,
        "seed": 0,
        "balanced": problem.balanced,
    }
    if isinstance(learner, DirectStrategy):
        n_labels = int(problem.labels.max()) + 1
        return LabelsProblem(y=problem.labels, n_labels=n_labels, strategy=learner, **common)
    return DichotomyProblem(y=problem.y, trainer=learner, **common)

"""Strategies that tell many labels apart, and links from scores of labels to logits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from audioclass.contracts.machines import Fitted, Wants
from audioclass.contracts.named import Named

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from audioclass.problems import FeatureMachine, Geometry, LabelEvidence, LabelTask, Machine, Plan, Round
    from audioclass.taxonomy import Taxonomy
    from audioclass.trees.branches import Branch


@runtime_checkable
class Strategy(Named, Protocol):
    """A plan of dichotomies and a rule from their scores to posteriors over the labels."""

    def plan(
        self, labels: Sequence[str], geometry: Geometry, taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> Plan:
        """The dichotomies to train, with whatever structure `combine` needs as plain values."""

    def combine(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, counts: np.ndarray, fitted: Fitted
    ) -> np.ndarray:
        """Posteriors (n, n_labels) from (n, n_dichotomies) calibrated probabilities and scores.

        `counts` is (n_labels,): examples per label; `fitted` is what `fit_combination` gave, or empty.
        """


@runtime_checkable
class FitsCombination(Protocol):
    """A strategy with numbers of its own, such as a temperature or weights of levels."""

    def fit_combination(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Fitted:
        """Those numbers, from out-of-fold probabilities and scores and the label index `y` of each example."""


@runtime_checkable
class Prunes(Protocol):
    """A strategy that plans more dichotomies than it may need and keeps those that proved their worth."""

    def prune(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Plan:
        """A plan whose dichotomies are some of the plan's, in its order, by their out-of-fold probabilities.

        The machines of the others are dropped; the combination is fitted and used on what is left.
        """


@runtime_checkable
class PlansRounds(Protocol):
    """A strategy that plans more once it has seen how well the machines of its plan do: a filter tree, for one."""

    def plan_next(
        self, plan: Plan, probabilities: np.ndarray, scores: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> Round | None:
        """The next round, from out-of-fold probabilities and scores so far; None where the plan is complete.

        Its plan begins with the dichotomies of the plan, whose machines stay, and adds one at least. What `combine` is
        given later is the last plan.
        """


@runtime_checkable
class Decides(Protocol):
    """A strategy whose decision need not be the label of the largest posterior that it combines.

    A classifier answers with the nearest posteriors that agree with the decision, so that everybody follows it.
    """

    def decide(self, plan: Plan, P: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The index of the chosen label of each example, (n,), from what `combine` gave and the scores."""


@runtime_checkable
class TellsLabelsIndependently(Protocol):
    """A strategy of labels of which several hold at once: it plans for sets of them and answers with each label alone.

    The classes that it plans for are named as sets of labels are, `music+speech`. What it combines has a column for
    each single label, in the order of `LabelSets.of_names`: a probability from 0 to 1; rows need not sum to 1.
    """

    def thresholds(self, fitted: Fitted) -> Sequence[float]:
        """From which probability on each label holds."""


@runtime_checkable
class StatesRandomness(Protocol):
    """A strategy that draws its dichotomies, so that another order of the same labels draws others."""

    @property
    def is_random(self) -> bool:
        """True where it draws from `rng`; a plan is the same for the same seed and order of labels all the same."""


@runtime_checkable
class HasTree(Protocol):
    """A strategy whose machines stand at the nodes of one tree of labels, which can be shown, exported and edited."""

    @property
    def form(self) -> str:
        """`additive` where a node has a machine against all the rest, `weighted` where its children are told apart."""

    def tree_in(self, plan: Plan) -> Branch:
        """The tree of a plan that the strategy made."""


@runtime_checkable
class DirectStrategy(Named, Protocol):
    """Fits all labels at once instead of a plan of dichotomies; chosen by the same option as a strategy."""

    @property
    def wants(self) -> Wants:
        """What it needs of the examples: the Gram matrix, entries of it, or the features."""

    def fit(self, task: LabelTask) -> Machine | FeatureMachine:
        """A machine with one output for each label."""

    def combine(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """Posteriors (n, n_labels) from the scores; `fitted` is what `fit_combination` gave, or empty."""


@runtime_checkable
class FitsDirectCombination(Protocol):
    """A direct strategy with numbers of its own, such as a temperature."""

    def fit_combination(self, scores: np.ndarray, y: np.ndarray) -> Fitted:
        """Those numbers, from out-of-fold scores (n, n_labels) and the label index `y` of each example."""


@runtime_checkable
class ScoresLabels(Protocol):
    """A strategy that has a score of its own for each label, of targets ±1: links read these instead of posteriors."""

    def label_scores(self, plan: Plan | None, scores: np.ndarray) -> np.ndarray | None:
        """(n, n_labels) from the scores of the dichotomies, or of a direct strategy, whose plan is None.

        None where the parameters of the strategy leave it without.
        """


@runtime_checkable
class ScoresGroups(Protocol):
    """A strategy with machines of groups of labels, whose scores a second stage may read as further columns."""

    def group_scores(self, plan: Plan, scores: np.ndarray) -> np.ndarray | None:
        """(n, n_groups) from the scores of the dichotomies; None where there is no such machine."""


class LabelLink(Named, Protocol):
    """A map from what a strategy says of the labels to logits, whose softmax are posteriors."""

    def fit(self, evidence: LabelEvidence, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """The map, as plain numbers, from held-out evidence and the label index and weight of each row."""

    def logits(self, evidence: LabelEvidence, fitted: Fitted) -> np.ndarray:
        """(n, n_labels), finite; each row by itself, and no label unlike another."""

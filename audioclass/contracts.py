"""What a component of each kind must do, and what it may do besides.

A component is a small frozen dataclass with a `name`; its fields are its parameters. The first Protocol of each kind is
its contract; the Protocols named after an ability are optional, and who uses the ability asks with `isinstance`.
Nothing here is inherited from: having the methods is enough. An attribute is declared as a property that is only read:
a class variable, a field or a property of the component all satisfy it. `audioclass.testing` checks every contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import IO, Any

    import numpy as np
    import typer

    from audioclass.criteria.problem import SelectionProblem
    from audioclass.data import Annotations, Corpus, Framing, Posteriors, Result
    from audioclass.problems import (
        FeatureMachine,
        Found,
        Geometry,
        LabelEvidence,
        LabelTask,
        Machine,
        Objective,
        Plan,
        Round,
        Space,
        Task,
    )
    from audioclass.taxonomy import Taxonomy
    from audioclass.trees.branches import Branch

Fitted = Mapping[str, float | list[float]]  # what a calibrator or a combination learnt, as plain numbers
Arrays = Mapping[str, "np.ndarray"]  # what a pooling learnt
Wants = Literal["gram", "entries", "features"]
Dependence = Literal["C", "folds", "groups"]
Loss = Literal["hinge", "squared_hinge", "hard_margin", "squared"]


class Named(Protocol):
    """Common to every component: the name it is chosen by."""

    @property
    def name(self) -> str:
        """The name it is chosen by, in lower case."""


# --- from audio to features -------------------------------------------------------------------------------------


class Spectra(Protocol):
    """The shared short-time spectrum of a stretch of audio; each view is computed when first read, then kept.

    Rows are frames in every view; nobody may change one in place. Those of a version of a recording, played at another
    speed, have as many bins as `framing.n_bins`, at `frequencies`; samples and frames stay those of the recording.
    """

    @property
    def framing(self) -> Framing:
        """How the audio is cut into frames."""

    @property
    def samples(self) -> np.ndarray:
        """(n_samples,), mono."""

    @property
    def n_frames(self) -> int:
        """How many frames there are."""

    @property
    def recorded(self) -> Spectra:
        """Those of the recording at its own speed: the same, unless these are of a version."""

    def values_of(self, descriptor: Descriptor) -> np.ndarray:
        """The values of a descriptor, computed when first asked for: what a version shares with its recording."""

    @property
    def frames(self) -> np.ndarray:
        """(n_frames, frame_length), as cut, without window."""

    @property
    def frequencies(self) -> np.ndarray:
        """(n_bins,), in hertz."""

    @property
    def spectrum(self) -> np.ndarray:
        """(n_frames, n_bins), complex, windowed."""

    @property
    def magnitude(self) -> np.ndarray:
        """(n_frames, n_bins)."""

    @property
    def power(self) -> np.ndarray:
        """(n_frames, n_bins)."""

    @property
    def log_power(self) -> np.ndarray:
        """(n_frames, n_bins), natural logarithm."""

    @property
    def total_power(self) -> np.ndarray:
        """(n_frames, 1)."""

    @property
    def cumulated(self) -> np.ndarray:
        """(n_frames, n_bins), power up to each bin."""

    @property
    def chroma(self) -> np.ndarray:
        """(n_frames, 12), power of the pitch classes."""

    @property
    def autocorrelation(self) -> np.ndarray:
        """(n_frames, n_lags), 1 at lag 0."""

    @property
    def lag_rate(self) -> float:
        """Lags per second of the autocorrelation."""

    def mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), power in mel bands from `lowest` hertz up."""

    def log_mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), the same in decibels."""


class Descriptor(Named, Protocol):
    """Values per frame, read from the shared spectrum."""

    def columns(self, framing: Framing) -> Sequence[str]:
        """The name of each value."""

    def frames(self, spectra: Spectra) -> np.ndarray:
        """The values, (n_frames, n_columns); a row depends on its own frame and on `context` frames around it."""


@runtime_checkable
class HasContext(Protocol):
    """A descriptor whose rows depend on so many frames before and after their own."""

    @property
    def context(self) -> int:
        """How many frames on each side."""


class Embedding(Named, Protocol):
    """One vector for a whole window of audio: a network, or any other front end of its own."""

    @property
    def sample_rate(self) -> int:
        """Samples per second of the windows it takes."""

    def columns(self) -> Sequence[str]:
        """The name of each value."""

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window of mono samples at the embedding's own sample rate."""


@runtime_checkable
class EmbedsMany(Protocol):
    """An embedding for which several windows of one length cost less together than one by one."""

    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """(n_windows, n_samples) to (n_windows, n_columns): what `embed` gives for each window by itself."""


class FixedPooling(Named, Protocol):
    """A summary of the frames of a window."""

    def columns(self, columns: Sequence[str]) -> Sequence[str]:
        """The name of each pooled value, from the names of the descriptors."""

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """(n_windows, n_frames, d) to (n_windows, n_columns); each window by itself, one frame is enough."""


@runtime_checkable
class FittedPooling(Named, Protocol):
    """A summary of the frames of a window by arrays that were learnt from training recordings, without their labels.

    The arrays are small, named in lower case, and kept in single precision in the model that was trained with them.
    """

    def columns(self, columns: Sequence[str]) -> Sequence[str]:
        """The name of each pooled value, from the names of the descriptors; known before anything is learnt."""

    def fit(self, windows: Iterable[np.ndarray], frame_rate: float, rng: np.random.Generator) -> Arrays:
        """What is learnt from windows of training recordings, each (n_frames, d); the same for the same seed."""

    def pool(self, windows: np.ndarray, frame_rate: float, fitted: Arrays) -> np.ndarray:
        """(n_windows, n_frames, d) to (n_windows, n_columns); one frame is enough.

        Each window by itself, to the same bits whatever windows come with it. Arrays that `fit` could not have given
        for d columns are a ValueError: they may come from a file that somebody changed.
        """


Pooling = FixedPooling | FittedPooling


# --- kernels and binary machines --------------------------------------------------------------------------------


@runtime_checkable
class StatisticKernel(Named, Protocol):
    """A function of a pairwise statistic of the examples.

    `statistic` is the name of a shared one (`dot`, `squared_distance`, `mean_squared_distance`) or a static method
    (X, Y) -> S; either way it is computed once and every parameter value reads it.
    """

    @property
    def statistic(self) -> str | Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """The name of a shared statistic, or a function of its own."""

    def of(self, S: np.ndarray) -> np.ndarray:
        """The Gram matrix from the statistic, entry by entry."""


@runtime_checkable
class GramKernel(Named, Protocol):
    """A kernel that is no function of a pairwise statistic: it works everywhere, only slower."""

    def gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The Gram matrix, (len(X), len(Y))."""


Kernel = StatisticKernel | GramKernel


@runtime_checkable
class HasGradients(Protocol):
    """A kernel that knows its derivatives."""

    def gradients(self, S: np.ndarray, K: np.ndarray) -> Mapping[str, np.ndarray]:
        """∂K/∂θ for each parameter θ that can be climbed, entry by entry like K."""


@runtime_checkable
class StatesMercer(Protocol):
    """A kernel that says whether every Gram matrix of its parameters is positive semi-definite."""

    @property
    def is_mercer(self) -> bool:
        """False where some set of examples has a negative eigenvalue."""


class Trainer(Named, Protocol):
    """Fits one dichotomy."""

    @property
    def wants(self) -> Wants:
        """What it needs of the examples: the Gram matrix, entries of it, or the features."""

    def fit(self, task: Task) -> Machine | FeatureMachine:
        """A kernel machine where the trainer wants a Gram matrix or entries of it, else named arrays."""


@runtime_checkable
class ScoresFeatures(Protocol):
    """A trainer or direct strategy that wants features evaluates its own arrays."""

    def scores(self, machine: FeatureMachine, X: np.ndarray) -> np.ndarray:
        """Signed scores, (n,) for a dichotomy and (n, n_labels) for all labels."""


@runtime_checkable
class HoldsOutGroups(Protocol):
    """A trainer that knows the scores of held-out groups without training again, for many dichotomies at once."""

    def fit_and_hold_out(self, task: Task, Y: np.ndarray, groups: np.ndarray) -> tuple[Machine, np.ndarray]:
        """One machine with an output for each column of Y, (n, n_dichotomies) in ±1, and the held-out scores.

        Those are (n, n_dichotomies): row i as scored by the machine that never saw the group of example i.
        """


class GroupsHeldOut(Protocol):
    """A system that was solved once, for any dichotomies over its examples and any groups of them."""

    def machine(self, Y: np.ndarray) -> Machine:
        """One machine with an output for each column of Y, (n, n_dichotomies) in ±1."""

    def held_out(self, Y: np.ndarray, groups: np.ndarray, without: np.ndarray | None = None) -> np.ndarray:
        """(n, n_dichotomies): row i as scored by the machine that never saw the group of example i.

        Nor has it seen the examples `without`, a mask of whole groups, which are scored by the machine without them.
        """


@runtime_checkable
class Factorises(Protocol):
    """A trainer that holds out groups, whose one factorisation also tells of machines without whole folds of them."""

    def factorise(self, task: Task) -> GroupsHeldOut:
        """The system of a task, of whose own sides nothing but the weights counts."""


@runtime_checkable
class HoldsOutOfBag(Protocol):
    """A trainer or direct strategy of many members, each of which leaves some groups out of what it sees."""

    def fit_out_of_bag(self, task: Task | LabelTask, groups: np.ndarray) -> tuple[Machine | FeatureMachine, np.ndarray]:
        """The machine, and its scores of the task's rows, each by the members that never saw the row's group.

        (n,) for a dichotomy, (n, n_labels) for all labels; NaN where every member saw the group.
        """


@runtime_checkable
class HasSpan(Protocol):
    """A trainer whose machine is the L1 optimum on its Gram matrix: its span tells the scores of held-out groups."""

    @property
    def has_span(self) -> bool:
        """True where the span may be used."""


@runtime_checkable
class StatesLoss(Protocol):
    """A trainer whose machine is the optimum of a known loss on its Gram matrix: the criteria of that loss judge it."""

    @property
    def loss(self) -> Loss:
        """min ½‖w‖² + C Σ s_i times the loss of each example, half of it where it is a square; without loss, hard."""


class Calibrator(Named, Protocol):
    """A map from the scores of a dichotomy to the probability of its positive side."""

    def fit(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Fitted:
        """The map, as plain numbers, from held-out scores and y in ±1."""

    def probabilities(self, scores: np.ndarray, fitted: Fitted) -> np.ndarray:
        """P(y = +1 | score), in [0, 1] and never falling as the score rises."""


@runtime_checkable
class CalibratesMany(Protocol):
    """A calibrator for which many dichotomies cost less together than one by one."""

    def fit_many(self, scores: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list[Fitted]:
        """What `fit` gives for each column of scores (n, n_dichotomies) over the examples that Y does not hold at 0."""


# --- many labels ------------------------------------------------------------------------------------------------


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


# --- choosing ---------------------------------------------------------------------------------------------------


class Criterion(Named, Protocol):
    """A number that says how good a kernel is for what will be trained with it.

    The problem knows the trainer, the weights and the held-out method of the training that follows.
    """

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which values are preferred."""

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """What of a problem its value depends on besides K, y and weights; searches move C only where it is named."""

    def value(self, problem: SelectionProblem) -> float:
        """The number; NaN where the problem cannot be evaluated."""


@runtime_checkable
class HasGradient(Protocol):
    """A criterion that can be climbed."""

    def gradient(self, problem: SelectionProblem) -> Mapping[str, float]:
        """Its derivative by each kernel parameter in `problem.gradients`, and by `C` where it depends on it."""


@runtime_checkable
class JudgesLosses(Protocol):
    """A criterion that is defined for the machines of some losses only; with another trainer it is refused."""

    @property
    def judges(self) -> frozenset[Loss]:
        """The losses of the machines it judges; none of them fits all labels at once."""


@runtime_checkable
class NeedsWindow(Protocol):
    """A criterion that may be defined for Gaussian kernels only; where none competes, it is refused."""

    @property
    def needs_window(self) -> bool:
        """Whether it needs `problem.window`, which only a Gaussian kernel has."""


@runtime_checkable
class ClimbsLosses(Protocol):
    """A criterion that can be climbed for the machines of some losses only."""

    @property
    def climbs(self) -> frozenset[Loss]:
        """The losses of the machines that its derivatives are known for."""


@runtime_checkable
class JoinsMachines(Protocol):
    """A criterion that judges machines of each label against the rest by what they say together of the labels."""

    @property
    def joins(self) -> frozenset[Loss]:
        """The losses of these machines; the problem then has labels and their trainer in the place of two sides."""


@runtime_checkable
class TakesLabels(Protocol):
    """A criterion of all labels at once; others get each label against the rest where a strategy fits all at once."""

    @property
    def takes_labels(self) -> bool:
        """True where `y` may hold any number of labels."""


class Search(Named, Protocol):
    """Walks a space to the smallest value of an objective."""

    @property
    def needs_gradient(self) -> bool:
        """Whether the objective must have a gradient."""

    def search(self, space: Space, objective: Objective, rng: np.random.Generator) -> Found:
        """The best point with the whole trace; a ValueError where every value is NaN."""


# --- at the two ends --------------------------------------------------------------------------------------------


class Smoother(Named, Protocol):
    """Makes posteriors of successive windows agree with their neighbours."""

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        """Posteriors of the same windows and labels; the label of a window is that of its largest."""


@runtime_checkable
class LooksAhead(Protocol):
    """A smoother whose rows depend on so many later rows, so that a stream can be smoothed as it comes."""

    @property
    def look_ahead(self) -> int:
        """How many later rows."""


@runtime_checkable
class TakesTransitions(Protocol):
    """A smoother that can go by how labels followed one another in the recordings that a model was trained on."""

    def with_transitions(self, counts: np.ndarray) -> Smoother:
        """The same smoother for labels of which each followed each so often, (n_labels, n_labels)."""


class SmoothingStream(Protocol):
    """The windows of one recording, smoothed as they come."""

    def push(self, P: np.ndarray) -> np.ndarray:
        """Take in the next rows, (n, n_labels); give those that no later row can change, smoothed, perhaps none."""

    def finish(self) -> np.ndarray:
        """The rows that are still to be given, now that no more will come."""


@runtime_checkable
class SmoothsStreams(Protocol):
    """A smoother that needs no whole recording: rows in whatever portions give what `smooth` gives, to the bit."""

    def stream(self, n_labels: int) -> SmoothingStream:
        """A stream for one recording."""


class LabelFormat(Named, Protocol):
    """Writes results in a format that other tools read; one that also reads serves as the labels of a corpus."""

    @property
    def suffix(self) -> str:
        """The suffix of its files, with the dot."""

    @property
    def carries_probabilities(self) -> bool:
        """Whether posteriors are written."""

    def write(self, result: Result, stream: IO[Any]) -> None:
        """Write the table to a text stream, or to one of bytes where the format `WritesBytes`.

        Times are true to the millisecond at least. A label that the format cannot hold is escaped so that reading gives
        it back, or is a UsageError.
        """


@runtime_checkable
class WritesBytes(Protocol):
    """A format whose streams are binary; `binary` is true."""

    @property
    def binary(self) -> bool:
        """True."""


@runtime_checkable
class ReadsLabels(Protocol):
    """A format whose files can be the labels of a corpus: what `write` wrote, `read` gives back exactly."""

    def read(self, stream: IO[Any]) -> Annotations:
        """Every labelled segment, points in time and empty labels too; a CorpusError `line 7: …` where it is wrong."""


@runtime_checkable
class NamesRecordings(Protocol):
    """A format whose files say which recordings they speak of, so that one may serve a whole folder; if it is true."""

    @property
    def names_recordings(self) -> bool:
        """True where a file may hold the labels of several recordings."""


@runtime_checkable
class RecognisesFiles(Protocol):
    """A format whose files go by several suffixes, or by one that others use too, so that their beginning must tell."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files, with the dot."""

    def recognises(self, first_line: str) -> bool:
        """Whether a file whose first line that is not empty is this one may be of the format; never raises."""


class CorpusReader(Named, Protocol):
    """Reads labelled recordings of one layout."""

    def matches(self, path: Path) -> bool:
        """Whether the path looks like this layout; never raises, opens as little as it can."""

    def read(self, path: Path) -> Corpus:
        """The corpus, in an order that does not depend on the file system; a CorpusError where it is wrong."""

    def example(self, folder: Path) -> Path:
        """Write a tiny corpus of this layout into an empty folder and return the path to read."""


@runtime_checkable
class StatesGenerality(Protocol):
    """A corpus reader of so common a layout that a folder of another may look like it too.

    Of several that match, the one of the lowest `generality` reads; a reader that states none has 0: its layout is
    known by names of its own.
    """

    @property
    def generality(self) -> int:
        """How common the layout is; 0 is known by names of its own."""


@runtime_checkable
class UsesFormats(Protocol):
    """A corpus reader of label files: whoever makes it hands it the formats that read."""

    def with_formats(self, formats: Sequence[LabelFormat]) -> CorpusReader:
        """The same reader, reading these."""


# --- at the command line ----------------------------------------------------------------------------------------


class Command(Named, Protocol):
    """A command of the command line; `audioclass NAME`, with hyphens for the underscores of the name."""

    def app(self) -> typer.Typer:
        """The Typer application that runs under the name; made, or imported, when the command is used."""

"""A model: how recordings become features, what was learnt of them, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.clips import combine_independent, combine_windows
from audioclass.classifier.durations import flatten_short, usual_duration
from audioclass.classifier.golden import Drift, Golden
from audioclass.classifier.novelty import Novelty
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.classifier.risk import Risk
from audioclass.classifier.risk_nodes import NodeRisk
from audioclass.data import Features, Posteriors, Segment
from audioclass.extraction.recipe import Recipe
from audioclass.label_views import LabelView
from audioclass.taxonomy import Taxonomy
from audioclass.threads import one_thread

ROWS_TOGETHER = 64  # windows of a recording that are computed together, of one version
VERSIONS_TOGETHER = 48  # rows where windows have several versions: for one clip few, for many enough


@dataclass(frozen=True, eq=False)
class Memory:
    """What is remembered of the training examples that stand in the bank, so that a model can be added to.

    For each row of the bank its label index, group and weight, and the held-out score of every dichotomy. Where windows
    were trained on in several versions, `windows` has for each row the window that it is one of, in rising order, and
    the held-out scores are those of the window.
    """

    y: np.ndarray
    groups: np.ndarray
    weights: np.ndarray
    held_out: np.ndarray
    windows: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class TrainedRecordings:
    """Every recording that was trained on, by its content, so that it is known when it comes again.

    `digests` is (n, 16) and `groups` (n,), the place of each recording's group among `names`, which are those of the
    groups in `Memory` too. For each row of the bank `rows` has the recording that it is a window of, -1 where nobody
    knows, and `times` its start and end in seconds. `aliases` has further names of groups, with their places: of two
    that turned out to be one, a single name is among `names`.
    """

    names: tuple[str, ...]
    digests: np.ndarray
    groups: np.ndarray
    rows: np.ndarray
    times: np.ndarray
    aliases: Mapping[str, int] = field(default_factory=dict)

    def of_rows(self, which: np.ndarray) -> TrainedRecordings:
        """The same with some of the rows."""
        return replace(self, rows=self.rows[which], times=self.times[which])


@dataclass(frozen=True, eq=False)
class Model:
    """Everything learnt; its arrays are in single precision, so that it is the same before and after a file.

    `about` holds plain values: provenance, the out-of-fold report, the components and where they come from.
    `inverse_temperature` is how far the windows of a clip are independent witnesses, see `combine`. `transitions` is
    (n_labels, n_labels): how often each label followed each from one window to the next, where continuous recordings
    were trained on. `recordings` are those that were trained on, where that is known; `short_power` is by how much
    posteriors of recordings much shorter than these are flattened, where the training told it. The versions of the
    `recipe` are those that it answers with: scores are averaged over them. `novelty` tells what is strange to it,
    `risk` which sets of labels hold the true one and `node_risk` which nodes of a tree; all are None where too few
    groups were trained on. Results are told at the `default_depth` of its taxonomy where nobody states another; None is
    that of its labels.

    A model that was made by `at_depth` has a `view`: its labels, taxonomy, posteriors and transitions are those of
    groups, whatever the classifier and the golden vectors know are the leaves.
    """

    name: str
    recipe: Recipe
    preprocessing: Preprocessing
    classifier: Classifier
    taxonomy: Taxonomy
    golden: Golden
    about: Mapping[str, Any] = field(default_factory=dict)
    memory: Memory | None = None
    inverse_temperature: float = 1.0
    transitions: np.ndarray | None = None
    recordings: TrainedRecordings | None = None
    novelty: Novelty | None = None
    risk: Risk | None = None
    node_risk: NodeRisk | None = None
    default_depth: int | None = None
    short_power: float | None = None
    view: LabelView | None = None

    @classmethod
    def of(
        cls,
        name: str,
        recipe: Recipe,
        preprocessing: Preprocessing,
        classifier: Classifier,
        taxonomy: Taxonomy | None,
        about: Mapping[str, Any],
        memory: Memory | None = None,
        inverse_temperature: float = 1.0,
        transitions: np.ndarray | None = None,
        recordings: TrainedRecordings | None = None,
    ) -> Model:
        """A new model with its golden vectors; without a taxonomy the labels are one group."""
        taxonomy = taxonomy or Taxonomy.of(list(classifier.labels))
        empty = Golden(np.empty((0, preprocessing.n_features), np.float32), np.empty((0, len(classifier.labels))))
        model = cls(
            name,
            recipe,
            _single(preprocessing),
            classifier.rounded if preprocessing.normalisation == "rank" else classifier.in_single,
            taxonomy,
            empty,
            about,
            memory,
            inverse_temperature,
            transitions,
            recordings,
        )
        return replace(model, golden=Golden.of(recipe, model.posteriors_of))

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of its posteriors."""
        return self.classifier.labels if self.view is None else self.view.labels

    @property
    def is_multi_label(self) -> bool:
        """Whether its labels are independent, so that several may hold at once."""
        return self.classifier.is_multi_label

    @property
    def thresholds(self) -> np.ndarray:
        """(n_labels,): from which probability on each label holds, where labels are independent."""
        return self.classifier.thresholds if self.view is None else np.full(len(self.labels), 0.5)

    def at_depth(self, depth: int | None = None) -> Model:
        """The model as if its labels were the nodes of its taxonomy at a depth, its default one, or leaves above it.

        Posteriors are sums over leaves, transitions block sums and durations means; strangeness stays that of leaves.
        Below the leaves there is nothing: a model that is told no less deep is itself.
        """
        if depth is None:
            depth = self.default_depth or self.taxonomy.depth
        view = LabelView.at_depth(self.labels, self.taxonomy, depth, independent=self.is_multi_label)
        if view is None:
            return self if self.default_depth is None else replace(self, default_depth=None)
        if self.view is not None:
            raise ValueError(f"depth={depth}: the model is a view already, take one of the model itself")
        about, durations = dict(self.about), self.about.get("durations", {})
        if "labels" in durations:
            about["durations"] = {**durations, "labels": view.means(durations["labels"], self.labels)}
        transitions = None if self.transitions is None else view.block_sums(self.transitions)
        return replace(
            self, taxonomy=view.taxonomy, about=about, transitions=transitions, default_depth=None, view=view
        )

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """For each label the names of the groups that hold it, larger ones first, and its own."""
        return tuple(self.taxonomy.path(label) for label in self.labels)

    def posteriors(self, features: Features) -> Posteriors:
        """Posteriors of the windows of a recording under the model's recipe."""
        P, strangeness = self.classify_rows(features.X)
        P = self.flatten_short(P, features.segments)
        return Posteriors(P, self.labels, features.segments, strangeness, self.is_multi_label)

    @cached_property
    def usual_duration(self) -> float | None:
        """Seconds that windows of its training lasted, nearly all of them at least; None where nobody knows."""
        return usual_duration(self.recipe, self.recordings, self.about)

    def flatten_short(self, P: np.ndarray, segments: Sequence[Segment]) -> np.ndarray:
        """Posteriors of windows, less sure where a recording is much shorter than those of the training.

        Independent probabilities stay: how they change with the duration was not measured.
        """
        return P if self.is_multi_label else flatten_short(P, segments, self.usual_duration, self.short_power)

    @one_thread()
    def posteriors_of(self, X: np.ndarray, first: int = 0) -> np.ndarray:
        """(n, n_labels) of rows of features, in float64; `first` is the place of the first row in its recording."""
        return self.classify_rows(X, first)[0]

    @one_thread()
    def classify_rows(self, X: np.ndarray, first: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
        """Posteriors of rows of features and, where the model knows it, how strange each of them is."""
        return self.classify_prepared(self.prepared(X, first), first)

    @one_thread()
    def classify_prepared(self, X: np.ndarray, first: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
        """The same of rows that are prepared.

        Rows are computed in batches of one size, each at the place that it has in its recording, so that its posteriors
        are the same to the bit however many rows come with it.
        """
        parts: list[np.ndarray] = []
        strange: list[np.ndarray] = []
        for batch, rows in self._batches(X, first):
            P = self._posteriors(batch)
            parts.append(P[rows])
            if self.novelty is not None:
                strange.append(self.novelty.strangeness_of(batch[:, 0], P.argmax(axis=1))[rows])
        P = np.concatenate(parts) if parts else np.empty((0, len(self.classifier.labels)))
        return self.of_leaves(P), None if self.novelty is None else np.concatenate([np.empty(0), *strange])

    def _batches(self, X: np.ndarray, first: int) -> Iterator[tuple[np.ndarray, slice]]:
        """Batches of one size with the rows at the places that they have in their recording, and where these are."""
        together, at = self._windows_together, 0
        while at < len(X):
            place = (first + at) % together
            some = X[at : at + together - place]
            batch = np.zeros((together, *X.shape[1:]), np.float32)
            batch[place : place + len(some)] = some
            yield batch, slice(place, place + len(some))
            at += len(some)

    def of_leaves(self, P: np.ndarray) -> np.ndarray:
        """(n, n_labels) posteriors from those of the classifier's labels: the same, or their sums in a view."""
        return P if self.view is None else self.view.sums(P)

    @one_thread()
    def prepared(self, X: np.ndarray, first: int = 0) -> np.ndarray:
        """(n, n_versions, n_prepared), as the machines compare them: each by itself, cheaper the more come together.

        `first` is the place of the first row in its recording, as in `classify_prepared`.
        """
        X, n_versions = np.asarray(X, np.float32), len(self.recipe.versions)
        if X.ndim != 2 or X.shape[1] != n_versions * self.preprocessing.n_features:
            raise ValueError(f"X has shape {X.shape}, must have {n_versions * self.preprocessing.n_features} features")
        rows = self.preprocessing.normalise(X.reshape(len(X) * n_versions, self.preprocessing.n_features))
        normalised = rows.astype(np.float32).reshape(len(X), n_versions, self.preprocessing.n_features)
        if self.preprocessing.axes is None:
            return normalised
        parts = [self.preprocessing.project(batch)[rows] for batch, rows in self._batches(normalised, first)]
        return np.concatenate([np.empty((0, n_versions, self.preprocessing.n_prepared), np.float32), *parts])

    @one_thread()
    def combine(self, P: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The posterior of a clip, (n_labels,), from those of its windows."""
        if self.is_multi_label:
            return combine_independent(P, weights, self.inverse_temperature)
        return combine_windows(P, weights, self.inverse_temperature)

    @one_thread()
    def scores_of(self, X: np.ndarray) -> np.ndarray:
        """(n, n_machines) uncalibrated scores of rows of features, the mean over versions."""
        return self._scores(self.prepared(X))

    def drift(self) -> Drift:
        """How far the golden vectors are from what this machine computes."""
        return self.golden.drift(self.recipe, replace(self, view=None).posteriors_of)

    @property
    def _windows_together(self) -> int:
        """How many windows are computed together: a part of `ROWS_TOGETHER`, whose bounds streams keep."""
        n_versions = len(self.recipe.versions)
        if n_versions == 1:
            return ROWS_TOGETHER
        return int(2 ** (max(VERSIONS_TOGETHER // n_versions, 1).bit_length() - 1))

    def _scores(self, prepared: np.ndarray) -> np.ndarray:
        """All versions in one product with the support rows."""
        n, n_versions, n_features = prepared.shape
        of_versions = self.classifier.scores(prepared.reshape(n * n_versions, n_features))
        return of_versions if n_versions == 1 else np.asarray(of_versions.reshape(n, n_versions, -1).mean(axis=1))

    def _posteriors(self, prepared: np.ndarray) -> np.ndarray:
        P = np.asarray(self.classifier.combine(self._scores(prepared)), np.float64)
        if self.is_multi_label:
            return P
        return np.asarray(P / P.sum(axis=1, keepdims=True))


def _single(preprocessing: Preprocessing) -> Preprocessing:
    arrays = {name: array.astype(np.float32) for name, array in preprocessing.arrays().items()}
    return Preprocessing.of_arrays(preprocessing.normalisation, arrays)

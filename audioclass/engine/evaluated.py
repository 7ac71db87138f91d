"""What an evaluation gives: the posteriors of the windows of a corpus, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audioclass.classifier.clips import combine_windows
from audioclass.engine.datasets import Dataset
from audioclass.engine.near_duplicates import near_duplicate_facts, near_duplicate_warning
from audioclass.errors import CorpusError
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import Evaluation, evaluate
from audioclass.evaluation.multi_label import LabelPredictions, MultiLabelEvaluation, evaluate_labels
from audioclass.evaluation.predictions import Predictions
from audioclass.threads import one_thread
from audioclass.training.near_duplicates import NearDuplicates

N_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Posteriors of a corpus's windows and what they are worth; `folds` is None where one model gave them all.

    Seconds are those of training and prediction over all folds, machines and support rows the means of a fold.
    `inverse_temperature` combines the windows of a clip, the mean over the folds. `tree` is the text of the model's
    tree, or of one trained without the first fold; empty where there is none. `near_duplicates` are recordings in
    different folds that are too much alike for that, None where they are not many. `notes` say what was chosen
    for folds. Where labels overlap, `thresholds` say from which probability on each holds, (n_labels,) or for each row,
    and `in_time` what segments are worth.
    """

    dataset: Dataset
    labels: tuple[str, ...]
    P: np.ndarray
    paths: tuple[tuple[str, ...], ...]
    folds: np.ndarray | None = None
    train_seconds: float = 0.0
    predict_seconds: float = 0.0
    machines: float = 0.0
    support_rows: float = 0.0
    inverse_temperature: float = 1.0
    tree: str = ""
    near_duplicates: NearDuplicates | None = None
    notes: tuple[str, ...] = ()
    thresholds: np.ndarray | None = None
    in_time: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Evaluated]) -> Evaluated:
        """Evaluations of different folds of one corpus as one; features, which recipes may differ in, are left out."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        if any(part.labels != first.labels for part in parts):
            raise CorpusError("the recipes of the folds cannot read recordings of the same labels")
        n_rows = [len(part.P) for part in parts]
        sets = [part.dataset.sets for part in parts]
        dataset = replace(
            first.dataset,
            sets=None if first.dataset.sets is None else tuple(name for each in sets for name in each or ()),
            X=np.empty((sum(n_rows), 0)),
            which=np.concatenate([part.dataset.which for part in parts]),
            segments=tuple(segment for part in parts for segment in part.dataset.segments),
        )
        return replace(
            first,
            dataset=dataset,
            P=np.concatenate([part.P for part in parts]),
            folds=np.concatenate([part.folds for part in parts if part.folds is not None]),
            train_seconds=sum(part.train_seconds for part in parts),
            predict_seconds=sum(part.predict_seconds for part in parts),
            machines=float(np.average([part.machines for part in parts], weights=n_rows)),
            support_rows=float(np.average([part.support_rows for part in parts], weights=n_rows)),
            inverse_temperature=float(np.average([part.inverse_temperature for part in parts], weights=n_rows)),
            notes=tuple(note for part in parts for note in part.notes),
            thresholds=None
            if first.thresholds is None
            else np.concatenate([part.thresholds for part in parts if part.thresholds is not None]),
        )

    def evaluation(self, n_resamples: int = N_RESAMPLES) -> Evaluation | MultiLabelEvaluation:
        """All measures, per window and per recording, with intervals over groups; of labels that overlap, of each."""
        return self._one_at_a_time(n_resamples) if self.thresholds is None else self._of_labels(n_resamples)

    def _of_labels(self, n_resamples: int) -> MultiLabelEvaluation:
        given, resampling = self.label_predictions(), Resampling(n_resamples=n_resamples)
        evaluation = evaluate_labels(given.labels, given.holds, given.P, given.thresholds, given.groups, resampling)
        return replace(evaluation, in_time=self.in_time)

    @one_thread()
    def _one_at_a_time(self, n_resamples: int) -> Evaluation:
        return evaluate(
            self.labels,
            self.dataset.y_among(self.labels),
            self.P,
            self.dataset.groups,
            files=self.dataset.clip_names,
            segments=self.dataset.segments,
            paths=self.paths if any(len(path) > 1 for path in self.paths) else (),
            pool=self.pool,
            resampling=Resampling(n_resamples=n_resamples),
        )

    def warnings(self, evaluation: Evaluation | MultiLabelEvaluation) -> list[str]:
        """What a user should know before trusting its evaluation."""
        if self.near_duplicates is None or isinstance(evaluation, MultiLabelEvaluation):
            return [*self.dataset.remarks]
        return [*self.dataset.remarks, near_duplicate_warning(self.near_duplicates, self.dataset, evaluation)]

    def facts(self, evaluation: Evaluation | MultiLabelEvaluation) -> dict[str, Any]:
        """The same as plain values, beside those of the evaluation."""
        if isinstance(evaluation, MultiLabelEvaluation):
            return {}
        return near_duplicate_facts(self.near_duplicates, evaluation)

    def pool(self, P: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The posterior of a clip from those of its windows."""
        return combine_windows(P, weights, self.inverse_temperature)

    def label_predictions(self) -> LabelPredictions:
        """The probabilities of labels that overlap beside the reference, as comparisons take them."""
        thresholds = np.full(len(self.labels), 0.5) if self.thresholds is None else self.thresholds
        files = tuple(str(self.dataset.clips[i].file) for i in self.dataset.which)
        holds = self.dataset.holds_among(self.labels)
        return LabelPredictions(self.labels, holds, self.P, thresholds, self.dataset.groups, files)

    def predictions(self) -> Predictions:
        """The posteriors beside the reference, as comparisons take them."""
        return Predictions.of(
            self.labels,
            self.dataset.y_among(self.labels),
            self.P,
            self.dataset.groups,
            files=self.dataset.clip_names,
            segments=self.dataset.segments,
        )

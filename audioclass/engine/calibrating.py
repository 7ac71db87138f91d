"""A model and a few local recordings: only its calibration is fitted anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.model import Model
from audioclass.classifier.recalibration import over_sets, recalibrated
from audioclass.engine.corpus_folds import rarest_labels
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.datasets import Dataset
from audioclass.engine.gathering import gather
from audioclass.engine.models import load_model
from audioclass.engine.provenance import thresholds_of
from audioclass.engine.remembering import FORGOT, count_recordings, remembers_recordings, trained_on
from audioclass.engine.runs import make_run
from audioclass.errors import CorpusError, did_you_mean
from audioclass.numerics import independent_log_losses, log_loss
from audioclass.run import Run
from audioclass.threads import one_thread
from audioclass.training.folds import calibration_folds, fold_count, grouped_folds
from audioclass.training.risk import HeldOutPosteriors, fit_node_risk, fit_risk


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """A model whose calibration was fitted anew, and its log-loss on groups that were held out, before and after."""

    model: Model
    dataset: Dataset
    log_loss_before: float
    log_loss_after: float

    @property
    def is_better(self) -> bool:
        """Whether the log-loss fell; not where nothing could be held out, which leaves it NaN."""
        return self.log_loss_after < self.log_loss_before


@one_thread()
def calibrate(
    model: str | Path, corpus: str | Path, *, reader: str | None = None, run: Run | None = None
) -> Recalibrated:
    """Fit the calibrators, the combination and the last step of a model anew from labelled recordings.

    Its machines stay. Of labels that overlap, that is the calibrator and the threshold of each.
    """
    run = run or make_run()
    old = load_model(model, registry=run.registry)
    dataset = gather(read_corpus_at(corpus, run, reader), old.recipe, run, as_sets=old.is_multi_label or None)
    _check_covered(old, dataset)
    dataset = _unseen(old, dataset)
    classifier = over_sets(old.classifier, dataset.labels) if old.is_multi_label else old.classifier
    scores, y = old.scores_of(dataset.X).astype(np.float64), dataset.y_among(classifier.classes)
    before, after, P = _compared(old, classifier, scores, dataset)
    fitted = recalibrated(classifier, scores, y, dataset.weights, _last_step_folds(old, y, dataset.groups))
    if old.is_multi_label:  # sets that it was not trained on have served
        fitted = replace(old.classifier, calibrations=fitted.calibrations, fitted=fitted.fitted)
    model_calibrated = Model.of(
        old.name,
        old.recipe,
        old.preprocessing,
        fitted,
        old.taxonomy,
        dict(old.about) | thresholds_of(fitted) | {"calibrated_on": dataset.fingerprint},
        old.memory,
        old.inverse_temperature,
        old.transitions,
        old.recordings,
    )
    known = replace(model_calibrated, novelty=old.novelty, default_depth=old.default_depth, short_power=old.short_power)
    if P is not None and not old.is_multi_label:
        held_out = HeldOutPosteriors(P, y, dataset.groups, dataset.clip_names)
        node_risk = None if old.node_risk is None else fit_node_risk(held_out, old.node_risk.nodes)
        known = replace(known, risk=fit_risk(held_out), node_risk=node_risk)
    return Recalibrated(known, dataset, before, after)


def _compared(
    old: Model, classifier: Classifier, scores: np.ndarray, dataset: Dataset
) -> tuple[float, float, np.ndarray | None]:
    """Log-loss of the model as it is, and of one calibrated without the group it is evaluated on, with its posteriors.

    There are none where nothing can be held out.
    """
    codes, y = np.unique(dataset.groups, return_inverse=True)[1], dataset.y_among(classifier.classes)
    sides = rarest_labels(dataset)[1] if old.is_multi_label else y
    before = _log_loss(old, old.classifier.combine(scores), dataset)
    count = fold_count(sides, codes)
    if count < 2:
        return before, float("nan"), None
    folds, P = grouped_folds(sides, codes, count), np.zeros((len(y), len(old.labels)))
    for fold in np.unique(folds):
        known = folds != fold
        inner = _last_step_folds(old, y[known], codes[known])
        P[~known] = recalibrated(classifier, scores[known], y[known], folds=inner).combine(scores[~known])
    return before, _log_loss(old, P, dataset), P


def _log_loss(model: Model, P: np.ndarray, dataset: Dataset) -> float:
    """That of posteriors, or of the independent probabilities of labels."""
    if model.is_multi_label:
        return float(independent_log_losses(P, dataset.holds_among(model.labels)).mean())
    return log_loss(P, dataset.y_among(model.labels))


def _unseen(model: Model, dataset: Dataset) -> Dataset:
    """The recordings that the model was not trained on: of the others it is surer than it may be."""
    is_known = trained_on(model, dataset)
    if not remembers_recordings(model):
        dataset = replace(dataset, remarks=(*dataset.remarks, f"{model.name} {FORGOT}"))
    if not is_known.any():
        return dataset
    n, rest = count_recordings(dataset, is_known), dataset.take(np.flatnonzero(~is_known))
    remark = f"{n} recordings trained the model and are left out: only others tell how sure it may be"
    for label, holds in zip(model.labels, rest.holds_among(model.labels).T, strict=True):
        if not holds.any():
            raise CorpusError(f"label {label!r} has no recording that the model was not trained on")
    return replace(rest, remarks=(*dataset.remarks, remark))


def _last_step_folds(old: Model, y: np.ndarray, groups: np.ndarray) -> np.ndarray | None:
    """Those by which a last step is fitted; none where the model was trained to go without."""
    if old.is_multi_label:  # each label is calibrated by itself, and there is nothing left to share out
        return None
    is_wanted = old.about.get("choices", {}).get("calibrate_posteriors", True)
    return calibration_folds(y, groups) if is_wanted else None


def _check_covered(model: Model, dataset: Dataset) -> None:
    labels = dataset.single_labels if model.is_multi_label else dataset.labels
    for label in labels:
        if label not in model.labels:
            raise CorpusError(f"the model has no label {label!r}{did_you_mean(label, model.labels)}")
    missing = [label for label in model.labels if label not in labels]
    if missing:
        raise CorpusError(f"label {missing[0]!r} has no recording; calibration needs some of every label")
    for label, holds in zip(model.labels, dataset.holds_among(model.labels).T, strict=True):
        if model.is_multi_label and holds.all():
            raise CorpusError(f"label {label!r} is in every window; calibration needs some without it")

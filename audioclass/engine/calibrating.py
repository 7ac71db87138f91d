"""A model and a few local recordings: only its calibration is fitted anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from audioclass.classifier.model import Model
from audioclass.classifier.recalibration import recalibrated
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.datasets import Dataset
from audioclass.engine.gathering import gather
from audioclass.engine.models import load_model
from audioclass.engine.remembering import FORGOT, count_recordings, remembers_recordings, trained_on
from audioclass.engine.runs import make_run
from audioclass.engine.trainable import refuse_multi_label
from audioclass.errors import CorpusError, did_you_mean
from audioclass.numerics import log_loss
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

    Its machines stay.
    """
    run = run or make_run()
    old = load_model(model, registry=run.registry)
    refuse_multi_label(old, "recalibrated")
    dataset = gather(read_corpus_at(corpus, run, reader), old.recipe, run)
    _check_covered(old, dataset)
    dataset = _unseen(old, dataset)
    scores, y = old.scores_of(dataset.X).astype(np.float64), dataset.y_among(old.labels)
    before, after, P = _compared(old, scores, y, dataset.groups)
    model_calibrated = Model.of(
        old.name,
        old.recipe,
        old.preprocessing,
        recalibrated(old.classifier, scores, y, dataset.weights, _last_step_folds(old, y, dataset.groups)),
        old.taxonomy,
        dict(old.about) | {"calibrated_on": dataset.fingerprint},
        old.memory,
        old.inverse_temperature,
        old.transitions,
        old.recordings,
    )
    known = replace(model_calibrated, novelty=old.novelty)
    if P is not None:
        held_out = HeldOutPosteriors(P, y, dataset.groups, dataset.clip_names)
        node_risk = None if old.node_risk is None else fit_node_risk(held_out, old.node_risk.nodes)
        known = replace(known, risk=fit_risk(held_out), node_risk=node_risk)
    return Recalibrated(known, dataset, before, after)


def _compared(
    old: Model, scores: np.ndarray, y: np.ndarray, groups: np.ndarray
) -> tuple[float, float, np.ndarray | None]:
    """Log-loss of the model as it is, and of one calibrated without the group it is evaluated on, with its posteriors.

    There are none where nothing can be held out.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    before = log_loss(old.classifier.combine(scores), y)
    count = fold_count(y, codes)
    if count < 2:
        return before, float("nan"), None
    folds, P = grouped_folds(y, codes, count), np.zeros((len(y), len(old.labels)))
    for fold in np.unique(folds):
        known = folds != fold
        inner = _last_step_folds(old, y[known], codes[known])
        P[~known] = recalibrated(old.classifier, scores[known], y[known], folds=inner).combine(scores[~known])
    return before, log_loss(P, y), P


def _unseen(model: Model, dataset: Dataset) -> Dataset:
    """The recordings that the model was not trained on: of the others it is surer than it may be."""
    is_known = trained_on(model, dataset)
    if not remembers_recordings(model):
        dataset = replace(dataset, remarks=(*dataset.remarks, f"{model.name} {FORGOT}"))
    if not is_known.any():
        return dataset
    n, rest = count_recordings(dataset, is_known), dataset.take(np.flatnonzero(~is_known))
    remark = f"{n} recordings trained the model and are left out: only others tell how sure it may be"
    missing = [label for i, label in enumerate(dataset.labels) if not (rest.y == i).any()]
    if missing:
        raise CorpusError(f"label {missing[0]!r} has no recording that the model was not trained on")
    return replace(rest, remarks=(*dataset.remarks, remark))


def _last_step_folds(old: Model, y: np.ndarray, groups: np.ndarray) -> np.ndarray | None:
    """Those by which a last step is fitted; none where the model was trained to go without."""
    is_wanted = old.about.get("choices", {}).get("calibrate_posteriors", True)
    return calibration_folds(y, groups) if is_wanted else None


def _check_covered(model: Model, dataset: Dataset) -> None:
    for label in dataset.labels:
        if label not in model.labels:
            raise CorpusError(f"the model has no label {label!r}{did_you_mean(label, model.labels)}")
    missing = [label for label in model.labels if label not in dataset.labels]
    if missing:
        raise CorpusError(f"label {missing[0]!r} has no recording; calibration needs some of every label")

"""A model and a few local recordings: only its calibration is fitted anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from audioclass.engine.datasets import Dataset, Progress, gather, load_corpus
from audioclass.engine.models import load_model
from audioclass.errors import CorpusError, did_you_mean

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.plugins.manager import PluginManager


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """A model whose calibration was fitted anew, and its log-loss on groups that were held out, before and after."""

    model: Model
    labelled: Dataset
    log_loss_before: float
    log_loss_after: float


def calibrate(
    model: str | Path,
    corpus: str | Path,
    *,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
    manager: PluginManager | None = None,
) -> Recalibrated:
    """Fit the calibrators and the combination of a model anew from labelled recordings; its machines stay."""
    from audioclass.classifier.recalibration import recalibrated
    from audioclass.plugins.manager import plugin_manager

    manager = manager or plugin_manager()
    old = load_model(model, manager=manager)
    labelled = gather(load_corpus(corpus, manager, reader), old.recipe, jobs=jobs, cache=cache, progress=progress)
    _check_covered(old, labelled)
    scores, y = old.scores_of(labelled.X).astype(np.float64), labelled.y_among(old.labels)
    before, after = _compared(old, scores, y, labelled.groups)
    classifier = recalibrated(old.classifier, scores, y, labelled.weights)
    about = dict(old.about) | {"calibrated_on": labelled.fingerprint}
    rest = (old.taxonomy, about, old.memory, old.inverse_temperature)
    made = type(old).of(old.name, old.recipe, old.preprocessing, classifier, *rest)
    return Recalibrated(made, labelled, before, after)


def _compared(old: Model, scores: np.ndarray, y: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Log-loss of the model as it is, and of one calibrated without the group it is judged on."""
    from audioclass.classifier.recalibration import recalibrated
    from audioclass.numerics import log_loss
    from audioclass.training.folds import fold_count, grouped_folds

    codes = np.unique(groups, return_inverse=True)[1]
    before = log_loss(old.classifier.combine(scores), y)
    count = fold_count(y, codes)
    if count < 2:
        return before, float("nan")
    folds, P = grouped_folds(y, codes, count), np.zeros((len(y), len(old.labels)))
    for fold in np.unique(folds):
        known = folds != fold
        P[~known] = recalibrated(old.classifier, scores[known], y[known]).combine(scores[~known])
    return before, log_loss(P, y)


def _check_covered(model: Model, labelled: Dataset) -> None:
    for label in labelled.labels:
        if label not in model.labels:
            raise CorpusError(f"the model has no label {label!r}{did_you_mean(label, model.labels)}")
    missing = [label for label in model.labels if label not in labelled.labels]
    if missing:
        raise CorpusError(f"label {missing[0]!r} has no recording; calibration needs some of every label")

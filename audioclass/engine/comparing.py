"""Several configurations, or several models, on the same recordings and the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from audioclass.classifier.model import Model
from audioclass.engine.corpus_folds import AUTO
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.evaluating import evaluate_model, trained_already
from audioclass.engine.folded_corpus import prepare_folds
from audioclass.engine.recipe_choice import with_chosen_recipe
from audioclass.engine.runs import make_run, stage_store
from audioclass.errors import UsageError
from audioclass.evaluation.compare import compare, compare_labels
from audioclass.evaluation.comparison import Comparison
from audioclass.run import Run
from audioclass.threads import one_thread
from audioclass.training.config import TrainingConfig


def compare_configs(
    corpus: str | Path,
    configs: Mapping[str, TrainingConfig],
    *,
    folds: str = AUTO,
    reader: str | None = None,
    run: Run | None = None,
) -> Comparison:
    """Cross-validate each configuration on the same folds of a corpus; all must have the same recipe.

    Where that is to be chosen, it is chosen once, on all recordings: who is compared has the same features.
    """
    run = run or make_run()
    check_several(list(configs))
    read = read_corpus_at(corpus, run, reader)
    first, choice = with_chosen_recipe(next(iter(configs.values())), read, run)
    if choice is not None:
        warnings.warn(f"{choice}, for all that are compared", stacklevel=2)
        configs = {name: replace(config, recipe=first.recipe) for name, config in configs.items()}
    prepared = prepare_folds(corpus, first, run, folds=folds, reader=reader)
    for note in (*prepared.notes, *prepared.dataset.remarks):
        warnings.warn(note, stacklevel=2)
    with stage_store(run, "folds", prepared.dataset.fingerprint) as store:
        evaluated = {name: prepared.evaluate(config, run.telling(name), store) for name, config in configs.items()}
    return _compared(evaluated, prepared.folds)


def compare_models(
    corpus: str | Path, models: Mapping[str, Model], *, reader: str | None = None, run: Run | None = None
) -> Comparison:
    """Models of the same labels on one corpus that none of them was trained on."""
    run = run or make_run()
    check_several(list(models))
    _check_same_labels({model.labels for model in models.values()})
    evaluated = {
        name: evaluate_model(model, corpus, reader=reader, run=run.telling(name)) for name, model in models.items()
    }
    _check_same_labels({each.labels for each in evaluated.values()})  # groups of one name may have other labels beside
    if len({each.thresholds is None for each in evaluated.values()}) > 1:
        raise UsageError("models of labels that overlap meet others on a corpus whose labels overlap; here none do")
    if len({each.dataset.segments for each in evaluated.values()}) > 1:
        raise UsageError("models with different windows cannot be compared window by window")
    for name, model in models.items():
        if warning := trained_already(model, evaluated[name].dataset):
            warnings.warn(f"{name} {warning}", stacklevel=2)
    return _compared(evaluated, None)


def _check_same_labels(labels: Collection[tuple[str, ...]]) -> None:
    if len(labels) > 1:
        different = " and ".join(sorted(", ".join(each) for each in labels)[:2])
        raise UsageError(f"models of different labels cannot be compared: {different}")


def check_several(names: Sequence[str]) -> None:
    """Refuse a single system, and two of the same name."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise UsageError(f"{repeated[0]!r} is given twice, systems to compare must have names of their own")
    if len(names) < 2:
        raise UsageError(f"{len(names)} strategy or model, at least 2 are needed to compare")


@one_thread()
def _compared(evaluated: Mapping[str, Evaluated], folds: np.ndarray | None) -> Comparison:
    costs = {
        name: {
            "train_seconds": round(each.train_seconds, 3),
            "predict_seconds": round(each.predict_seconds, 3),
            "machines": each.machines,
            "support_rows": each.support_rows,
        }
        for name, each in evaluated.items()
    }
    if any(each.thresholds is not None for each in evaluated.values()):
        comparison = compare_labels(
            {name: each.label_predictions() for name, each in evaluated.items()}, folds, costs=costs
        )
    else:
        predictions = {name: each.predictions() for name, each in evaluated.items()}
        first = [rows[0] for rows in next(iter(predictions.values())).recordings()]
        pooled = {name: each.per_recording(evaluated[name].pool) for name, each in predictions.items()}
        comparison = compare(pooled, None if folds is None else folds[first], costs=costs)
    failures = dict.fromkeys(reason for each in evaluated.values() for _, reason in each.dataset.failures)
    return replace(comparison, failures=tuple(failures))

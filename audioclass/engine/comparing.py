"""Several ways to train, or several models, on the same recordings and the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from audioclass.engine.datasets import Progress, gather, load_corpus, tree_for
from audioclass.engine.evaluating import AUTO, Judged, Trial, evaluate_model, folds_of
from audioclass.engine.training import Setup, check_labels, run_folder
from audioclass.errors import UsageError
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.evaluation.comparison import Comparison


def compare_setups(
    corpus: str | Path,
    setups: Mapping[str, Setup],
    *,
    folds: str = AUTO,
    taxonomy: Taxonomy | str | None = None,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate each way to train on the same folds of a corpus; all must have the same recipe."""
    from audioclass.storage import resumable

    check_several(list(setups))
    first = next(iter(setups.values()))
    read = load_corpus(corpus, first.manager, reader)
    labelled = gather(read, first.recipe, jobs=jobs, cache=cache, progress=progress)
    tree = tree_for(read, labelled, taxonomy)
    check_labels(labelled, tree)
    dealt = folds_of(labelled, folds)
    with resumable(run_folder(cache, "folds", labelled.fingerprint)) as store:
        judged = {
            name: Trial(setup.guided_by(tree), tree, jobs, cache, store, _about(name, progress)).judged(labelled, dealt)
            for name, setup in setups.items()
        }
    return _compared(judged, dealt)


def compare_models(
    corpus: str | Path,
    models: Mapping[str, Model],
    *,
    reader: str | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Models of the same labels on one corpus that none of them was trained on."""
    check_several(list(models))
    labels = {model.labels for model in models.values()}
    if len(labels) > 1:
        different = " and ".join(sorted(", ".join(each) for each in labels)[:2])
        raise UsageError(f"models of different labels cannot be compared: {different}")
    judged = {
        name: evaluate_model(model, corpus, reader=reader, jobs=jobs, cache=cache, progress=_about(name, progress))
        for name, model in models.items()
    }
    windows = {each.labelled.segments for each in judged.values()}
    if len(windows) > 1:
        raise UsageError("models with different windows cannot be compared window by window")
    return _compared(judged, None)


def check_several(names: Sequence[str]) -> None:
    """Refuse a single system, and two of the same name."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise UsageError(f"{repeated[0]!r} is given twice, systems to compare must have names of their own")
    if len(names) < 2:
        raise UsageError(f"{len(names)} strategy or model, at least 2 are needed to compare")


def _compared(judged: Mapping[str, Judged], folds: np.ndarray | None) -> Comparison:
    from audioclass.evaluation.compare import compare

    costs = {
        name: {
            "train_seconds": round(each.train_seconds, 3),
            "predict_seconds": round(each.predict_seconds, 3),
            "machines": each.machines,
            "support_rows": each.support_rows,
        }
        for name, each in judged.items()
    }
    answers = {name: each.answers() for name, each in judged.items()}
    first = [rows[0] for rows in next(iter(answers.values())).recordings()]
    pooled = {name: each.per_recording(judged[name].pool) for name, each in answers.items()}
    return compare(pooled, None if folds is None else folds[first], costs=costs)


def _about(name: str, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda stage, done, total: progress(f"{name}, {stage}", done, total)

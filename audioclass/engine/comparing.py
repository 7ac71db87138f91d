"""Several ways to train, or several models, on the same recordings and the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audioclass.engine.evaluating import AUTO, Judged, cross_validate_on, evaluate_model, folds_of
from audioclass.engine.gathering import Progress, gather, load_corpus, taxonomy_of
from audioclass.engine.training import LEARN, Setup, check_labels
from audioclass.errors import UsageError
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.evaluation.comparison import Comparison
    from audioclass.model.model import Model


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
    first = next(iter(setups.values()))
    read = load_corpus(corpus, first.manager, reader)
    tree = taxonomy_of(read) if taxonomy is None else None if taxonomy == LEARN else taxonomy
    labelled = gather(read, first.recipe, jobs=jobs, cache=cache, progress=progress)
    check_labels(labelled, tree)
    dealt = folds_of(labelled, folds)
    judged = {}
    for name, setup in setups.items():
        say = _about(name, progress)
        judged[name] = cross_validate_on(
            labelled, setup.guided_by(tree), dealt, taxonomy=tree, jobs=jobs, cache=cache, progress=say
        )
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
    labels = {model.labels for model in models.values()}
    if len(labels) > 1:
        different = " and ".join(sorted(", ".join(each) for each in labels)[:2])
        raise UsageError(f"models of different labels cannot be compared: {different}")
    judged = {
        name: evaluate_model(model, corpus, reader=reader, jobs=jobs, cache=cache, progress=_about(name, progress))
        for name, model in models.items()
    }
    sizes = {len(each.P) for each in judged.values()}
    if len(sizes) > 1:
        raise UsageError("models with different windows cannot be compared window by window")
    return _compared(judged, None)


def named_setups(setups: Sequence[tuple[str, Setup]]) -> dict[str, Setup]:
    """Setups by name; two of the same name are a mistake."""
    named = dict(setups)
    if len(named) != len(setups) or len(named) < 2:
        raise UsageError(f"{len(named)} different strategies or models, at least 2 are needed to compare")
    return named


def _compared(judged: Mapping[str, Judged], folds: object) -> Comparison:
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
    return compare({name: each.answers() for name, each in judged.items()}, folds, costs=costs)


def _about(name: str, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda stage, done, total: progress(f"{name}, {stage}", done, total)

"""Where a model comes from and what was found while it was trained, as the plain values that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audioclass.classifier.blame import versions
from audioclass.classifier.classifier import Classifier
from audioclass.engine.datasets import Dataset
from audioclass.engine.durations import Durations
from audioclass.engine.recipe_choice import RecipeChoice
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.multi_label import MEASURES, MultiLabelEvaluation
from audioclass.label_sets import NO_LABEL
from audioclass.run import Registry, Run
from audioclass.training.assemble import Training
from audioclass.training.config import TrainingConfig
from audioclass.training.group_weights import GroupWeights
from audioclass.training.report import machine_report

FIGURES = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error")


MULTI_LABEL_FIGURES = tuple(MEASURES)


def describe(
    dataset: Dataset,
    config: TrainingConfig,
    run: Run,
    training: Training,
    grouped: Evaluation | MultiLabelEvaluation,
    random_split: Evaluation | None,
    y: np.ndarray,
    group_weights: GroupWeights | None = None,
    recipe_choice: RecipeChoice | None = None,
) -> dict[str, Any]:
    """Provenance and report; `y` is the label index of every example that was trained on."""
    weighed = {} if group_weights is None else {"group_weights": group_weights.to_plain()}
    chosen = {} if recipe_choice is None else {"recipe_choice": recipe_choice.to_plain()}
    recipe_note = [] if recipe_choice is None else [str(recipe_choice)]
    return {
        "versions": versions(),
        "pieces": components_of(config, training, run.registry),
        "choices": {**config.to_plain(), "seed": run.seed},
        "corpus": _corpus_facts(dataset),
        "durations": durations_of(dataset).to_plain() | {"hop_is_stated": "hop" in config.chosen},
        "report": {"grouped": figures(grouped), "random_split": figures(random_split) if random_split else None},
        "machines": machine_report(training, y),
        "last_step": dict(training.last_step),
        "notes": [*recipe_note, *training.choices, *training.notes],
        **weighed,
        **chosen,
    }


def components_of(config: TrainingConfig, training: Training, registry: Registry) -> list[dict[str, str]]:
    """Every component that is needed to evaluate the model, with the distribution it comes from."""
    classifier = training.classifier
    used = [("strategy", config.strategy.name)]
    if classifier.plan is not None:
        used += [("trainer", config.trainer.name), ("calibrator", config.calibrator.name)]
    used += [("kernel", kernel.name) for kernel in classifier.kernels]
    used += [("link", classifier.link.link.name)] if classifier.link is not None else []
    for part in config.known_recipe.parts if config.known_recipe else ():
        used += [("descriptor", component.name) for component in part.descriptors]
        used += [("pooling", component.name) for component in part.poolings]
        used += [("embedding", part.embedding.name)] if part.embedding is not None else []
    return [_origin(registry, kind, name) for kind, name in dict.fromkeys(used)]


def thresholds_of(classifier: Classifier) -> dict[str, Any]:
    """From which probability on each label holds; nothing where labels are not independent."""
    if not classifier.is_multi_label:
        return {}
    both = zip(classifier.labels, classifier.thresholds.tolist(), strict=True)
    return {"thresholds": {label: round(threshold, 6) for label, threshold in both}}


def figures(evaluation: Evaluation | MultiLabelEvaluation) -> dict[str, Mapping[str, float]]:
    """The figures of a report, per clip and per window."""
    if isinstance(evaluation, MultiLabelEvaluation):
        return {view.unit: {name: view.value(name) for name in MULTI_LABEL_FIGURES} for view in evaluation.views}
    return {view.unit: {name: float(view.measures[name].value) for name in FIGURES} for view in evaluation.views}


def _corpus_facts(dataset: Dataset) -> dict[str, Any]:
    counts = np.bincount(dataset.y, minlength=len(dataset.labels))
    return {
        "fingerprint": dataset.fingerprint,
        "recordings": len({dataset.clips[i].file for i in dataset.which}),
        "groups": len(np.unique(dataset.groups)),
        "windows": {label or NO_LABEL: int(count) for label, count in zip(dataset.labels, counts, strict=True)},
        "left_out": len(dataset.failures),
    }


def durations_of(dataset: Dataset) -> Durations:
    """How long the segments and recordings of a dataset last, of those that it has windows of."""
    return Durations.of([dataset.clips[i] for i in np.unique(dataset.which)], dataset.lengths)


def _origin(registry: Registry, kind: str, name: str) -> dict[str, str]:
    distribution, _, version = registry.origin(kind, name).partition(" ")
    return {"kind": registry.kind(kind, name), "name": name, "distribution": distribution, "version": version}

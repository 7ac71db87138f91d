"""Where a model comes from and what was found while it was trained, as the plain values that it keeps."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass import __version__

if TYPE_CHECKING:
    from audioclass.engine.datasets import Dataset
    from audioclass.engine.training import Setup
    from audioclass.evaluation.evaluation import Evaluation
    from audioclass.plugins.manager import PluginManager
    from audioclass.training.train import Training

FIGURES = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error")


def describe(
    labelled: Dataset,
    setup: Setup,
    training: Training,
    grouped: Evaluation,
    naive: Evaluation | None,
    y: np.ndarray,
) -> dict[str, Any]:
    """Provenance and report; `y` is the label index of every example that was trained on."""
    from audioclass.training.report import machine_report

    return {
        "versions": versions(),
        "pieces": components_of(setup, training),
        "choices": setup.choices.to_plain(),
        "corpus": _corpus_facts(labelled),
        "report": {"grouped": figures(grouped), "naive": figures(naive) if naive else None},
        "machines": machine_report(training, y),
        "notes": list(training.notes),
    }


def versions() -> dict[str, str]:
    """What computed it: ourselves, Python and the libraries whose rounding matters."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy")}
    return {"audioclass": __version__, "python": platform.python_version(), **libraries}


def components_of(setup: Setup, training: Training) -> list[dict[str, str]]:
    """Every component that is needed to evaluate the model, with the distribution it comes from."""
    classifier = training.classifier
    used = [("strategy", setup.method.strategy.name)]
    if classifier.plan is not None:
        used += [
            ("trainer", setup.method.components.trainer.name),
            ("calibrator", setup.method.components.calibrator.name),
        ]
    used += [("kernel", kernel.name) for kernel in classifier.kernels]
    for part in setup.recipe.parts:
        used += [("descriptor", component.name) for component in part.descriptors]
        used += [("pooling", component.name) for component in part.poolings]
        used += [("embedding", part.embedding.name)] if part.embedding is not None else []
    return [_origin(setup.manager, kind, name) for kind, name in dict.fromkeys(used)]


def figures(evaluation: Evaluation) -> dict[str, Mapping[str, float]]:
    """The figures of a report, per clip and per window."""
    return {view.unit: {name: float(view.measures[name].value) for name in FIGURES} for view in evaluation.views}


def _corpus_facts(labelled: Dataset) -> dict[str, Any]:
    counts = np.bincount(labelled.y, minlength=len(labelled.labels))
    return {
        "fingerprint": labelled.fingerprint,
        "recordings": len({labelled.clips[i].file for i in labelled.which}),
        "groups": len(np.unique(labelled.groups)),
        "windows": {label: int(count) for label, count in zip(labelled.labels, counts, strict=True)},
        "left_out": len(labelled.failures),
    }


def _origin(manager: PluginManager, kind: str, name: str) -> dict[str, str]:
    offer = manager.find(kind, name)
    return {"kind": offer.kind, "name": name, "distribution": offer.distribution, "version": offer.version}

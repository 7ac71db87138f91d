"""What `audioclass model` does: a model's summary, its golden posteriors and its card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from audioclass.classifier.archive import naming
from audioclass.classifier.card import card_of
from audioclass.classifier.golden import TOLERANCE
from audioclass.classifier.model import Model
from audioclass.classifier.saving import manifest_of
from audioclass.classifier.tree import learnt_tree
from audioclass.cli import screen
from audioclass.engine.models import load_model
from audioclass.errors import ModelError
from audioclass.trees.drawing import draw_lines


def show(model: str, *, json: bool) -> None:
    """The summary of a model and its tree, or its manifest for programs."""
    loaded = load_model(model)
    if json:
        screen.out_json(manifest_of(loaded))
        return
    tree = learnt_tree(loaded)
    screen.out(_summary(loaded))
    screen.out("")
    screen.out("\n".join(draw_lines(tree)) if tree else loaded.taxonomy.draw())


def verify(model: str, *, json: bool) -> None:
    """Say by how much golden posteriors differ, and fail where that is more than rounding."""
    loaded = load_model(model, verify=False)
    with naming(Path(model)):
        drift = loaded.drift()
    if json:
        screen.out_json({"model": model, "drift": drift, "tolerance": TOLERANCE, "steady": drift <= TOLERANCE})
    else:
        screen.out(f"{model}: golden posteriors differ by {drift:.2g}; up to {TOLERANCE:g} is rounding")
    if drift > TOLERANCE:
        raise ModelError(f"{model}: drifts by {drift:.2g} on this machine; train it again or use the versions it names")


def card(model: str) -> None:
    """The card of a model."""
    screen.out(card_of(load_model(model)).rstrip())


def _summary(model: Model) -> str:
    about, classifier = model.about, model.classifier
    report = about.get("report", {}).get("grouped", {})
    main: Mapping[str, float] = next(iter(report.values()), {})
    lines = [
        f"{model.name}: {len(model.labels)} labels, {classifier.n_machines} machines over {classifier.n_support} rows",
        f"strategy {classifier.strategy.name}, recipe {model.recipe.name} ({len(model.recipe.columns)} features),"
        f" windows of {model.recipe.window:g} s every {model.recipe.window_hop:g} s",
    ]
    if main:
        figures = ", ".join(f"{key.replace('_', ' ')} {value:.3f}" for key, value in main.items())
        lines.append(f"held out by group, per {next(iter(report))}: {figures}")
    if model.transitions is not None:
        n_changes = int(model.transitions.sum() - model.transitions.trace())
        lines.append(f"hmm: transitions learnt from continuous recordings, {n_changes} changes of label")
    versions = about.get("versions", {})
    lines.append("made with " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    return "\n".join(lines)

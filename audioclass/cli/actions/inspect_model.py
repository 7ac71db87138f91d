"""What `audioclass model` does: a model's summary, its golden vectors and its card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audioclass.classifier.about import last_step_line, near_duplicate_sentence, splits_of, thresholds_line
from audioclass.classifier.card import card_of
from audioclass.classifier.golden import FEATURE_TOLERANCE, TOLERANCE
from audioclass.classifier.summary import Summary
from audioclass.cli import screen
from audioclass.engine.models import read_summary, verify_model
from audioclass.errors import ModelError
from audioclass.trees.drawing import draw_lines

MEASURES = {"log_loss": "log-loss", "brier": "Brier score", "calibration_error": "ECE"}


def show(model: str, *, json: bool) -> None:
    """The summary of a model and its tree, or its manifest for programs; it needs none of the model's plugins."""
    summary, manifest, differences = read_summary(model)
    if json:
        screen.out_json(manifest)
    else:
        drawn = draw_lines(summary.tree) if summary.tree else summary.taxonomy.draw().splitlines()
        for line in (*_summary(summary), "", *drawn):
            screen.out(line)
    for line in differences:
        screen.note(f"{model}: {line}")


def verify(model: str, *, json: bool) -> None:
    """Say by how much golden features and posteriors differ, and fail where that is more than rounding."""
    drift, blamed, differences = verify_model(model)
    if json:
        screen.out_json(
            {
                "model": model,
                "features": drift.features,
                "feature_tolerance": FEATURE_TOLERANCE,
                "drift": drift.posteriors,
                "tolerance": TOLERANCE,
                "steady": drift.is_rounding,
                "culprit": blamed,
                "differences": differences,
            }
        )
    else:
        screen.out(f"{model}: {drift}")
    for line in differences if drift.is_rounding else ():
        screen.note(f"{model}: {line}; it computes the same")
    if blamed:
        raise ModelError(f"{model}: computes otherwise than when it was made: {blamed}")


def card(model: str) -> None:
    """The card of a model; it needs none of the model's plugins."""
    summary, _, differences = read_summary(model)
    screen.out_text(card_of(summary).rstrip())
    for line in differences:
        screen.note(f"{model}: {line}")


def _summary(model: Summary) -> list[str]:
    about = model.about
    report = about.get("report", {}).get("grouped", {})
    main: Mapping[str, float] = next(iter(report.values()), {})
    lines = [
        f"{model.name}: {len(model.labels)} labels, {model.n_machines} machines over {model.n_support} rows",
        f"strategy {model.strategy}, recipe {model.recipe} ({model.features_told}),"
        f" windows of {model.window:g} s every {model.window_hop:g} s",
    ]
    lines += filter(None, [model.depth_sentence])
    if len(model.versions) > 1:
        speeds = ", ".join(f"{speed:.4g}" for speed in model.versions)
        lines.append(f"{len(model.versions)} versions of every window, scores averaged over the speeds {speeds}")
    if main:
        names = {key: MEASURES.get(key, key.replace("_", " ")) for key in main}
        figures = ", ".join(f"{names[key]} {value:.3f}" for key, value in main.items())
        lines.append(f"{splits_of(about).held_out}, per {next(iter(report))}: {figures}")
    lines += filter(None, [near_duplicate_sentence(about)])
    lines += _group_weights(about.get("group_weights", {}))
    lines += filter(None, [last_step_line(about), thresholds_line(about)])
    lines += about.get("notes", [])
    if model.transitions is not None:
        n_changes = int(model.transitions.sum() - model.transitions.trace())
        lines.append(f"hmm: transitions learnt from continuous recordings, {n_changes} changes of label")
    versions = about.get("versions", {})
    lines.append("made with " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    return lines


def _group_weights(stated: Mapping[str, Any]) -> list[str]:
    """The weights of groups of features that were searched, the heaviest first, and what they are worth."""
    weights = stated.get("weights", {})
    if not weights:
        return []
    worth = ""
    if "log_loss_given" in stated:
        before, after = stated["log_loss_given"], stated["log_loss_chosen"]
        chosen = "" if stated.get("are_chosen") else "; the given ones were kept"
        worth = f" (log-loss on unseen groups {before:.3f} before the search, {after:.3f} after{chosen})"
    heaviest = sorted(weights.items(), key=lambda item: -item[1])
    return [f"group weights: {', '.join(f'{name} {weight:.2f}' for name, weight in heaviest)}{worth}"]

"""The card of a model: what it knows, how well, from what, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audioclass.classifier.about import Splits, last_step_line, near_duplicate_sentence, splits_of, thresholds_line
from audioclass.classifier.summary import Summary

COLUMNS = {"accuracy": "accuracy", "log_loss": "log-loss", "calibration_error": "expected calibration error"}
MULTI_LABEL_COLUMNS = {
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "mean_average_precision": "mean average precision",
    "log_loss": "log-loss",
}


def card_of(model: Summary, remarks: str = "") -> str:
    """A card that a person reads; `remarks` are put after the figures."""
    parts = [_head(model), _figures(model), remarks.strip(), _data(model), _method(model), _use(model)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(model: Summary) -> str:
    tree = "\n".join(f"    {line}" for line in model.taxonomy.draw().splitlines())
    if thresholds_line(model.about):
        return (
            f"# {model.name}\n\nFinds {len(model.labels)} labels, of which several may hold at once, each with a"
            f" calibrated probability of its own:\n\n{tree}"
        )
    return (
        f"# {model.name}\n\nTells {len(model.labels)} labels apart, with a calibrated posterior for each:\n\n{tree}"
        f"{_default_depth(model)}"
    )


def _default_depth(model: Summary) -> str:
    sentence = model.depth_sentence.replace("--depth", "`--depth").rstrip()
    return f"\n\n{sentence[0].upper()}{sentence[1:]}`." if sentence else ""


def _figures(model: Summary) -> str:
    splits = splits_of(model.about)
    names = MULTI_LABEL_COLUMNS if thresholds_line(model.about) else COLUMNS
    rows = list(_report_rows(model.about.get("report", {}), splits, names))
    if not rows:
        return ""
    head = f"| split | {' | '.join(names.values())} |\n|{' --- |' * (len(names) + 1)}"
    optimistic = near_duplicate_sentence(model.about)
    return "\n".join(
        ["## How well", "", splits.meaning, "", head, *rows, *(["", f"{optimistic}."] if optimistic else [])]
    )


def _report_rows(report: Mapping[str, Any], splits: Splits, columns: Mapping[str, str]) -> Iterator[str]:
    names = {"grouped": splits.held_out, "random_split": "random split", "naive": "random split"}
    for split, views in report.items():
        for unit, values in (views or {}).items():
            cells = " | ".join(f"{values[name]:.3f}" for name in columns)
            yield f"| {names.get(split, split)}, per {unit} | {cells} |"


def _data(model: Summary) -> str:
    corpus = model.about.get("corpus")
    if not corpus:
        return ""
    windows = ", ".join(f"{label} {count}" for label, count in corpus["windows"].items())
    return (
        f"## Trained on\n\n{corpus['recordings']} recordings in {corpus['groups']} groups; windows: {windows}."
        f"{_durations(model)} Fingerprint of the corpus: `{corpus['fingerprint'][:16]}`."
    )


def _durations(model: Summary) -> str:
    """How long what it was trained on lasted, in medians, where it knows."""
    stated = model.about.get("durations", {})
    medians = [stated.get(key, {}).get("0.5") for key in ("segments", "recordings")]
    if None in medians:
        return ""
    return f" Labelled segments last {medians[0]:.3g} s (median), recordings {medians[1]:.3g} s."


def _method(model: Summary) -> str:
    components = model.about.get("pieces", [])
    others = sorted({f"{p['distribution']} {p['version']}" for p in components})
    versions = ", ".join(f"{name} {version}" for name, version in model.about.get("versions", {}).items())
    return (
        f"## How\n\nStrategy `{model.strategy}` with {model.n_machines} machines over"
        f" {model.n_support} rows; recipe `{model.recipe}`, {model.features_told}, windows of"
        f" {model.window:g} s every {model.window_hop:g} s."
        f"{_versions(model)}{_transitions(model)}{_last_step(model)}\n\n"
        f"Components of {', '.join(others) or 'audioclass'};"
        f" made with {versions or 'unknown versions'}."
    )


def _versions(model: Summary) -> str:
    """In how many versions windows are classified, and were trained on where that differs."""
    speeds = model.versions
    if len(speeds) > 1:
        return f" Scores are means over every window at the speeds {', '.join(f'{speed:.4g}' for speed in speeds)}."
    stated = str(model.about.get("choices", {}).get("versions", ""))
    return f" It was trained on every window at the speeds {stated.strip('[]')}." if "," in stated else ""


def _transitions(model: Summary) -> str:
    known = " How labels follow one another was learnt from continuous recordings; `hmm` goes by it."
    return "" if model.transitions is None else known


def _last_step(model: Summary) -> str:
    lines = filter(None, [last_step_line(model.about), thresholds_line(model.about)])
    return "".join(f" {line[0].upper()}{line[1:]}." for line in lines)


def _use(model: Summary) -> str:
    return f"## Use\n\n    audioclass classify recording.wav --model {model.name}.audioclass"

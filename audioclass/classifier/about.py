"""What a model says of itself is read by commands and reports: checked once, when the model is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audioclass.errors import ModelError
from audioclass.problems import Plan

NEAR_DUPLICATES = ("share", "accuracy", "log_loss")
COUNTS = ("recordings", "groups", "left_out")


@dataclass(frozen=True)
class Splits:
    """What the figures of a training were measured on: the names of its two splits, and what they mean."""

    held_out: str
    random: str
    meaning: str


BY_GROUP = Splits(
    "held out by group",
    "random split, leaks groups",
    "Groups (recordings, speakers) were held out of training; a random split, which leaks groups, is shown for"
    " comparison.",
)
BY_RECORDING = Splits(
    "held out by recording",
    "random split, leaks recordings",
    "Recordings were held out of training, each by itself: the corpus names no group (a source, a speaker) of several."
    " A random split of their windows, which leaks recordings, is shown for comparison.",
)
NOT_HELD_OUT = Splits(
    "nothing held out, one group",
    "random split, leaks the group",
    "Nothing was held out: all recordings are one group, and the figures are of the recordings that were trained on.",
)


def splits_of(about: Mapping[str, Any]) -> Splits:
    """The splits that its corpora allowed, from the counts that a model states of them."""
    corpora = [about.get("corpus", {}), *(update.get("corpus", {}) for update in about.get("updates", []))]
    recordings, groups = (sum(corpus.get(key, 0) for corpus in corpora) for key in ("recordings", "groups"))
    if groups == 1:
        return NOT_HELD_OUT
    return BY_RECORDING if groups and groups == recordings else BY_GROUP


def check_about(stated: Any, labels: Sequence[str], plan: Plan | None) -> None:
    """Refuse what commands could not show; what is not said at all is not missed."""
    about = _table(stated, "about")
    for key in ("versions", "choices", "corpus", "report"):
        _table(about.get(key, {}), key)
    _check_report(about.get("report", {}))
    _check_corpora(about)
    _check_machines(about.get("machines", []), labels, plan)
    _check_components(about.get("pieces", []))
    _check_near_duplicates(_table(about.get("near_duplicates", {}), "near-duplicates"))
    _check_group_weights(_table(about.get("group_weights", {}), "group weights"))
    _check_last_step(_table(about.get("last_step", {}), "last step"))
    _check_recipe_choice(_table(about.get("recipe_choice", {}), "recipe choice"))
    _check_durations(_table(about.get("durations", {}), "durations"))
    if not all(map(_is_number, _table(about.get("thresholds", {}), "thresholds").values())):
        raise ModelError("its thresholds must be numbers")
    if not all(isinstance(value, (str, int, float)) for value in about.get("choices", {}).values()):
        raise ModelError("its choices must be texts and numbers")
    notes = about.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ModelError("its notes must be a list of texts")


def _check_report(report: Mapping[str, Any]) -> None:
    for split, views in report.items():
        for unit, values in _table(views or {}, f"report of {split[:40]}").items():
            if not all(_is_number(value) for value in _table(values, f"report per {unit[:40]}").values()):
                raise ModelError(f"its report per {unit[:40]} must hold numbers")


def _check_corpora(about: Mapping[str, Any]) -> None:
    updates = about.get("updates", [])
    if not isinstance(updates, list):
        raise ModelError("its updates must be a list")
    for stated in (about.get("corpus", {}), *(_table(update, "update").get("corpus") for update in updates)):
        corpus = _table(stated, "corpus")
        is_right = all(_is_number(corpus[key]) for key in COUNTS) if corpus else True
        if not is_right or not isinstance(corpus.get("fingerprint", ""), str):
            raise ModelError("its corpus must have a fingerprint and counts")
        _table(corpus.get("windows", {}), "corpus windows")


def _check_components(components: Any) -> None:
    keys = ("kind", "name", "distribution", "version")
    are_tables = isinstance(components, list) and all(isinstance(one, Mapping) for one in components)
    if not are_tables or not all(isinstance(one.get(key), str) for one in components for key in keys):
        raise ModelError("each of its components must have a kind, a name, a distribution and a version")


def _check_group_weights(stated: Mapping[str, Any]) -> None:
    weights = _table(stated.get("weights", {}), "weights of groups")
    losses = [stated[key] for key in ("log_loss_given", "log_loss_chosen") if key in stated]
    if not all(map(_is_number, [*weights.values(), *losses])):
        raise ModelError("its group weights must be numbers")


def _check_last_step(stated: Mapping[str, Any]) -> None:
    """Which kind was chosen, by how many folds of which sort, and the log-loss of each that competed; or nothing."""
    if not stated:
        return
    losses = _table(stated.get("log_loss"), "log-losses of last steps")
    is_said = isinstance(stated.get("chosen"), str) and type(stated.get("clean")) is bool
    if not is_said or not all(map(_is_number, [stated.get("folds"), *losses.values()])):
        raise ModelError("its last step must have a name, folds, whether they were clean, and log-losses")


def last_step_line(about: Mapping[str, Any]) -> str:
    """What comes after the strategy, and the log-losses that decided; empty where nothing could be held out."""
    stated = about.get("last_step", {})
    if not stated:
        return ""
    sort = "clean" if stated["clean"] else "cross-fitted"
    losses = sorted(stated["log_loss"].items(), key=lambda item: item[1])
    figures = "; ".join(f"{name} {loss:.3f}" for name, loss in losses[:5])
    return f"last step: {stated['chosen']}, by {stated['folds']} {sort} folds (log-loss: {figures})"


def _check_near_duplicates(stated: Mapping[str, Any]) -> None:
    if stated and not all(_is_number(stated.get(key)) for key in NEAR_DUPLICATES):
        raise ModelError(f"its near-duplicates must have {', '.join(NEAR_DUPLICATES)} as numbers")


def thresholds_line(about: Mapping[str, Any]) -> str:
    """From which probability on each label of a multi-label model holds; empty where labels exclude one another."""
    stated = about.get("thresholds", {})
    if not stated:
        return ""
    each = ", ".join(f"{label} {threshold:.3g}" for label, threshold in stated.items())
    return f"multi-label: probabilities are independent, a label holds from its threshold on: {each}"


def near_duplicate_sentence(about: Mapping[str, Any]) -> str:
    """How optimistic the figures of a training are where its groups part recordings of one source; empty elsewhere."""
    stated = about.get("near_duplicates")
    if not stated:
        return ""
    return (
        f"{stated['share']:.0%} of the recordings have near-duplicates in other groups, which flatters these figures:"
        f" with such clusters held out whole, accuracy is about {stated['accuracy']:.3f} and log-loss"
        f" {stated['log_loss']:.3f}"
    )


def _check_recipe_choice(stated: Mapping[str, Any]) -> None:
    losses, reasons = (_table(stated.get(key, {}), f"recipes' {key}") for key in ("log_loss", "left_out"))
    if not all(map(_is_number, [*losses.values(), stated.get("clips", 0)])):
        raise ModelError("the log-losses that chose its recipe must be numbers")
    if not all(isinstance(reason, str) for reason in reasons.values()):
        raise ModelError("why recipes were left out must be texts")


def _check_durations(stated: Mapping[str, Any]) -> None:
    """Quantiles by their level, where there are any, and the mean of each label, all in seconds."""
    if not stated:
        return
    tables = [_table(stated.get(key, {}), f"durations of {key}") for key in ("segments", "recordings", "labels")]
    are_numbers = all(_is_number(value) and 0 < value < float("inf") for table in tables for value in table.values())
    quantiles = [table for table in tables[:2] if table]
    if not are_numbers or not all({"0.5", "0.95"} <= set(table) for table in quantiles):
        raise ModelError("its durations must be positive seconds, with a median and the quantile 0.95")
    if not _is_number(stated.get("parts", 0)) or type(stated.get("hop_is_stated", False)) is not bool:
        raise ModelError("its durations must say how many segments are parts, and whether the hop was stated")


def _check_machines(machines: Any, labels: Sequence[str], plan: Plan | None) -> None:
    """A table for each dichotomy, with its sides, kernel and C."""
    if not isinstance(machines, list) or (machines and (plan is None or len(machines) != len(plan.dichotomies))):
        raise ModelError("its list of machines is not that of its plan")
    for machine in machines:
        kernel = _table(_table(machine, "machine").get("kernel"), "kernel")
        sides = [machine.get("positive"), machine.get("negative")]
        are_known = all(isinstance(side, list) and set(side) <= set(labels) for side in sides)
        if not are_known or not _is_number(machine.get("C")) or not isinstance(kernel.get("name"), str):
            raise ModelError("a machine must have two sides of labels, a kernel and a C")
        if not all(_is_number(machine.get(key, 0)) for key in ("examples", "support_vectors", "log_loss")):
            raise ModelError("what was measured of a machine must be numbers")


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelError(f"its {what} must be a table, not a {type(value).__name__}")
    return value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)

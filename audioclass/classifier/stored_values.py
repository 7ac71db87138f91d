"""Values that the manifest of a model file states, each checked before it is used: a file may say anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audioclass.classifier.durations import LARGEST_POWER
from audioclass.classifier.saving import MOST_LABELS, check_size
from audioclass.errors import ModelError
from audioclass.label_sets import LabelSets
from audioclass.problems import Dichotomy, Plan
from audioclass.run import Registry
from audioclass.taxonomy import Taxonomy


def labels_and_taxonomy(manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], Taxonomy]:
    """The labels and the tree of groups that they stand in."""
    labels = labels_of(manifest)
    paths = manifest.get("taxonomy", manifest["paths"])  # the first where a label stands in several groups
    taxonomy = Taxonomy.of_paths([[checked_text(name) for name in path] for path in paths])
    taxonomy.check_labels(labels)
    return labels, taxonomy


def labels_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels, as many as can be combined in bounded memory."""
    stated = checked_list(manifest["labels"], "labels")
    check_size(len(stated), len(checked_list((manifest["plan"] or {}).get("dichotomies", []), "dichotomies")))
    return tuple(checked_text(label) for label in stated)


def label_sets_of(manifest: Mapping[str, Any], labels: Sequence[str]) -> LabelSets | None:
    """The sets of labels that a multi-label model was trained on; None for one whose labels exclude one another."""
    stated = manifest.get("label_sets")
    if stated is None:
        return None
    sets = tuple(tuple(checked_list(one, "label sets")) for one in checked_list(stated, "label sets"))
    if len(sets) > MOST_LABELS or not all(type(k) is int for one in sets for k in one):
        raise ModelError(f"its label sets must be at most {MOST_LABELS} lists of whole numbers")
    try:
        return LabelSets(tuple(labels), sets)
    except ValueError as error:
        raise ModelError(str(error)) from error


def checked_list(value: Any, what: str) -> list[Any]:
    """A list of what is named in the message of a refusal."""
    if not isinstance(value, list):
        raise ModelError(f"its {what} must be a list, not a {type(value).__name__}")
    return value


def checked_text(value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{str(value)[:40]!r} must be a text")
    return value


def inverse_temperature_of(value: Any) -> float:
    """A finite number from 0 on."""
    if type(value) not in (int, float) or not 0 <= value < float("inf"):
        raise ModelError(f"inverse_temperature {str(value)[:40]!r} must be a number of at least 0")
    return float(value)


def short_power_of(value: Any) -> float | None:
    """A number from 0 to the largest that a training tells, or nothing."""
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= LARGEST_POWER:
        raise ModelError(f"short_power {str(value)[:40]!r} must be a number from 0 to {LARGEST_POWER:g}")
    return float(value)


def transitions_of(stated: Any, n_labels: int) -> np.ndarray | None:
    """Whole numbers, a row for each label; None where the model has none."""
    if stated is None:
        return None
    rows = stated if isinstance(stated, list) else []
    if [len(row) if isinstance(row, list) else -1 for row in rows] != [n_labels] * n_labels:
        raise ModelError(f"its transitions must be {n_labels} rows of {n_labels} counts")
    return np.array([[checked_count(count) for count in row] for row in rows], dtype=np.int64)


def checked_count(value: Any) -> int:
    """A whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise ModelError(f"count {str(value)[:40]!r} must be a whole number")
    return value


def _index(value: Any, n_labels: int) -> int:
    if type(value) is not int or not 0 <= value < n_labels:
        raise ModelError(f"label index {str(value)[:40]!r} must be below {n_labels}")
    return value


def plan_of(table: Mapping[str, Any] | None, n_labels: int) -> Plan | None:
    """Its dichotomies, whose labels are among those there are; None for a strategy that fits all labels at once."""
    if table is None:
        return None
    sides = [tuple(tuple(_index(k, n_labels) for k in side) for side in both) for both in table["dichotomies"]]
    return Plan(n_labels, tuple(Dichotomy(*both) for both in sides), dict(table["structure"]))


def component_of(registry: Registry, kind: str, table: Mapping[str, Any] | None) -> Any:
    """The component that a table states with its parameters; None where it states none."""
    return None if table is None else registry.make(kind, checked_text(table["name"]), table["parameters"])


def members_under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Those whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

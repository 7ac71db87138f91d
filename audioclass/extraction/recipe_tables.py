"""Recipes from plain tables, as they stand in files and in models: a file may say anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from audioclass.data import Framing
from audioclass.errors import UsageError, unknown_name
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import FRAMING_KEYS, Recipe
from audioclass.extraction.recipe_limits import MOST_LISTED, checked_number, checked_recipe, stated_versions

PART_KEYS = ("group", "descriptors", "poolings", "derivatives", "embedding", "frame_length", "weight")
RECIPE_KEYS = (
    "summary", "candidate", "sample_rate", "frame_length", "hop_length", "window", "window_hop", "trim", "versions",
    "adapts_rate", "parts",
)  # fmt: skip

Make = Callable[[str, str, Mapping[str, Any]], Any]


def recipe_of_table(name: str, table: Mapping[str, Any], make: Make, origin: Callable[[str, str], str]) -> Recipe:
    """The recipe of a plain table; `make` and `origin` turn a kind and a name into a component and its distribution."""
    _check_keys(f"recipe {name}", table, RECIPE_KEYS)
    origins: set[str] = set()

    def component(kind: str, stated: Any) -> Any:
        if not isinstance(stated, Mapping) or not isinstance(stated.get("name"), str):
            raise UsageError(f"recipe {name}: {stated!r} must be a {kind} with its name and parameters")
        for key, value in stated.items():
            if isinstance(value, list) and len(value) > MOST_LISTED:
                raise UsageError(
                    f"recipe {name}: {kind} {stated['name']}: {key} has {len(value)} values,"
                    f" at most {MOST_LISTED} are read"
                )
        origins.add(origin(kind, stated["name"]))
        return make(kind, stated["name"], {key: value for key, value in stated.items() if key != "name"})

    try:
        framing = Framing(*(int(checked_number(name, table, key)) for key in FRAMING_KEYS))
    except ValueError as error:
        raise UsageError(f"recipe {name}: {error}") from error
    parts = tuple(_part(name, part, component) for part in _list(f"recipe {name}", table, "parts"))
    return checked_recipe(
        Recipe(
            name,
            framing,
            checked_number(name, table, "window"),
            checked_number(name, table, "window_hop"),
            parts,
            trim=bool(table.get("trim", False)),
            adapts_rate=bool(table.get("adapts_rate", False)),
            summary=str(table.get("summary", "")),
            origins=tuple(sorted(origins)),
            versions=stated_versions(name, table),
        )
    )


def _part(name: str, table: Any, component: Callable[[str, Any], Any]) -> Part:
    if not isinstance(table, Mapping) or not isinstance(table.get("group"), str) or not table["group"]:
        raise UsageError(f"recipe {name}: every part must name its group")
    where = f"recipe {name}, group {table['group']}"
    _check_keys(where, table, PART_KEYS)
    weight = checked_number(name, {"weight": 1.0, **table}, "weight")
    if "embedding" in table:
        return Part(table["group"], embedding=component("embedding", table["embedding"]), weight=weight)
    derivatives = table.get("derivatives", 0)
    if derivatives not in (0, 1, 2):
        raise UsageError(f"{where}: derivatives={derivatives!r} must be 0, 1 or 2")
    descriptors = tuple(component("descriptor", one) for one in _list(where, table, "descriptors"))
    poolings = tuple(component("pooling", one) for one in _list(where, table, "poolings"))
    frame_length = int(checked_number(name, table, "frame_length")) if "frame_length" in table else None
    return Part(table["group"], descriptors, poolings, derivatives, weight=weight, frame_length=frame_length)


def _check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {unknown_name('key', key, known)}")


def _list(where: str, table: Mapping[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or not value:
        raise UsageError(f"{where}: {key} must be a list of at least one")
    if len(value) > MOST_LISTED:
        raise UsageError(f"{where}: {key} has {len(value)} entries, at most {MOST_LISTED} are read")
    return value

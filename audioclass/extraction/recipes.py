"""Recipes by name: those that come with the package, and those of a user's own files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from audioclass.errors import UsageError, unknown_name
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.recordings import not_endless
from audioclass.run import Registry


def load_recipe(name: str, registry: Registry) -> Recipe:
    """The recipe of a shipped name or of a TOML file, its components made."""
    return recipe_of_table(Path(name).stem, _table(name), registry.make, registry.origin)


def shipped_recipes() -> dict[str, Mapping[str, Any]]:
    """The recipes that come with the package, as plain tables by name."""
    folder = files("audioclass").joinpath("recipes")
    texts = {
        Path(file.name).stem: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }
    return {name: tomllib.loads(texts[name]) for name in sorted(texts)}


def recipe_text(name: str) -> str:
    """A recipe as it stands in its file."""
    shipped = files("audioclass").joinpath("recipes", f"{name}.toml")
    if name in shipped_recipes():
        return shipped.read_text(encoding="utf-8")
    _table(name)
    return Path(name).read_text(encoding="utf-8")


def _table(name: str) -> Mapping[str, Any]:
    shipped = shipped_recipes()
    if name in shipped:
        return shipped[name]
    if not name.endswith(".toml"):
        raise unknown_name("recipe", name, shipped)
    try:
        return tomllib.loads(not_endless(Path(name)).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: not a TOML file: {error}") from error

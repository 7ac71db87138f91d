"""A distribution that is not installed: its folder or module read from disk, so that it can be checked in place."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from audioclass.errors import UsageError
from audioclass.hookspecs import PROJECT
from audioclass.plugins.manager import Source
from audioclass.plugins.manifests import MANIFEST


def read_source(path: Path) -> Source:
    """The source of a distribution's folder or of a single module, importable from now on in this process."""
    if path.suffix == ".py" and path.is_file():
        _make_importable(path.parent)
        return Source(path.stem, "not installed", (path.stem,))
    if not (path / "pyproject.toml").is_file():
        raise UsageError(f"{path}: neither a module nor a folder with a pyproject.toml")
    project = _project(path / "pyproject.toml")
    modules = project.get("entry-points", {}).get(PROJECT, {})
    if not isinstance(modules, dict) or not modules:
        raise UsageError(f"{path / 'pyproject.toml'}: no [project.entry-points.{PROJECT}]")
    for folder in (path, path / "src"):
        _make_importable(folder)
    return Source(project.get("name", path.name), str(project.get("version", "not stated")), tuple(modules.values()))


def manifest_of(path: Path) -> str | None:
    """The text of the manifest in a distribution's folder, wherever in it; None where there is none."""
    found = sorted(path.rglob(MANIFEST)) if path.is_dir() else []
    return found[0].read_text(encoding="utf-8") if found else None


def _project(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error


def _make_importable(folder: Path) -> None:
    if folder.is_dir() and str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))

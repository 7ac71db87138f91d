"""The distributions that offer components: our own, those that are installed, and one on disk that is to be checked."""

from __future__ import annotations

import contextlib
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audioclass import __version__
from audioclass.errors import UsageError
from audioclass.hookspecs import NOT_INSTALLED, PROJECT
from audioclass.plugins.manifests import MANIFEST

US = re.compile(rf"{PROJECT}(?![\w.-])", re.IGNORECASE)


@dataclass(frozen=True)
class PluginSource:
    """A distribution that offers components: the modules of its entry points and the text of its manifest, if any.

    `requires` are the lines of its metadata that say which versions of audioclass it needs.
    """

    distribution: str
    version: str
    modules: tuple[str, ...]
    manifest: str | None = None
    requires: tuple[str, ...] = ()

    @property
    def is_builtin(self) -> bool:
        """Whether the components are our own."""
        return self.distribution == PROJECT

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def installed_sources() -> Iterator[PluginSource]:
    """Every installed distribution with entry points of ours, by name; nothing is imported."""
    sources: dict[str, PluginSource] = {}
    for distribution in importlib.metadata.distributions():
        modules = tuple(entry.value for entry in distribution.entry_points if entry.group == PROJECT)
        if modules:
            name = distribution.metadata["Name"] or "unnamed"
            manifest, requires = _manifest_text(distribution), _about_us(distribution.requires or ())
            source = PluginSource(name, distribution.version or "unknown", modules, manifest, requires)
            sources.setdefault(canonical(name), source)  # the first on the path hides the others, as for imports
    yield from (sources[name] for name in sorted(sources))


def module_source(name: str) -> PluginSource:
    """A module that is not installed, by its name or by the path of its file."""
    if name.endswith(".py") or "/" in name:
        return read_source(Path(name))
    return PluginSource(name, NOT_INSTALLED, (name,))


def read_source(path: Path) -> PluginSource:
    """The source of a distribution's folder or of a single module, importable from now on in this process."""
    if path.suffix == ".py" and path.is_file():
        _make_importable(path.parent)
        return PluginSource(path.stem, NOT_INSTALLED, (path.stem,))
    if not (path / "pyproject.toml").is_file():
        raise UsageError(f"{path}: neither a module nor a folder with a pyproject.toml")
    project = _project(path / "pyproject.toml")
    modules = project.get("entry-points", {}).get(PROJECT, {})
    if not isinstance(modules, dict) or not modules:
        raise UsageError(f"{path / 'pyproject.toml'}: no [project.entry-points.{PROJECT}]")
    for folder in (path, path / "src"):
        _make_importable(folder)
    name, version = project.get("name", path.name), str(project.get("version", "not stated"))
    return PluginSource(name, version, tuple(modules.values()), requires=_about_us(project.get("dependencies", ())))


def manifest_of(path: Path) -> str | None:
    """The text of the manifest in a distribution's folder, wherever in it; None where there is none."""
    places = sorted(path.rglob(MANIFEST)) if path.is_dir() else []
    return places[0].read_text(encoding="utf-8") if places else None


def canonical(name: str) -> str:
    """A distribution's name as packaging tools compare it."""
    from packaging.utils import canonicalize_name  # only who has plugins pays for its import

    return canonicalize_name(name)


def unmet_requirement(source: PluginSource) -> str:
    """The versions of audioclass that a distribution needs, where this is none of them; else empty."""
    from packaging.requirements import Requirement

    for text in source.requires:
        requirement = Requirement(text)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and not requirement.specifier.contains(__version__, prereleases=True):
            return f"{PROJECT}{requirement.specifier}"
    return ""


def _about_us(requirements: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in requirements if US.match(text))


def _manifest_text(distribution: importlib.metadata.Distribution) -> str | None:
    """The manifest, wherever in the distribution it lies; None where there is none."""
    for path in distribution.files or ():
        if path.name == MANIFEST:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                return Path(path.locate()).read_text(encoding="utf-8")
    return None


def _project(path: Path) -> dict[str, Any]:
    try:
        project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    return project


def _make_importable(folder: Path) -> None:
    if folder.is_dir() and str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))

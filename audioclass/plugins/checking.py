"""Checks of what a user names: a component, an installed distribution, or a folder or module on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audioclass.errors import PluginError, unknown_name
from audioclass.hookspecs import KINDS
from audioclass.outputs import atomic_write
from audioclass.parameters import make, parse_assignments
from audioclass.plugins.attribution import Origin, attributing
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import MANIFEST, Entry, write_manifest
from audioclass.plugins.sources import PluginSource, canonical, manifest_of, read_source


def select_entries(
    what: str, kind: str | None, installed: Callable[[], PluginManager]
) -> tuple[PluginManager, list[Entry]]:
    """What a user meant by a name or path, and the manager that can load it."""
    if kind is not None and kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    if "/" in what or what.endswith(".py") or what == "." or Path(what, "pyproject.toml").is_file():
        manager, source = _manager_of_path(Path(what))
        return manager, [entry for entry in manager.entries(kind) if entry.distribution == source.distribution]
    manager = installed()
    entries = manager.entries(kind)
    chosen = [entry for entry in entries if what == entry.name or canonical(what) == canonical(entry.distribution)]
    if not chosen:
        known = {name for entry in entries for name in (entry.name, entry.distribution)}
        raise unknown_name("component or distribution", what, known)
    return manager, chosen


def check_entries(
    manager: PluginManager, entries: Sequence[Entry], settings: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The result of every check of each component, as plain values."""
    from audioclass.testing import CHECKS, run_checks

    for entry in entries:
        cls = manager.load(entry.kind, entry.name)
        _refuse_outdated(manager, entry)
        with attributing(Origin(entry.kind, entry.name, entry.distribution, entry.version)):
            component = make(cls, parse_assignments(cls, settings))
        results = run_checks(component, CHECKS[entry.kind])
        identity = {key: getattr(entry, key) for key in ("kind", "name", "distribution", "version")}
        yield {**identity, "checks": [vars(result) for result in results]}


def _refuse_outdated(manager: PluginManager, entry: Entry) -> None:
    """A manifest that says otherwise than the class would mislead whoever lists components."""
    for difference in manager.outdated([entry]).values():
        raise PluginError(
            f"{entry.kind} {entry.name!r} of {entry.distribution}: {difference}; "
            "`audioclass plugins manifest` writes it anew"
        )


def write_manifest_file(path: Path) -> Path:
    """Write the manifest of a distribution's folder from its classes; it is there whole or as it was."""
    source = read_source(path)
    target = _manifest_place(path, source)
    manager = PluginManager([source])
    manager.raise_quarantine()
    atomic_write(target, write_manifest(manager.entries()))
    return target


def _manifest_place(path: Path, source: PluginSource) -> Path:
    """Where the manifest is, else in the package that the distribution is, else beside its module."""
    folder = path if path.is_dir() else path.parent
    package = source.modules[0].partition(":")[0].split(".")[0]
    places = [*sorted(folder.rglob(MANIFEST))] if path.is_dir() else []
    places += [home / package / MANIFEST for home in (folder, folder / "src") if (home / package).is_dir()]
    return [*places, folder / MANIFEST][0]


def _manager_of_path(path: Path) -> tuple[PluginManager, PluginSource]:
    """The built-ins and one distribution on disk, which must load."""
    source = replace(read_source(path), manifest=manifest_of(path))
    manager = PluginManager([builtin_source(), source])
    manager.load_all()
    if manager.quarantine:
        raise PluginError(f"{path}: {manager.quarantine[0].phase}: {manager.quarantine[0].reason}")
    return manager, source
